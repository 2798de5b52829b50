/** `load_stats_config`: what a control plane is told of the loads of clusters. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadStatsRequest } from '../../../shared/api/generated/envoy/service/load_stats/v3/lrs.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { framed, startGrpcPeer, type GrpcPeer } from '../../support/peers/services/grpc-peer.ts';
import { messagesOf, wireMessage } from '../../support/peers/services/messages.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const REQUEST = 'envoy.service.load_stats.v3.LoadStatsRequest';
const RESPONSE = 'envoy.service.load_stats.v3.LoadStatsResponse';
const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

/** A control plane that wants to hear of these clusters ten times a second. */
async function startLoadService(wanted: object): Promise<GrpcPeer> {
  const answer = wireMessage(RESPONSE, { ...wanted, load_reporting_interval: '0.1s' });
  return await startGrpcPeer(({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
    stream.write(answer);
  });
}

/** The messages of the first stream so far. */
const reportsOf = (peer: GrpcPeer): LoadStatsRequest[] => messagesOf(peer.calls[0], REQUEST);

async function startReporting(service: GrpcPeer, upstreamPort: number): Promise<Sluice> {
  const target = { envoy_grpc: { cluster_name: 'plane' } };
  return await startSluice({
    bootstrap: bootstrap(
      {
        listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'app' } }])],
        clusters: [
          staticCluster('app', [upstreamPort]),
          staticCluster('plane', [service.port], HTTP2),
        ],
      },
      { cluster_manager: { load_stats_config: { api_type: 'GRPC', grpc_services: [target] } } },
    ),
  });
}

const sumOf = (reports: readonly LoadStatsRequest[], field: 'total_issued_requests'): number =>
  reports
    .flatMap(({ cluster_stats: clusters = [] }) => clusters)
    .flatMap(({ upstream_locality_stats: localities = [] }) => localities)
    .reduce((sum, locality) => sum + Number(locality[field] ?? 0), 0);

describe('loads for a control plane', () => {
  it('counts each request in one report, by host where that is asked for', async () => {
    await using upstream = await startHttpUpstream((_request, response) => response.end());
    await using service = await startLoadService({
      clusters: ['app', 'nobody'],
      report_endpoint_granularity: true,
    });
    await using sluice = await startReporting(service, upstream.port);
    await waitUntil('a report', () => reportsOf(service).length > 1);
    const port = await sluice.listenerPort('web');
    for (let request = 0; request < 3; request++) await fetchOnce({ port, path: '/' });
    const reports = await waitUntil('three requests', () => {
      const all = reportsOf(service);
      return sumOf(all, 'total_issued_requests') >= 3 ? all : undefined;
    });
    assert.equal(sumOf(reports, 'total_issued_requests'), 3);
    const names = reports.flatMap(({ cluster_stats: list = [] }) =>
      list.map((c) => c.cluster_name),
    );
    assert.deepEqual(new Set(names), new Set(['app']));
    const endpoints = reports
      .flatMap(({ cluster_stats: clusters = [] }) => clusters)
      .flatMap(({ upstream_locality_stats: localities = [] }) => localities)
      .flatMap(({ upstream_endpoint_stats: list = [] }) => list);
    for (const { address } of endpoints) {
      assert.equal(address?.socket_address?.port_value, upstream.port);
    }
    assert.ok(endpoints.length > 0);
    assert.ok(reports[0]?.node?.client_features?.includes('envoy.lrs.supports_send_all_clusters'));
  });

  it('tells of all clusters where all are wanted', async () => {
    await using upstream = await startHttpUpstream((_request, response) => response.end());
    await using service = await startLoadService({ send_all_clusters: true });
    await using sluice = await startReporting(service, upstream.port);
    const report = await waitUntil('a report', () => reportsOf(service)[1]);
    const names = (report.cluster_stats ?? []).map((cluster) => cluster.cluster_name);
    assert.deepEqual(new Set(names), new Set(['app', 'plane']));
    assert.equal(await sluice.stat('load_reporter.requests'), 1);
  });

  it('counts a stream that ends and what is no message', async () => {
    await using upstream = await startHttpUpstream((_request, response) => response.end());
    await using service = await startGrpcPeer(({ stream }) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
      stream.write(framed(Buffer.from([0xff, 0xff, 0xff])));
    });
    await using sluice = await startReporting(service, upstream.port);
    await sluice.waitForStat('load_reporter.errors', (value) => value === 1);
    assert.equal(await sluice.stat('load_reporter.requests'), 0);
  });
});
