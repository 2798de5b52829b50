/** The OpenTelemetry collector behind tracers, access loggers and the sink of statistics. */
import { staticCluster } from '../../test/support/parts/bootstrap.ts';
import { grpcCluster } from '../../test/support/peers/services/asked-services.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { trialWithGo } from '../programs/go-programs.ts';
import { check, passed, type Trial, type TrialOutcome } from '../programs/trial.ts';
import { type Between, grpcService, startAsking } from './between.ts';
import {
  bodiesOf,
  type Collector,
  type Resource,
  type Span,
  spansOf,
  startCollector,
} from './collector.ts';

const TRACE = 'type.googleapis.com/envoy.config.trace.v3';
const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const PARENT = { trace: '463ac35c9f6413ad48485a3953bb6124', span: 'a2fb4a1d1a96d312' };
const REQUESTS = 50;
const SERVER_KIND = 2;
const CLIENT_KIND = 3;
/** Spans leave one by one, so that a trial need not wait for a full batch. */
const AT_ONCE = {
  layered_runtime: {
    layers: [
      {
        name: 'flushes',
        static_layer: {
          'tracing.zipkin.min_flush_spans': 1,
          'tracing.opentelemetry.min_flush_spans': 1,
        },
      },
    ],
  },
  node: { id: 'node-1', cluster: 'front' },
};

const byZipkin =
  (version: string) =>
  ({ zipkinPort }: Collector): Tracer => {
    const typed_config = {
      '@type': `${TRACE}.ZipkinConfig`,
      collector_cluster: 'collector',
      collector_endpoint: '/api/v2/spans',
      collector_endpoint_version: version,
      shared_span_context: false,
    };
    return {
      provider: { name: 'envoy.tracers.zipkin', typed_config },
      cluster: staticCluster('collector', [zipkinPort]),
      context: { 'x-b3-traceid': PARENT.trace, 'x-b3-spanid': PARENT.span, 'x-b3-sampled': '1' },
    };
  };

export const telemetryTrials: readonly Trial[] = [
  trialWithGo('OpenTelemetry spans over gRPC at the collector', () => spansArrive(byGrpc)),
  trialWithGo('OpenTelemetry spans over HTTP at the collector', () => spansArrive(byHttp)),
  trialWithGo('Zipkin spans as JSON at the collector', () => spansArrive(byZipkin('HTTP_JSON'))),
  trialWithGo('Zipkin spans as protobuf at the collector', () =>
    spansArrive(byZipkin('HTTP_PROTO')),
  ),
  trialWithGo('OpenTelemetry access logs at the collector', logsArrive),
  trialWithGo('OpenTelemetry metrics at the collector', metricsArrive),
];

interface Tracer {
  readonly provider: object;
  readonly cluster: object;
  /** How a client says which span is its own. */
  readonly context: Readonly<Record<string, string>>;
}

function openTelemetry(config: object): object {
  const type = `${TRACE}.OpenTelemetryConfig`;
  const typed_config = { '@type': type, service_name: 'front', ...config };
  return { name: 'envoy.tracers.opentelemetry', typed_config };
}

const traceparent = { traceparent: `00-${PARENT.trace}-${PARENT.span}-01` };

function byGrpc({ grpcPort }: Collector): Tracer {
  const provider = openTelemetry(grpcService('collector'));
  return { provider, cluster: grpcCluster('collector', grpcPort), context: traceparent };
}

function byHttp({ httpPort }: Collector): Tracer {
  const http_uri = {
    uri: `http://127.0.0.1:${httpPort}/v1/traces`,
    cluster: 'collector',
    timeout: '2s',
  };
  const cluster = staticCluster('collector', [httpPort]);
  const provider = openTelemetry({ http_service: { http_uri } });
  return { provider, cluster, context: traceparent };
}

async function spansArrive(tracerFor: (collector: Collector) => Tracer): Promise<TrialOutcome> {
  using scratch = makeScratch();
  await using collector = await startCollector(scratch);
  const { provider, cluster, context } = tracerFor(collector);
  await using between = await startAsking({
    hcm: { tracing: { provider, spawn_upstream_span: true } },
    clusters: [cluster],
    fields: AT_ONCE,
  });
  const asked = Array.from({ length: REQUESTS }, () => between.ask({ headers: context }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  check(
    statuses.every((status) => status === 200),
    'requests were answered',
  );
  const spans = await waitUntil('all spans', () => {
    const all = spansOf(collector);
    return all.length >= 2 * REQUESTS ? all : undefined;
  });
  check(spans.length === 2 * REQUESTS, `${spans.length} spans of ${2 * REQUESTS}`);
  check(
    spans.every(({ traceId }) => traceId === PARENT.trace),
    'all are of the one trace',
  );
  const ids = new Set(spans.map(({ spanId }) => spanId));
  check(ids.size === spans.length, 'every span has an id of its own');
  check(spans.every(isTimed), 'spans end after they began');
  familiesAreWhole(spans, between);
  const services = collector.received().flatMap(({ resourceSpans = [] }) => resourceSpans);
  check(
    services.every(({ resource }) => serviceOf(resource) === 'front'),
    'the service name',
  );
  return passed(`${spans.length} spans of ${REQUESTS} requests, as one trace`);
}

/** Each request has a span below the client's, its attempt one below that; the host was told. */
function familiesAreWhole(spans: readonly Span[], { upstream }: Between): void {
  const servers = spans.filter(({ kind }) => kind === SERVER_KIND);
  const clients = spans.filter(({ kind }) => kind === CLIENT_KIND);
  check(servers.length === REQUESTS && clients.length === REQUESTS, 'one span of each kind');
  check(
    servers.every(({ parentSpanId }) => parentSpanId === PARENT.span),
    'below the client',
  );
  const serverIds = new Set(servers.map(({ spanId }) => spanId));
  const parents = new Set(clients.map(({ parentSpanId = '' }) => parentSpanId));
  check(parents.size === REQUESTS, 'an attempt for each request');
  check(
    [...parents].every((parent) => serverIds.has(parent)),
    'below its request',
  );
  const told = upstream.requests.map(({ headers }) => {
    const parent = /^00-[0-9a-f]{32}-([0-9a-f]{16})-01$/.exec(String(headers['traceparent']));
    return parent?.[1] ?? String(headers['x-b3-spanid']);
  });
  const clientIds = new Set(clients.map(({ spanId }) => spanId));
  check(
    told.every((id) => clientIds.has(id)),
    'hosts are told the span of the attempt',
  );
}

function isTimed({ startTimeUnixNano, endTimeUnixNano }: Span): boolean {
  return BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano);
}

function serviceOf({ attributes = [] }: Resource): string | undefined {
  return attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
}

async function logsArrive(): Promise<TrialOutcome> {
  using scratch = makeScratch();
  await using collector = await startCollector(scratch);
  const logger = {
    name: 'envoy.access_loggers.open_telemetry',
    typed_config: {
      '@type': `${EXTENSIONS}.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig`,
      ...grpcService('collector'),
      buffer_flush_interval: '0.05s',
      body: { string_value: '%REQ(:PATH)% %RESPONSE_CODE%' },
    },
  };
  await using between = await startAsking({
    hcm: { access_log: [logger] },
    clusters: [grpcCluster('collector', collector.grpcPort)],
    fields: AT_ONCE,
  });
  const paths = Array.from({ length: REQUESTS }, (_, index) => `/${index}`);
  await Promise.all(paths.map((path) => between.ask({ path })));
  const bodies = await waitUntil('all lines', () => {
    const all = bodiesOf(collector);
    return all.length >= REQUESTS ? all : undefined;
  });
  const missing = paths.filter((path) => !bodies.includes(`${path} 200`));
  check(missing.length === 0 && bodies.length === REQUESTS, `${bodies.length} lines`);
  return passed(`${bodies.length} lines of ${REQUESTS} requests`);
}

async function metricsArrive(): Promise<TrialOutcome> {
  using scratch = makeScratch();
  await using collector = await startCollector(scratch);
  const sink = {
    name: 'envoy.stat_sinks.open_telemetry',
    typed_config: {
      '@type': `${EXTENSIONS}.stat_sinks.open_telemetry.v3.SinkConfig`,
      ...grpcService('collector'),
    },
  };
  await using between = await startAsking({
    clusters: [grpcCluster('collector', collector.grpcPort)],
    fields: { ...AT_ONCE, stats_flush_interval: '0.2s', stats_sinks: [sink] },
  });
  await between.ask();
  const wanted = ['cluster.upstream_rq_total', 'http.downstream_rq_time', 'server.live'];
  const names = await waitUntil('the metrics', () => {
    const all = namesOf(collector);
    return wanted.every((name) => all.has(name)) ? all : undefined;
  });
  return passed(`${names.size} metrics`);
}

function namesOf(collector: Collector): ReadonlySet<string> {
  const metrics = collector
    .received()
    .flatMap(({ resourceMetrics = [] }) => resourceMetrics)
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  return new Set(metrics.map(({ name }) => name));
}
