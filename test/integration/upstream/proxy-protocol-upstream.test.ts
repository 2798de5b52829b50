import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { tlsSocket } from '../../support/parts/tls.ts';

const TYPE =
  'type.googleapis.com/envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport';
const RAW = 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer';
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nup';

function telling(config: object, inner: object = plain()): object {
  return {
    transport_socket: {
      name: 'envoy.transport_sockets.upstream_proxy_protocol',
      typed_config: { '@type': TYPE, config, transport_socket: inner },
    },
  };
}

function plain(): object {
  return { name: 'envoy.transport_sockets.raw_buffer', typed_config: { '@type': RAW } };
}

/** Takes connections; the server ends with the test. */
async function serve(take: (socket: Socket) => void): Promise<Server & Disposable> {
  const server = createServer(take);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(server, { [Symbol.dispose]: () => void server.close() });
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}

describe('the PROXY protocol towards hosts', () => {
  it('names the client of each HTTP connection, which it shares with no other', async () => {
    const heads: string[] = [];
    using upstream = await serve((socket) => {
      let isFirst = true;
      socket.on('error', () => undefined);
      socket.on('data', (piece: Buffer) => {
        const text = piece.toString('latin1');
        if (isFirst) heads.push(text.slice(0, text.indexOf('\r\n')));
        isFirst = false;
        for (const _ of text.matchAll(/GET \//g)) socket.write(ANSWER);
      });
    });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
        clusters: [staticCluster('up', [portOf(upstream)], telling({ version: 'V1' }))],
      }),
    });
    const port = await sluice.listenerPort('web');
    const expected: string[] = [];
    for (let client = 0; client < 2; client += 1) {
      const raw = await openRaw(port);
      expected.push(`PROXY TCP4 127.0.0.1 127.0.0.1 ${raw.socket.localPort} ${port}`);
      for (let request = 1; request <= 2; request += 1) {
        raw.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
        await raw.until((text) => text.split('\r\n\r\nup').length > request);
      }
      raw.destroy();
    }
    assert.deepEqual(heads, expected);
  });

  it('stands before the TLS handshake of a TCP proxy', async () => {
    using scratch = makeScratch();
    const server = makeAuthority(scratch.path).issue('server', 'DNS:s.test');
    let head: Buffer = Buffer.alloc(0);
    using upstream = await serve((socket) => {
      socket.once('data', (piece: Buffer) => {
        // 16 bytes, two addresses with ports, one addition of three bytes.
        head = piece.subarray(0, 34);
        socket.pause();
        if (piece.length > 34) socket.unshift(piece.subarray(34));
        const secured = new tls.TLSSocket(socket, {
          isServer: true,
          cert: server.cert,
          key: server.key,
        });
        secured.on('error', () => undefined);
        secured.on('data', (data: Buffer) => secured.end(`secure ${data.toString('latin1')}`));
      });
    });
    const config = { version: 'V2', added_tlvs: [{ type: 240, value: 'YWJj' }] };
    const cluster = telling(config, tlsSocket('Upstream', { common_tls_context: {} }));
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [filterListener([tcpProxyFilter()])],
        clusters: [staticCluster('up', [portOf(upstream)], cluster)],
      }),
    });
    const raw = await openRaw(await sluice.listenerPort('tcp'));
    raw.send('hello');
    assert.match(await raw.closed(), /^secure hello$/);
    assert.equal(head.toString('latin1', 0, 12), '\r\n\r\n\0\r\nQUIT\n');
    assert.equal(head.toString('hex', 12, 24), '211100127f0000017f000001');
    assert.equal(head.readUInt16BE(24), raw.socket.localPort ?? head.readUInt16BE(24));
    assert.equal(head.toString('hex', 28), 'f00003616263');
  });
});
