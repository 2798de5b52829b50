/** Resolves `stats_sinks` of the bootstrap. */
import type {
  DogStatsdSink,
  HystrixSink,
  StatsdSink,
  StatsSink as StatsSinkMessage,
} from '../../../shared/api/generated/envoy/config/metrics/v3/stats.ts';
import { resolveAddress } from '../../resources/addresses.ts';
import { extension, ExtensionRegistry } from '../../resources/extensions.ts';
import type { Scope } from '../../resources/scope.ts';
import type { SinkConfig, SocketAddress } from './stats-sink.ts';

export interface SinkSurroundings {
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
  extension('envoy.stat_sinks.hystrix', 'envoy.config.metrics.v3.HystrixSink', resolveDashboard),
]);

export function resolveSinks(
  messages: readonly StatsSinkMessage[],
  surroundings: SinkSurroundings,
  scope: Scope,
): readonly SinkConfig[] {
  return messages.flatMap((message, index) => {
    const place = scope.at(index);
    const sink = SINKS.resolve(message, place);
    if (sink === undefined) return [];
    if (sink.kind === 'statsd_tcp')
      checkCluster(sink.cluster, surroundings, place.at('typed_config'));
    return [sink];
  });
}

function checkCluster(cluster: string, { clusters, node }: SinkSurroundings, scope: Scope): void {
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
  const prefix = prefixOf(message);
  const { tcp_cluster_name: cluster, address } = message;
  if (cluster !== undefined) return { kind: 'statsd_tcp', cluster, prefix };
  const target = resolveTarget(address, scope.at('address'));
  return target === undefined ? undefined : { kind: 'statsd_udp', target, prefix };
}

function resolveDogStatsd(message: DogStatsdSink, scope: Scope): SinkConfig | undefined {
  const target = resolveTarget(message.address, scope.at('address'));
  if (target === undefined) return undefined;
  return {
    kind: 'dog_statsd',
    target,
    prefix: prefixOf(message),
    maxBytesPerDatagram: Number(message.max_bytes_per_datagram ?? 0),
  };
}

function resolveDashboard(message: HystrixSink): SinkConfig {
  const windowFlushes = Number(message.num_buckets ?? 0);
  return { kind: 'dashboard', windowFlushes: windowFlushes === 0 ? DEFAULT_WINDOW : windowFlushes };
}

function resolveTarget(address: StatsdSink['address'], scope: Scope): SocketAddress | undefined {
  if (address === undefined) return undefined;
  const resolved = resolveAddress(address, scope)?.address;
  if (resolved === undefined) return undefined;
  if (resolved.kind === 'ip') return { address: resolved.address, port: resolved.port };
  scope.unsupported('a statsd receiver on a unix socket is');
  return undefined;
}

function prefixOf({ prefix }: { readonly prefix?: string }): string {
  return prefix === undefined || prefix === '' ? DEFAULT_PREFIX : prefix;
}
