/** Picks hosts of clusters for the supervisor's own requests, in turn, and counts them as the cluster's. */
import type { HostAddress } from '../../shared/resources/cluster.ts';
import { CLUSTER } from '../../shared/stats/templates/cluster.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { LiveCluster } from '../upstreams/live-cluster.ts';
import type { ControlPlaneClusters } from './rest-source.ts';

export class OwnRequests implements ControlPlaneClusters {
  readonly #find: (name: string) => LiveCluster | undefined;
  readonly #store: StatStore;
  #turn = 0;

  constructor(find: (name: string) => LiveCluster | undefined, store: StatStore) {
    this.#find = find;
    this.#store = store;
  }

  pick(cluster: string): HostAddress | undefined {
    const live = this.#find(cluster);
    const hosts = live?.hosts.hosts ?? [];
    if (live === undefined || hosts.length === 0) return undefined;
    const usable = hosts.filter(({ health }) => health !== 'unhealthy');
    const some = usable.length > 0 ? usable : hosts;
    const { statName } = live.resolved.resource;
    const base = this.#store.defineBlock(CLUSTER, `cluster.${statName}.`);
    this.#store.increment(base + CLUSTER.index.upstream_rq_total);
    this.#store.increment(base + CLUSTER.index.upstream_cx_total);
    this.#store.releaseBlock(base);
    return some[this.#turn++ % some.length]?.address;
  }
}
