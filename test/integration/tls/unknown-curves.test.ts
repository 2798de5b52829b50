import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { secretMessage, tlsSocket } from '../../support/parts/tls.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const WRONG = { ecdh_curves: ['NO-CURVE'], signature_algorithms: ['NO-SIGNATURE'] };

function clusterWith(context: object, port = 1): object {
  const socket = tlsSocket('Upstream', {
    common_tls_context: { tls_params: WRONG, ...context },
  });
  return staticCluster('up', [port], { transport_socket: socket });
}

const ROUTES = [
  { match: { prefix: '/up' }, route: { cluster: 'up' } },
  { match: { prefix: '/' }, direct_response: { status: 200 } },
];

const bootstrapOf = (cluster: object): object => ({
  node: { id: 'me', cluster: 'mine' },
  ...bootstrap({ listeners: [httpListener(ROUTES)], clusters: [cluster] }),
});

describe('curves and signatures that OpenSSL does not know', () => {
  it('are no error where a context waits for secrets: its connections fail', async () => {
    using scratch = makeScratch();
    const ca = makeAuthority(scratch.path);
    const trust = { validation_context: { trusted_ca: { filename: ca.certPath } } };
    moveIntoPlace(scratch, 'trust.json', {
      version: '1',
      resources: [secretMessage('trust', trust)],
    });
    const reference = { name: 'trust', sds_config: fileSource(scratch.file('trust.json')) };
    const host = tls.createServer(ca.issue('host', 'DNS:h.test'), (socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
    await new Promise<void>((resolve) => void host.listen(0, '127.0.0.1', resolve));
    const { port: hostPort } = host.address() as { port: number };
    const context = { validation_context_sds_secret_config: reference };
    const cluster = clusterWith(context, hostPort);
    await using sluice = await startSluice({ bootstrap: bootstrapOf(cluster) });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/up' })).status, 503);
    assert.equal((await fetchOnce({ port, path: '/' })).status, 200);
    host.close();
  });

  it('are refused where nothing is waited for', async () => {
    await assert.rejects(startSluice({ bootstrap: bootstrapOf(clusterWith({})) }));
  });
});
