/** Makes the sinks that a bootstrap names. */
import { KindTable, type OfKind } from '../../../shared/resources/by-kind.ts';
import type { TagExtractor } from '../../stats/tags/tag-extractor.ts';
import type { DashboardSink } from './dashboard-sink.ts';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import type { CollectorClient } from '../../services/collector-client.ts';
import type { GrpcStream, GrpcStreamHandlers } from '../../services/grpc-client.ts';
import type { LineOptions } from './statsd-lines.ts';
import type {
  DatagramTarget,
  OpenTelemetrySinkConfig,
  SinkConfig,
  SocketAddress,
} from '../../stats/sink-config.ts';
import type { StatsSink } from './stats-sink.ts';

/** Where the configuration sets no limit. */
const CALL_TIMEOUT_MS = 5000;

export interface SinkParts {
  readonly extractor: TagExtractor;
  /** Made early, since its page is mounted before the first flush. */
  readonly dashboard: DashboardSink | undefined;
  /** A host of a cluster by the cluster's name. */
  hostOf(cluster: string): SocketAddress | undefined;
  /** Opens a stream to a service; rejects when there is no host. */
  openGrpc(target: GrpcTarget, method: string, handlers: GrpcStreamHandlers): Promise<GrpcStream>;
  /** What sends to collectors by HTTP. */
  openCollector(): Promise<CollectorClient>;
  /** This server's identity as a metrics service gets it: the encoded field `identifier`. */
  identifier(): Promise<Uint8Array>;
  /** Unix milliseconds. */
  nowMs(): number;
  warn(text: string): void;
}

/** Sockets and their modules are only loaded where a sink is configured. */
export async function makeSinks(
  configs: readonly SinkConfig[],
  parts: SinkParts,
): Promise<readonly StatsSink[]> {
  const sinks: StatsSink[] = [];
  for (const config of configs) {
    const sink = await SINKS.make(config, parts);
    if (sink !== undefined) sinks.push(sink);
  }
  return sinks;
}

type MadeSink = Promise<StatsSink | undefined>;

const SINKS = new KindTable<SinkConfig, [SinkParts], MadeSink>({
  statsd: async ({ target, prefix, scalesToMs }, parts) => {
    const { plainNames } = await import('./statsd-lines.ts');
    const form = plainNames(prefix);
    if (!('cluster' in target)) return makeDatagramSink({ target, scalesToMs }, form);
    const { TcpStatsdSink } = await import('./tcp-statsd-sink.ts');
    return new TcpStatsdSink({ hostOf: () => parts.hostOf(target.cluster), form, scalesToMs });
  },
  dog_statsd: async (config, { extractor }) => {
    const { taggedNames } = await import('./statsd-lines.ts');
    return makeDatagramSink(config, taggedNames(config.prefix, extractor));
  },
  graphite_statsd: async (config, { extractor }) => {
    const { graphiteNames } = await import('./statsd-lines.ts');
    return makeDatagramSink(config, graphiteNames(config.prefix, extractor));
  },
  metrics_service: makeMetricsServiceSink,
  open_telemetry: makeOpenTelemetrySink,
  dashboard: (_, parts) => Promise.resolve(parts.dashboard),
});

async function makeMetricsServiceSink(
  config: OfKind<SinkConfig, 'metrics_service'>,
  parts: SinkParts,
): Promise<StatsSink> {
  const { METRICS_METHOD, MetricsServiceSink } = await import('./metrics-service-sink.ts');
  return new MetricsServiceSink({
    config,
    extractor: parts.extractor,
    open: (handlers) => parts.openGrpc(config.target, METRICS_METHOD, handlers),
    identifier: () => parts.identifier(),
    nowMs: () => parts.nowMs(),
    onLost: (reason) => parts.warn(`the stream to the metrics service has ended: ${reason}`),
  });
}

async function makeOpenTelemetrySink(
  config: OpenTelemetrySinkConfig,
  parts: SinkParts,
): Promise<StatsSink> {
  const { OTLP_METRICS_METHOD, OpenTelemetrySink } = await import('./open-telemetry-sink.ts');
  const { exporter, userAgent } = config;
  const headers = { 'content-type': 'application/x-protobuf', 'user-agent': userAgent };
  const collector = exporter.kind === 'http' ? await parts.openCollector() : undefined;
  return new OpenTelemetrySink({
    config,
    extractor: parts.extractor,
    nowMs: () => parts.nowMs(),
    send: async (body) => {
      if (exporter.kind === 'http') await collector?.post(exporter, Buffer.from(body), headers);
      else await callOnce(exporter, OTLP_METRICS_METHOD, body, parts);
    },
    close: () => collector?.close(),
  });
}

/** A unary call; its answer is not looked at. */
async function callOnce(
  { target, timeoutMs }: Extract<OpenTelemetrySinkConfig['exporter'], { readonly kind: 'grpc' }>,
  method: string,
  body: Uint8Array,
  parts: SinkParts,
): Promise<void> {
  let failure: string | undefined;
  const stream = await parts.openGrpc(target, method, {
    received: () => undefined,
    ended: (reason, code) => {
      if (code !== 0) failure = reason;
    },
  });
  const limit = AbortSignal.timeout(timeoutMs > 0 ? timeoutMs : CALL_TIMEOUT_MS);
  limit.addEventListener('abort', () => stream.close());
  stream.send(body);
  await stream.finish();
  if (failure !== undefined) throw new Error(`cannot send statistics: ${failure}`);
}

interface DatagramSettings {
  readonly target: DatagramTarget;
  readonly scalesToMs: boolean;
  readonly maxBytesPerDatagram?: number;
}

async function makeDatagramSink(
  { target, scalesToMs, maxBytesPerDatagram: maxBytes = 0 }: DatagramSettings,
  form: LineOptions['form'],
): Promise<StatsSink> {
  const { DatagramStatsdSink } = await import('./datagram-statsd-sink.ts');
  return new DatagramStatsdSink({ target, form, scalesToMs, maxBytes });
}
