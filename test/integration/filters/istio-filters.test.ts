/** Istio's own filters, seen from the other end of the wire. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import tls from 'node:tls';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { readStruct, writeMembers } from '../../../shared/protobuf/struct-message.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority, type TestCertificate } from '../../support/parts/certificates.ts';
import { fileLog, filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { certificateFiles, tlsSocket } from '../../support/parts/tls.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const NODE = {
  id: 'sidecar~10.0.0.1~web-1.shop~shop.svc.cluster.local',
  cluster: 'web.shop',
  locality: { region: 'east', zone: 'a' },
  metadata: {
    NAME: 'web-1',
    NAMESPACE: 'shop',
    WORKLOAD_NAME: 'web',
    CLUSTER_ID: 'one',
    OWNER: 'kubernetes://apis/apps/v1/namespaces/shop/deployments/web',
    LABELS: { app: 'web', version: 'v1', team: 'green', other: 'x' },
  },
};
const TOLD = {
  AVAILABILITY_ZONE: 'a',
  CLUSTER_ID: 'one',
  LABELS: { app: 'web', team: 'green', version: 'v1' },
  NAME: 'web-1',
  NAMESPACE: 'shop',
  OWNER: 'kubernetes://apis/apps/v1/namespaces/shop/deployments/web',
  REGION: 'east',
  WORKLOAD_NAME: 'web',
};
const PEER = {
  NAMESPACE: 'stock',
  WORKLOAD_NAME: 'store',
  CLUSTER_ID: 'two',
  LABELS: { 'service.istio.io/canonical-name': 'store-service' },
};
const QUICK_LOGS = ['--file-flush-interval-msec', '10'];
const EXCHANGE = 'istio-peer-exchange';
const HEADERS = { istio_headers: {} };

/** As Istio's control plane writes settings of its filters. */
function struct(name: string, type: string, value: object): object {
  const url = `type.googleapis.com/${type}`;
  return {
    name,
    typed_config: { '@type': 'type.googleapis.com/udpa.type.v1.TypedStruct', type_url: url, value },
  };
}

const peerMetadata = (value: object): object =>
  struct('istio.metadata_exchange', 'io.istio.http.peer_metadata.Config', {
    additional_labels: ['team'],
    ...value,
  });
const tcpExchange = struct(
  'istio.metadata_exchange',
  'envoy.tcp.metadataexchange.config.MetadataExchange',
  { protocol: EXCHANGE, enable_discovery: true, additional_labels: ['team'] },
);
const ALPN = {
  name: 'istio.alpn',
  typed_config: {
    '@type': 'type.googleapis.com/istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig',
    alpn_override: [
      { upstream_protocol: 'HTTP11', alpn_override: ['istio-http/1.1', 'istio', 'http/1.1'] },
    ],
  },
};
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  },
};

function bytesOf(members: object): Buffer {
  const writer = new ProtoWriter();
  writeMembers(writer, { ...members });
  return Buffer.from(writer.finish());
}

/** A message of the exchange between ends of TCP connections. */
function exchanged(metadata: object): Buffer {
  const any = new ProtoWriter();
  any.text(1, 'type.googleapis.com/google.protobuf.Struct');
  any.bytes(2, bytesOf({ 'x-envoy-peer-metadata': metadata, 'x-envoy-peer-metadata-id': 'me' }));
  const head = Buffer.from('3d23046700000000', 'hex');
  head.writeUInt32BE(any.finish().length, 4);
  return Buffer.concat([head, any.finish()]);
}

interface SecurePeer extends AsyncDisposable {
  readonly port: number;
  /** What clients offered by ALPN, in the order of the connections. */
  readonly offers: readonly (readonly string[])[];
}

async function startSecurePeer(
  own: TestCertificate,
  protocol: string,
  serve: (socket: tls.TLSSocket) => void,
): Promise<SecurePeer> {
  const offers: string[][] = [];
  const server = tls.createServer({
    cert: own.cert,
    key: own.key,
    ALPNCallback: ({ protocols }) => {
      offers.push(protocols);
      return protocols.includes(protocol) ? protocol : undefined;
    },
  });
  server.on('secureConnection', (socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return { port, offers, [Symbol.asyncDispose]: stop };
}

const upstreamTls = (protocols: readonly string[]): object => ({
  transport_socket: tlsSocket('Upstream', { common_tls_context: { alpn_protocols: protocols } }),
});

const lines = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n');

describe("Istio's filters", () => {
  it('tell a host by headers and ALPN which workload asks, and take its own away', async () => {
    using scratch = makeScratch();
    const authority = makeAuthority(scratch.path);
    let seen = '';
    const answer = [
      'HTTP/1.1 200 OK',
      'content-length: 0',
      'x-envoy-peer-metadata-id: store-1',
      `x-envoy-peer-metadata: ${bytesOf(PEER).toString('base64')}`,
      'connection: close',
    ].join('\r\n');
    await using peer = await startSecurePeer(authority, 'istio-http/1.1', (socket) =>
      socket.on('data', (data: Buffer) => {
        seen += data.toString('latin1');
        socket.end(`${answer}\r\n\r\n`);
      }),
    );
    const log = `${scratch.path}/log`;
    const filter = peerMetadata({
      upstream_discovery: [HEADERS, { workload_discovery: {} }],
      upstream_propagation: [{ istio_headers: { skip_external_clusters: true } }, { baggage: {} }],
    });
    const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    const hcm = {
      http_filters: [filter, ALPN, ROUTER],
      access_log: [
        fileLog(
          log,
          '%FILTER_STATE(upstream_peer_obj:FIELD:workload)% %CEL(filter_state.upstream_peer.service)%',
        ),
      ],
    };
    await using sluice = await startSluice({
      args: QUICK_LOGS,
      bootstrap: bootstrap(
        {
          listeners: [httpListener(routes, { hcm })],
          clusters: [staticCluster('up', [peer.port], upstreamTls([EXCHANGE, 'istio']))],
        },
        { node: NODE },
      ),
    });
    const got = await fetchOnce({ port: await sluice.listenerPort('web') });
    assert.deepEqual(
      [got.status, Object.keys(got.headers).filter((key) => key.includes('peer'))],
      [200, []],
    );
    assert.deepEqual(peer.offers, [['istio-http/1.1', 'istio', 'http/1.1']]);
    const header = (name: string) => new RegExp(`${name}: ([^\r]*)\r`).exec(seen)?.[1] ?? '';
    assert.equal(header('x-envoy-peer-metadata-id'), NODE.id);
    const told = readStruct(Buffer.from(header('x-envoy-peer-metadata'), 'base64'));
    assert.equal(JSON.stringify(told), JSON.stringify(TOLD));
    assert.equal(
      header('baggage'),
      'k8s.deployment.name=web,service.name=web,service.version=v1,k8s.namespace.name=shop,k8s.cluster.name=one,k8s.instance.name=web-1,cloud.region=east,cloud.availability_zone=a',
    );
    await waitUntil('the log', () => lines(log)[0] === 'store store-service');
  });

  it('learn from requests which workload asks, and answer those that say it', async () => {
    using scratch = makeScratch();
    const log = `${scratch.path}/log`;
    const filter = peerMetadata({
      downstream_discovery: [HEADERS, { baggage: {} }],
      downstream_propagation: [HEADERS],
    });
    const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
    const hcm = {
      http_filters: [filter, ROUTER],
      access_log: [fileLog(log, '%FILTER_STATE(downstream_peer_obj:PLAIN)%')],
    };
    await using sluice = await startSluice({
      args: QUICK_LOGS,
      bootstrap: bootstrap({ listeners: [httpListener(routes, { hcm })] }, { node: NODE }),
    });
    const port = await sluice.listenerPort('web');
    const ask = async (headers: Record<string, string>): Promise<readonly string[]> => {
      const { headers: got } = await fetchOnce({ port, headers });
      return Object.keys(got).filter((key) => key.includes('peer'));
    };
    const metadata = bytesOf(PEER).toString('base64').replace(/=+$/, '');
    assert.deepEqual(
      await ask({ 'x-envoy-peer-metadata-id': 'a', 'x-envoy-peer-metadata': metadata }),
      ['x-envoy-peer-metadata-id', 'x-envoy-peer-metadata'],
    );
    assert.deepEqual(await ask({ baggage: 'k8s.job.name=j,app.name=a,constructor=b' }), []);
    assert.deepEqual(await ask({}), []);
    assert.deepEqual(await ask({ 'x-envoy-peer-metadata': '/////w==' }), ['x-envoy-peer-metadata']);
    await waitUntil('four lines', () => lines(log).length === 5);
    assert.deepEqual(lines(log).slice(0, 4), [
      'workload=store,cluster=two,namespace=stock,service=store-service',
      'type=job,workload=j,service=a,app=a',
      '-',
      '-',
    ]);
  });

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
