/** Istio's exchange of metadata over TCP, seen from the other end of the wire. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { readStruct } from '../../../shared/protobuf/struct-message.ts';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { fileLog, filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';
import {
  NODE,
  TOLD,
  PEER,
  QUICK_LOGS,
  EXCHANGE,
  tcpExchange,
  exchanged,
  startSecurePeer,
  upstreamTls,
} from '../../support/istio.ts';

const lines = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n');

describe("Istio's exchange of metadata", () => {
  it('exchange metadata on connections to hosts that agree to it by ALPN', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    let seen = Buffer.alloc(0);
    await using peer = await startSecurePeer(authority, EXCHANGE, (socket) => {
      const answer = Buffer.concat([exchanged(PEER), Buffer.from('pong')]);
      // The message comes in two pieces, with the first bytes of the application behind it.
      socket.once('data', () => socket.write(answer.subarray(0, 5)));
      socket.on('data', (data) => {
        seen = Buffer.concat([seen, data]);
        if (seen.subarray(-4).toString() === 'ping') socket.write(answer.subarray(5));
      });
    });
    const cluster = staticCluster('up', [peer.port], {
      filters: [tcpExchange],
      ...upstreamTls([EXCHANGE, 'istio']),
    });
    await using sluice = await startSluice({
      args: QUICK_LOGS,
      bootstrap: bootstrap(
        { listeners: [filterListener([tcpProxyFilter()])], clusters: [cluster] },
        { node: NODE },
      ),
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('ping');
    await client.until(/^pong$/);
    client.destroy();
    const { AVAILABILITY_ZONE: _zone, REGION: _region, ...told } = TOLD;
    const struct = seen.subarray(seen.indexOf('Struct') + 9, -4);
    assert.equal(seen.subarray(0, 4).toString('hex'), '3d230467');
    assert.equal(seen.readUInt32BE(4), seen.length - 8 - 4);
    assert.equal(
      JSON.stringify(readStruct(struct)),
      JSON.stringify({ 'x-envoy-peer-metadata': told, 'x-envoy-peer-metadata-id': NODE.id }),
    );
    assert.equal(await sluice.stat('metadata_exchange.alpn_protocol_found'), 1);
  });

  it('exchange metadata with clients, and pass on what others send', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    await using upstream = await startRawUpstream((socket) =>
      socket.on('data', (data) => socket.write(data)),
    );
    const log = `${scratch.path}/log`;
    const socket = tlsSocket('Downstream', {
      common_tls_context: {
        tls_certificates: [certificateFiles(authority.issue('server', 'DNS:server.test'))],
        alpn_protocols: [EXCHANGE, 'h2', 'http/1.1'],
      },
    });
    const proxy = tcpProxyFilter({
      access_log: [fileLog(log, '%FILTER_STATE(downstream_peer_obj:FIELD:workload)%')],
    });
    const listener = filterListener([], {
      filter_chains: [{ filters: [tcpExchange, proxy], transport_socket: socket }],
    });
    await using sluice = await startSluice({
      args: QUICK_LOGS,
      bootstrap: bootstrap(
        { listeners: [listener], clusters: [staticCluster('up', [upstream.port])] },
        { node: NODE },
      ),
    });
    const port = await sluice.listenerPort('tcp');
    const ask = async (protocols: string[], pieces: readonly Buffer[]): Promise<Buffer> => {
      const client = tls.connect({
        port,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        ALPNProtocols: protocols,
      });
      await once(client, 'secureConnect');
      let got = Buffer.alloc(0);
      client.on('data', (data: Buffer) => (got = Buffer.concat([got, data])));
      for (const piece of pieces) client.write(piece);
      await waitUntil('the echo', () => got.subarray(-4).toString() === 'ping');
      client.destroy();
      return got;
    };
    const message = exchanged(PEER);
    const ping = Buffer.from('ping');
    const got = await ask([EXCHANGE, 'istio'], [message.subarray(0, 3), message.subarray(3), ping]);
    assert.equal(got.length, 8 + got.readUInt32BE(4) + 4);
    assert.equal((await ask(['http/1.1'], [ping])).toString(), 'ping');
    // One that agrees and says something else instead is served, too.
    const other = Buffer.from('something else: ping');
    assert.equal((await ask([EXCHANGE], [other])).subarray(-20).toString(), other.toString());
    await waitUntil('three lines', () => lines(log).length === 4);
    assert.deepEqual([...lines(log)].sort().slice(1), ['-', '-', 'store']);
    const stats = await sluice.stats('filter=metadata_exchange');
    assert.match(stats, /alpn_protocol_found: 2/);
    assert.match(stats, /alpn_protocol_not_found: 1/);
  });
});
