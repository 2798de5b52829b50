/**
 * What the statistics see of the server: its clusters, and for sinks streams to services and who it
 * is.
 */
import type { ServiceClusters, ServiceStreams } from './service-streams.ts';
import { endpointStatValues } from '../upstreams/hosts/endpoint-stat-values.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';
import type { SinkCluster, StatsEngineOptions } from '../stats-output/stats-engine.ts';

export function sinkDependencies(
  { openGrpc, openCollector, node }: ServiceStreams,
  { upstreams, statStore }: ServiceClusters,
): Pick<StatsEngineOptions, 'clusters' | 'endpoints' | 'services'> {
  return {
    clusters: () => [...upstreams.all()].map(sinkCluster),
    endpoints: () => endpointStatValues(upstreams.all(), statStore),
    services: { openGrpc, openCollector, identifier: () => Promise.resolve(node.identifier) },
  };
}

function sinkCluster({ resolved: { resource }, hostList }: LiveCluster): SinkCluster {
  const { maxRequests, maxPendingRequests } = resource.circuitBreakers.DEFAULT;
  return {
    configuredName: resource.name,
    name: resource.statName,
    maxRequests,
    maxPendingRequests,
    // Few ask for them.
    get hosts() {
      return hostList.flatMap(({ address }) =>
        address.kind === 'ip' ? [{ address: address.address, port: address.port }] : [],
      );
    },
  };
}
