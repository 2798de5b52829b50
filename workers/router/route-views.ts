/**
 * Where virtual clusters and routes with a name for statistics count: held as long as their route
 * configuration is in use, since Envoy shows them before the first request. Routes that a matcher
 * tree leads to appear with their first request.
 */
import type {
  RouteConfigurationResource,
  VirtualHost,
} from '../../shared/resources/routes/route.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { VIRTUAL_CLUSTER } from '../../shared/stats/templates/cluster-features.ts';
import { OTHER_VIRTUAL_CLUSTER } from '../stream/route.ts';
import { withoutLastDots } from '../../shared/stats/stat-scope.ts';

export function virtualClusterPrefix(host: string, name: string): string {
  return `${withoutLastDots(`vhost.${withoutLastDots(host)}.vcluster.${name}`)}.`;
}

export function routePrefix(host: string, statPrefix: string): string {
  return `${withoutLastDots(`vhost.${withoutLastDots(host)}.route.${statPrefix}`)}.`;
}

/** What is returned lets them go. */
export function holdViews(
  { virtualHosts }: RouteConfigurationResource,
  stats: StatWriter,
): () => void {
  const bases = virtualHosts
    .flatMap(prefixesOf)
    .map((prefix) => stats.defineBlock(VIRTUAL_CLUSTER, prefix));
  return () => {
    for (const base of bases) stats.releaseBlock(base);
  };
}

function prefixesOf({ name, virtualClusters, routes }: VirtualHost): readonly string[] {
  const prefixes = routes.flatMap(({ statPrefix = '' }) =>
    statPrefix === '' ? [] : [routePrefix(name, statPrefix)],
  );
  if (virtualClusters.length === 0) return prefixes;
  const names = [...virtualClusters.map((cluster) => cluster.name), OTHER_VIRTUAL_CLUSTER];
  return [...prefixes, ...names.map((cluster) => virtualClusterPrefix(name, cluster))];
}
