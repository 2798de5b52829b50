/** Resolves `stats_sinks` of the bootstrap. */
import type {
  DogStatsdSink,
  HystrixSink,
  StatsdSink,
  StatsSink as StatsSinkMessage,
} from '../../../shared/api/generated/envoy/config/metrics/v3/stats.ts';
import type { GraphiteStatsdSink } from '../../../shared/api/generated/envoy/extensions/stat_sinks/graphite_statsd/v3/graphite_statsd.ts';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import { resolveAddress } from '../addresses.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import type { Scope } from '../scope.ts';
import { resolveOpenTelemetrySink } from './resolve-otlp-sink.ts';
import { resolveMetricsService } from './resolve-metrics-service.ts';
import type { DatagramTarget, SinkConfig } from '../../stats/sink-config.ts';

export interface SinkDependencies {
  readonly clusters: { has(name: string): boolean };
  readonly node: { readonly id: string; readonly cluster: string };
}

const DEFAULT_PREFIX = 'envoy';
const DEFAULT_WINDOW = 10;

/** What a TCP sink still needs to be checked against is in the configuration itself. */
export const SINKS = new ExtensionRegistry<SinkConfig>('envoy.stats_sinks', 'stats sink', [
  extension('envoy.stat_sinks.statsd', 'envoy.config.metrics.v3.StatsdSink', resolveStatsd),
  extension(
    'envoy.stat_sinks.dog_statsd',
    'envoy.config.metrics.v3.DogStatsdSink',
    resolveDogStatsd,
  ),
  extension(
    'envoy.stat_sinks.graphite_statsd',
    'envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink',
    resolveGraphite,
  ),
  extension('envoy.stat_sinks.hystrix', 'envoy.config.metrics.v3.HystrixSink', resolveDashboard),
  extension(
    'envoy.stat_sinks.metrics_service',
    'envoy.config.metrics.v3.MetricsServiceConfig',
    resolveMetricsService,
  ),
  extension(
    'envoy.stat_sinks.open_telemetry',
    'envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig',
    resolveOpenTelemetrySink,
  ),
]);

export function resolveSinks(
  messages: readonly StatsSinkMessage[],
  surroundings: SinkDependencies,
  scope: Scope,
): readonly SinkConfig[] {
  return messages.flatMap((message, index) => {
    const place = scope.at(index);
    const sink = SINKS.resolve(message, place);
    if (sink === undefined) return [];
    checkClusters(sink, surroundings, place.at('typed_config'));
    return [sink];
  });
}

function checkClusters(sink: SinkConfig, surroundings: SinkDependencies, scope: Scope): void {
  if (sink.kind === 'statsd_tcp') checkTcpCluster(sink.cluster, surroundings, scope);
  const target = grpcTargetOf(sink);
  if (target?.kind !== 'cluster') return;
  const { cluster } = target;
  if (surroundings.clusters.has(cluster)) return;
  scope
    .at('grpc_service', 'envoy_grpc', 'cluster_name')
    .error('reference', `Unknown gRPC client cluster '${cluster}'`);
}

function grpcTargetOf(sink: SinkConfig): GrpcTarget | undefined {
  if (sink.kind === 'metrics_service') return sink.target;
  return sink.kind === 'open_telemetry' && sink.exporter.kind === 'grpc'
    ? sink.exporter.target
    : undefined;
}

function checkTcpCluster(
  cluster: string,
  { clusters, node }: SinkDependencies,
  scope: Scope,
): void {
  if (!clusters.has(cluster)) {
    scope.at('tcp_cluster_name').error('reference', `tcp statsd: unknown cluster '${cluster}'`);
  } else if (node.id === '' || node.cluster === '') {
    scope.error(
      'conflict',
      "tcp statsd: node 'id' and 'cluster' are required. Set it either in 'node' config or via " +
        '--service-node and --service-cluster options.',
    );
  }
}

function resolveStatsd(message: StatsdSink, scope: Scope): SinkConfig | undefined {
  const settings = lineSettings(message);
  const { tcp_cluster_name: cluster, address } = message;
  if (cluster !== undefined) return { kind: 'statsd_tcp', cluster, ...settings };
  const target = resolveTarget(address, scope.at('address'));
  return target === undefined ? undefined : { kind: 'statsd_datagram', target, ...settings };
}

function resolveDogStatsd(message: DogStatsdSink, scope: Scope): SinkConfig | undefined {
  return resolveTagged('dog_statsd', message, scope);
}

function resolveGraphite(message: GraphiteStatsdSink, scope: Scope): SinkConfig | undefined {
  return resolveTagged('graphite_statsd', message, scope);
}

function resolveTagged(
  kind: 'dog_statsd' | 'graphite_statsd',
  message: DogStatsdSink | GraphiteStatsdSink,
  scope: Scope,
): SinkConfig | undefined {
  const target = resolveTarget(message.address, scope.at('address'));
  if (target === undefined) return undefined;
  const maxBytesPerDatagram = Number(message.max_bytes_per_datagram ?? 0);
  return { kind, target, ...lineSettings(message), maxBytesPerDatagram };
}

function resolveDashboard(message: HystrixSink): SinkConfig {
  const windowFlushes = Number(message.num_buckets ?? 0);
  return { kind: 'dashboard', windowFlushes: windowFlushes === 0 ? DEFAULT_WINDOW : windowFlushes };
}

function resolveTarget(address: StatsdSink['address'], scope: Scope): DatagramTarget | undefined {
  if (address === undefined) return undefined;
  const resolved = resolveAddress(address, scope)?.address;
  if (resolved === undefined) return undefined;
  if (resolved.kind === 'pipe') return { path: resolved.path };
  return { address: resolved.address, port: resolved.port };
}

function lineSettings({
  prefix,
  scale_histogram_units_to_milliseconds: scalesToMs = false,
}: StatsdSink | DogStatsdSink | GraphiteStatsdSink): { prefix: string; scalesToMs: boolean } {
  return { prefix: prefix === undefined || prefix === '' ? DEFAULT_PREFIX : prefix, scalesToMs };
}
