import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw, type RawConnection } from '../../support/peers/raw-client.ts';
import { makeScratch } from '../../support/scratch.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';
import {
  receiveDatagrams,
  receiveStream,
  receiveUnixDatagrams,
  startMetricsService,
  type Metric,
  type MetricsMessage,
} from '../../support/peers/stats-receivers.ts';
import { waitUntil } from '../../support/wait.ts';

const METRICS = 'type.googleapis.com/envoy.config.metrics.v3';
const GRAPHITE = 'type.googleapis.com/envoy.extensions.stat_sinks.graphite_statsd.v3';

function sink(name: string, type: string, config: object): object {
  return { name: `envoy.stat_sinks.${name}`, typed_config: { '@type': type, ...config } };
}

function metricsService(config: object = {}): object {
  return sink('metrics_service', `${METRICS}.MetricsServiceConfig`, {
    transport_api_version: 'V3',
    grpc_service: { envoy_grpc: { cluster_name: 'metrics' } },
    ...config,
  });
}

const local = (port: number): object => ({
  socket_address: { address: '127.0.0.1', port_value: port },
});

/** Every flush is an admin read's, so that a test decides when there is one. */
const flushedByHand = (fields: object): object => ({
  ...bootstrap({ clusters: [], ...fields }),
  node: { id: 'node-1', cluster: 'tests' },
  stats_flush_on_admin: true,
  stats_config: {
    stats_matcher: {
      inclusion_list: {
        patterns: [
          { exact: 'server.live' },
          { exact: 'http.admin.downstream_rq_2xx' },
          { exact: 'http.admin.downstream_rq_time' },
        ],
      },
    },
  },
});

function metricsNamed(messages: readonly MetricsMessage[], name: string): readonly Metric[] {
  return messages.flatMap(({ envoy_metrics: families = [] }) =>
    families.filter((family) => family.name === name).flatMap(({ metric }) => metric),
  );
}

describe('sinks of statistics', () => {
  it('send lines to hosts, clusters and unix sockets, each in its form', async () => {
    using scratch = makeScratch();
    await using datagrams = await receiveDatagrams();
    await using stream = await receiveStream();
    const path = scratch.file('statsd.sock');
    using unix = receiveUnixDatagrams(path);
    const sinks = [
      sink('statsd', `${METRICS}.StatsdSink`, { address: local(datagrams.port), prefix: 'p' }),
      sink('statsd', `${METRICS}.StatsdSink`, { tcp_cluster_name: 'lines' }),
      sink('dog_statsd', `${METRICS}.DogStatsdSink`, {
        address: { pipe: { path } },
        max_bytes_per_datagram: '400',
      }),
      sink('graphite_statsd', `${GRAPHITE}.GraphiteStatsdSink`, {
        address: local(datagrams.port),
        prefix: 'g',
      }),
    ];
    await using sluice = await startSluice({
      bootstrap: {
        ...flushedByHand({ clusters: [staticCluster('lines', [stream.port])] }),
        stats_sinks: sinks,
      },
    });
    await sluice.admin('/stats');
    const tags = 'envoy.response_code_class=2;envoy.http_conn_manager_prefix=admin';
    for (const start of ['p.server.live:1|g', `g.http.downstream_rq_xx;${tags}:`]) {
      await waitUntil(start, () => datagrams.received().some((line) => line.startsWith(start)));
    }
    await waitUntil('lines over TCP', () =>
      stream.received().join('').includes('envoy.server.live:1|g\n'),
    );
    const [joined] = await waitUntil('a datagram', () => {
      const received = unix.received();
      return received.length > 0 && received;
    });
    assert.match(
      joined ?? '',
      /^envoy\.http\.downstream_rq_xx:\d+\|c\|#envoy\.response_code_class:2,envoy\.http_conn_manager_prefix:admin\nenvoy\.server\.live:1\|g/,
    );
  });

  it('stream to a metrics service: totals, or gains with tags as labels', async () => {
    await using service = await startMetricsService();
    await using sluice = await startSluice({
      bootstrap: {
        ...flushedByHand({ clusters: [staticCluster('metrics', [service.port])] }),
        stats_sinks: [
          metricsService(),
          metricsService({
            report_counters_as_deltas: true,
            emit_tags_as_labels: true,
            histogram_emit_mode: 'HISTOGRAM',
            batch_size: 1,
          }),
        ],
      },
    });
    for (let read = 0; read < 3; read++) await sluice.admin('/stats');
    await waitUntil('three flushes to both', () => {
      const totals = metricsNamed(service.messages, 'http.admin.downstream_rq_2xx');
      return totals.length >= 3 && metricsNamed(service.messages, 'server.live').length >= 6;
    });
    const [first] = service.messages;
    assert.equal(first?.identifier?.node.id, 'node-1');
    const totals = metricsNamed(service.messages, 'http.admin.downstream_rq_2xx');
    assert.ok(Number(totals[2]?.counter?.value) > Number(totals[1]?.counter?.value));
    const gains = metricsNamed(service.messages, 'http.downstream_rq_xx');
    assert.equal(gains.at(-1)?.counter?.value, 1);
    assert.deepEqual(gains[0]?.label, [
      { name: 'envoy.response_code_class', value: '2' },
      { name: 'envoy.http_conn_manager_prefix', value: 'admin' },
    ]);
    const forms = (name: string): readonly boolean[] => {
      const metrics = metricsNamed(service.messages, name);
      return [metrics.some(({ summary }) => summary), metrics.some(({ histogram }) => histogram)];
    };
    assert.deepEqual(forms('http.admin.downstream_rq_time'), [true, true]);
    assert.deepEqual(forms('http.downstream_rq_time'), [false, true]);
    const single = service.messages.filter(({ envoy_metrics: all }) => all?.[0]?.metric[0]?.label);
    assert.ok(single.every(({ envoy_metrics: all }) => all?.length === 1));
    await sluice.stop();
    await waitUntil('both streams ended in order', () => service.ended() === 2);
  });

  it('stream to dashboards under both paths, and drop one that does not read', async () => {
    const clusters = Array.from({ length: 80 }, (_, index) =>
      staticCluster(`${'service_'.repeat(20)}${index}`, [9]),
    );
    await using sluice = await startSluice({
      bootstrap: {
        ...flushedByHand({ clusters }),
        stats_sinks: [sink('hystrix', `${METRICS}.HystrixSink`, { num_buckets: '4' })],
      },
    });
    const open = async (path: string): Promise<RawConnection> => {
      const connection = await openRaw(sluice.adminPort);
      connection.send(`GET ${path} HTTP/1.1\r\nhost: dashboard\r\nconnection: close\r\n\r\n`);
      await connection.until('\r\n\r\n');
      return connection;
    };
    const reader = await open('/cb_dashboard_event_stream');
    const sleeper = await open('/hystrix_event_stream');
    sleeper.socket.pause();
    for (let read = 0; read < 45; read++) await sluice.admin('/stats?filter=^server.live$');
    const text = await reader.until('\n:\n\n');
    assert.match(text, /^content-type: text\/event-stream\r$/m);
    const [command, pool] = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, json]) => JSON.parse(json ?? '') as { readonly [field: string]: unknown },
    );
    assert.deepEqual([command?.['type'], pool?.['type']], ['HystrixCommand', 'HystrixThreadPool']);
    assert.equal(pool?.['propertyValue_queueSizeRejectionThreshold'], 1024);
    sleeper.socket.resume();
    await sleeper.closed();
    assert.ok(reader.received().length > sleeper.received().length);
    const before = reader.received().length;
    await sluice.admin('/stats?filter=^server.live$');
    await reader.until((all) => all.length > before);
    for (const connection of [reader, sleeper]) connection.destroy();
  });

  it('are refused by name and place where they cannot be', async () => {
    const refused = async (...sinks: readonly object[]): Promise<string> => {
      const { stderr } = await runSluice([
        '--mode',
        'validate',
        '--config-yaml',
        JSON.stringify({ stats_sinks: sinks }),
      ]);
      return stderr;
    };
    assert.match(await refused(metricsService()), /Unknown gRPC client cluster 'metrics'/);
    const telemetry =
      'type.googleapis.com/envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig';
    const service = { grpc_service: { envoy_grpc: { cluster_name: 'x' } } };
    const wasm = 'type.googleapis.com/envoy.extensions.stat_sinks.wasm.v3.Wasm';
    const text = await refused(
      sink('open_telemetry', telemetry, service),
      sink('wasm', wasm, { config: { name: 'x' } }),
    );
    assert.match(text, /stats_sinks\[0\].*Unknown gRPC client cluster 'x'/s);
    assert.match(text, /stats_sinks\[1\].*envoy\.stat_sinks\.wasm/s);
  });
});
