/** Istio's own filters, seen from the other end of the wire. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readStruct } from '../../../shared/protobuf/struct-message.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { fileLog } from '../../support/parts/tcp-listener.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';
import {
  NODE,
  TOLD,
  PEER,
  QUICK_LOGS,
  EXCHANGE,
  HEADERS,
  peerMetadata,
  ALPN,
  ROUTER,
  bytesOf,
  startSecurePeer,
  upstreamTls,
} from '../../support/istio.ts';

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
});
