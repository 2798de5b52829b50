/** Connections that may begin TLS later stay in the clear as long as no filter begins it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { certificateFiles } from '../../support/parts/tls.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const scratch = makeScratch();
const authority = makeAuthority(scratch.path);
const TYPE = 'type.googleapis.com/envoy.extensions.transport_sockets.starttls.v3';

const starttls = (type: string, context: object): object => ({
  name: 'envoy.transport_sockets.starttls',
  typed_config: { '@type': `${TYPE}.${type}`, tls_socket_config: context },
});

describe('starttls', () => {
  it('carries plain bytes from clients to hosts', async () => {
    await using upstream = await startRawUpstream((socket) => void socket.pipe(socket));
    const up = staticCluster('up', [upstream.port], {
      transport_socket: starttls('UpstreamStartTlsConfig', { sni: 'h' }),
    });
    const filters = [tcpProxyFilter()];
    const tls_certificates = [certificateFiles(authority.issue('server', 'DNS:s.test'))];
    const context = { common_tls_context: { tls_certificates } };
    const transport_socket = starttls('StartTlsConfig', context);
    const listener = filterListener([], { filter_chains: [{ filters, transport_socket }] });
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [listener], clusters: [up] }),
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('hello');
    assert.match(await client.until('hello'), /^hello$/);
    client.destroy();
  });
});
