/** HTTP/2 on listeners without a TCP socket: a unix one, and one inside of the worker. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { openHttp2 } from '../../support/peers/http2-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
/** Above the windows of a stream at both sides. */
const BODY = 'x'.repeat(300_000);
const STREAMS = 6;
const TO_HOST = [{ match: { prefix: '/' }, route: { cluster: 'host' } }];
/** Which of its kinds each place has: by prior knowledge, by either, by ALPN. */
const KINDS = ['AUTO', 'HTTP2', 'TLS'] as const;
type Kind = (typeof KINDS)[number];
const PLACES = ['unix', 'inner'] as const;

describe('a listener of HTTP/2', () => {
  it('may stand on a unix socket or inside of a worker, in the clear or with ALPN', async () => {
    using scratch = makeScratch();
    const host = createServer((request, response) => request.pipe(response));
    host.listen(0, '127.0.0.1');
    await once(host, 'listening');
    const { port } = host.address() as AddressInfo;
    await using sluice = await startSluice({ bootstrap: config(scratch.path, port) });
    for (const kind of KINDS) {
      const outside = await sluice.listenerPort(`to-${kind}`);
      const opens = [
        () => connect(`${scratch.path}/${kind}.sock`),
        () => connect(outside, '127.0.0.1'),
      ];
      for (const open of opens) await expectStreams(kind, open);
    }
    host.close();
    const stats = await sluice.stats(
      'filter=downstream_(cx_http[12]_total|rq_[24]xx|cx_protocol_er)',
    );
    for (const place of PLACES) {
      for (const kind of KINDS) {
        const isSaid = (stat: string, value: number): void => {
          assert.match(stats, new RegExp(`http\\.${place}-${kind}\\.${stat}: ${value}$`, 'm'));
        };
        isSaid('downstream_cx_http2_total', 1);
        isSaid('downstream_rq_2xx', STREAMS + (kind === 'TLS' ? 2 : 0));
        // Clients that agreed on HTTP/1 or on nothing are served by it.
        isSaid('downstream_cx_http1_total', kind === 'TLS' ? 2 : 0);
        isSaid('downstream_rq_4xx', 0);
      }
    }
  });
});

async function expectStreams(kind: Kind, open: () => Socket): Promise<void> {
  const createConnection = (): Socket => (kind === 'TLS' ? secure(open(), ['h2']) : open());
  await using client = await openHttp2('http://h.test', { createConnection });
  const asked = Array.from({ length: STREAMS }, () =>
    client.ask({ ':path': '/', ':method': 'POST' }, BODY),
  );
  for (const answer of await Promise.all(asked)) {
    assert.deepEqual([answer.status, answer.body === BODY, answer.code], [200, true, 0]);
  }
  if (kind !== 'TLS') return;
  // A client that names none of the protocols goes on without one, as with Envoy.
  for (const [name, agreed] of [
    ['http/1.1', 'http/1.1'],
    ['foo', false],
  ] as const) {
    const other = secure(open(), [name]);
    await once(other, 'secureConnect');
    assert.equal(other.alpnProtocol, agreed);
    other.write('GET / HTTP/1.1\r\nhost: h.test\r\nconnection: close\r\n\r\n');
    const [answer] = (await once(other, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 OK/);
    other.destroy();
  }
}

function secure(socket: Socket, ALPNProtocols: string[]): tls.TLSSocket {
  return tls.connect({ socket, ALPNProtocols, rejectUnauthorized: false });
}

function config(folder: string, hostPort: number): object {
  const files = certificateFiles(makeAuthority(folder).issue('leaf', 'DNS:localhost'));
  const common = { alpn_protocols: ['h2', 'http/1.1'], tls_certificates: [files] };
  const socket = tlsSocket('Downstream', { common_tls_context: common });
  const make = (place: string, kind: Kind, listener: object): object => {
    const name = `${place}-${kind}`;
    const hcm = kind === 'HTTP2' ? { codec_type: 'HTTP2' } : {};
    const made = httpListener(TO_HOST, { name, statPrefix: name, hcm, listener }) as Listener;
    if (kind !== 'TLS') return made;
    const chains = made.filter_chains.map((chain) => ({ ...chain, transport_socket: socket }));
    return { ...made, filter_chains: chains };
  };
  const onUnix = KINDS.map((kind) => {
    return make('unix', kind, { address: { pipe: { path: `${folder}/${kind}.sock` } } });
  });
  const inside = KINDS.map((kind) => {
    const { address: _, ...listener } = make('inner', kind, {}) as Listener;
    return { ...listener, internal_listener: {} };
  });
  const outside = KINDS.map((kind) => {
    const proxy = tcpProxyFilter({ cluster: `in-${kind}` });
    return filterListener([proxy], { name: `to-${kind}` });
  });
  return {
    ...bootstrap({
      listeners: [...onUnix, ...inside, ...outside],
      clusters: [staticCluster('host', [hostPort]), ...KINDS.map(toInner)],
    }),
    bootstrap_extensions: [
      {
        name: 'envoy.bootstrap.internal_listener',
        typed_config: { '@type': `${TYPE}.bootstrap.internal_listener.v3.InternalListener` },
      },
    ],
  };
}

interface Listener {
  readonly address: object;
  readonly filter_chains: readonly object[];
}

function toInner(kind: Kind): object {
  const address = { envoy_internal_address: { server_listener_name: `inner-${kind}` } };
  const endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
  const name = `in-${kind}`;
  return { name, connect_timeout: '1s', load_assignment: { cluster_name: name, endpoints } };
}
