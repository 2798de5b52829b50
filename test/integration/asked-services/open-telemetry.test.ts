/** Access logs and statistics by the OpenTelemetry protocol: what a collector receives of them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { grpcCluster, textsAt } from '../../support/peers/services/asked-services.ts';
import { answerCall, framed, startGrpcPeer } from '../../support/peers/services/grpc-peer.ts';
import { CLOSED_PORT, type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const LOGGER =
  'type.googleapis.com/envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig';
const SINK = 'type.googleapis.com/envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig';
const ROUTES = [{ match: { prefix: '/' }, direct_response: { status: 200 } }];
const WRITTEN = 'access_logs.open_telemetry_access_log.logs_written';
const DROPPED = 'access_logs.open_telemetry_access_log.logs_dropped';

function byHttp(path: string): object {
  const uri = { uri: `http://collector${path}`, cluster: 'collector', timeout: '60s' };
  return { http_service: { http_uri: uri } };
}

function logger(config: object): object {
  const typed = { '@type': LOGGER, buffer_flush_interval: '0.05s', ...config };
  return { name: 'envoy.access_loggers.open_telemetry', typed_config: typed };
}

const lines = { string_value: '%REQ(:PATH)% %RESPONSE_CODE%' };

/** Paths of fields: bodies of records, and names of metrics. */
const BODIES = [1, 2, 2, 5, 1];
const METRICS = [1, 2, 2, 1];

function receivedBy(collector: HttpUpstream, path: readonly number[]): readonly string[] {
  return collector.requests.flatMap(({ body }) =>
    textsAt(framed(Buffer.from(body, 'latin1')), path),
  );
}

describe('the OpenTelemetry protocol', () => {
  it('carries access logs by HTTP', async () => {
    await using collector = await startHttpUpstream();
    const type = 'envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery';
    const formatters = [
      { name: 'without', typed_config: { '@type': `type.googleapis.com/${type}` } },
    ];
    const body = { string_value: '%REQ_WITHOUT_QUERY(:PATH)% %RESPONSE_CODE%' };
    const log = logger({ ...byHttp('/v1/logs'), body, formatters, log_name: 'web' });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES, { hcm: { access_log: [log] } })],
        clusters: [staticCluster('collector', [collector.port])],
      }),
    });
    await fetchOnce({ port: await sluice.listenerPort('web'), path: '/logged?by=query' });
    await waitUntil('a record', () => receivedBy(collector, BODIES).length > 0);
    assert.deepEqual(receivedBy(collector, BODIES), ['/logged 200']);
    assert.equal(collector.requests[0]?.path, '/v1/logs');
  });

  it('carries access logs by gRPC', async () => {
    const bodies: string[] = [];
    await using collector = await startGrpcPeer((call) =>
      call.stream.on('end', () => {
        bodies.push(...textsAt(call.body(), BODIES));
        answerCall(call, framed(Buffer.alloc(0)));
      }),
    );
    const service = { grpc_service: { envoy_grpc: { cluster_name: 'collector' } } };
    const log = logger({ ...service, body: lines });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES, { hcm: { access_log: [log] } })],
        clusters: [grpcCluster('collector', collector.port)],
      }),
    });
    await fetchOnce({ port: await sluice.listenerPort('web'), path: '/called' });
    await waitUntil('a record', () => bodies.length > 0);
    assert.deepEqual(bodies, ['/called 200']);
  });

  it('holds a bounded number of records while the collector does not answer', async () => {
    await using collector = await startHttpUpstream((request) => void request.resume());
    // Each record is a batch, and no more than eight are under way.
    const large = { string_value: `%REQ(:PATH)%${'x'.repeat(900_000)}` };
    const log = logger({ ...byHttp('/v1/logs'), body: large, buffer_size_bytes: 1 });
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES, { hcm: { access_log: [log] } })],
        clusters: [staticCluster('collector', [collector.port])],
      }),
    });
    const port = await sluice.listenerPort('web');
    for (let asked = 0; asked < 40; asked++) {
      assert.equal((await fetchOnce({ port, path: '/' })).status, 200);
    }
    await sluice.waitForStat(DROPPED, (count) => count > 0);
    assert.ok((await sluice.stat(WRITTEN)) <= 16);
  });

  it('carries statistics, and goes on where a collector is gone', async () => {
    await using collector = await startHttpUpstream();
    const sink = (path: string, cluster: string): object => ({
      name: 'envoy.stat_sinks.open_telemetry',
      typed_config: {
        '@type': SINK,
        http_service: { http_uri: { uri: `http://c${path}`, cluster, timeout: '1s' } },
        prefix: 'pre',
      },
    });
    await using sluice = await startSluice({
      bootstrap: {
        ...bootstrap({
          clusters: [
            staticCluster('collector', [collector.port]),
            staticCluster('gone', [CLOSED_PORT]),
          ],
        }),
        stats_flush_on_admin: true,
        stats_sinks: [sink('/gone', 'gone'), sink('/v1/metrics', 'collector')],
      },
    });
    await waitUntil('statistics', async () => {
      await sluice.stats('filter=nothing');
      return receivedBy(collector, METRICS).includes('pre.server.live');
    });
    assert.equal(collector.requests[0]?.path, '/v1/metrics');
    assert.equal(collector.requests[0]?.headers['content-type'], 'application/x-protobuf');
  });
});
