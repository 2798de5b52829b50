/**
 * Hosts of clusters that want statistics of each (`per_endpoint_stats`), as the statistics name
 * them.
 */
import { addressOf } from '../../../shared/addresses/host-address.ts';
import { HOST } from '../../../shared/stats/templates/cluster.ts';
import type { EndpointStatValues } from '../../stats/endpoint-stats.ts';
import { lineOf, statScope } from '../../../shared/stats/stat-scope.ts';
import type { StatStore } from '../../stats/stat-store.ts';
import type { LiveCluster } from '../live-cluster.ts';

/** By the names of the clusters, the hosts of each in their order. */
export function* endpointStatValues(
  clusters: Iterable<LiveCluster>,
  store: Pick<StatStore, 'find'>,
): Generator<EndpointStatValues> {
  const wanting = [...clusters].filter(({ resolved }) => resolved.hasEndpointStats === true);
  wanting.sort((a, b) => (a.resolved.resource.statName < b.resolved.resource.statName ? -1 : 1));
  for (const { resolved, hosts } of wanting) {
    const { name, statName } = resolved.resource;
    for (const host of hosts.hosts) {
      const address = addressOf(host);
      yield {
        cluster: statName,
        address,
        prefix: lineOf(`cluster.${statName}.endpoint.${statScope(address)}.`),
        hostname: host.hostname,
        isHealthy: host.health === 'healthy',
        base: store.find(HOST, `host.${name}.${host.id}.`)?.base,
      };
    }
  }
}
