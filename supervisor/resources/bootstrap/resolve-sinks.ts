/** Resolves `stats_sinks` of the bootstrap. */
import type {
  DogStatsdSink,
  HystrixSink,
  StatsdSink,
  StatsSink as StatsSinkMessage,
} from '../../../shared/api/generated/envoy/config/metrics/v3/stats.ts';
import type { GraphiteStatsdSink } from '../../../shared/api/generated/envoy/extensions/stat_sinks/graphite_statsd/v3/graphite_statsd.ts';
import type { OfKind } from '../../../shared/resources/by-kind.ts';
import type { GrpcTarget } from '../../../shared/resources/grpc-target.ts';
import { resolveAddress } from '../addresses.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { meantCluster } from '../meant-name.ts';
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
export const SINKS = new ExtensionRegistry<SinkConfig>('envoy.stats_sinks', 'stats sink', {
  statsd: extension('envoy.stat_sinks.statsd', 'envoy.config.metrics.v3.StatsdSink', resolveStatsd),
  dog_statsd: extension(
    'envoy.stat_sinks.dog_statsd',
    'envoy.config.metrics.v3.DogStatsdSink',
    (message: DogStatsdSink, scope) => resolveTagged('dog_statsd', message, scope),
  ),
  graphite_statsd: extension(
    'envoy.stat_sinks.graphite_statsd',
    'envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink',
    (message: GraphiteStatsdSink, scope) => resolveTagged('graphite_statsd', message, scope),
  ),
  dashboard: extension(
    'envoy.stat_sinks.hystrix',
    'envoy.config.metrics.v3.HystrixSink',
    resolveDashboard,
  ),
  metrics_service: extension(
    'envoy.stat_sinks.metrics_service',
    'envoy.config.metrics.v3.MetricsServiceConfig',
    resolveMetricsService,
  ),
  open_telemetry: extension(
    'envoy.stat_sinks.open_telemetry',
    'envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig',
    resolveOpenTelemetrySink,
  ),
});

export function resolveSinks(
  messages: readonly StatsSinkMessage[],
  dependencies: SinkDependencies,
  scope: Scope,
): readonly SinkConfig[] {
  return messages.flatMap((message, index) => {
    const place = scope.at(index);
    const sink = SINKS.resolve(message, place);
    if (sink === undefined) return [];
    checkClusters(sink, dependencies, place.at('typed_config'));
    return [sink];
  });
}

function checkClusters(sink: SinkConfig, dependencies: SinkDependencies, scope: Scope): void {
  if (sink.kind === 'statsd' && 'cluster' in sink.target) {
    checkTcpCluster(sink.target.cluster, dependencies, scope);
  }
  const target = grpcTargetOf(sink);
  if (target?.kind !== 'cluster') return;
  const { cluster } = target;
  if (dependencies.clusters.has(cluster)) return;
  scope
    .at('grpc_service', 'envoy_grpc', 'cluster_name')
    .error('reference', `Unknown gRPC client cluster '${cluster}'`, meantCluster(cluster, scope));
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
    const place = scope.at('tcp_cluster_name');
    const hint = meantCluster(cluster, scope);
    place.error('reference', `tcp statsd: unknown cluster '${cluster}'`, hint);
  } else if (node.id === '' || node.cluster === '') {
    scope.error(
      'conflict',
      "tcp statsd: node 'id' and 'cluster' are required. Set it either in 'node' config or via " +
        '--service-node and --service-cluster options.',
    );
  }
}

function resolveStatsd(
  message: StatsdSink,
  scope: Scope,
): OfKind<SinkConfig, 'statsd'> | undefined {
  const { tcp_cluster_name: cluster, address } = message;
  const target = cluster === undefined ? resolveTarget(address, scope.at('address')) : { cluster };
  return target && { kind: 'statsd', target, ...lineSettings(message) };
}

function resolveTagged(
  kind: 'dog_statsd' | 'graphite_statsd',
  message: DogStatsdSink | GraphiteStatsdSink,
  scope: Scope,
): OfKind<SinkConfig, 'dog_statsd'> | undefined {
  const target = resolveTarget(message.address, scope.at('address'));
  if (target === undefined) return undefined;
  const maxBytesPerDatagram = Number(message.max_bytes_per_datagram ?? 0);
  return { kind, target, ...lineSettings(message), maxBytesPerDatagram };
}

function resolveDashboard(message: HystrixSink): OfKind<SinkConfig, 'dashboard'> {
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
