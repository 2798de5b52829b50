/**
 * What a filter adds to the stats of the cluster that a request goes to: counters of its own, and
 * answers that it gives in the cluster's place.
 */
import { ResponseCodeStats } from '../../../shared/stats/response-code-stats.ts';
import type { ResolvedRoute } from '../../stream/route.ts';
import type { FilterContext } from '../filter-context.ts';

export class ClusterCounts {
  readonly #context: FilterContext;
  readonly #prefix: string;
  /** By the prefix of a cluster's stats, so that there are as many as clusters. */
  readonly #codes = new Map<string, readonly ResponseCodeStats[]>();

  /** `prefix`: of the filter's own counters, behind the cluster's; ends in a dot. */
  constructor(prefix: string, context: FilterContext) {
    this.#prefix = prefix;
    this.#context = context;
  }

  count(route: ResolvedRoute | undefined, stat: string): void {
    const cluster = this.prefixOf(route);
    if (cluster === undefined) return;
    const { stats } = this.#context;
    stats.increment(stats.defineCounter(`${cluster}${this.#prefix}${stat}`));
  }

  /** As if the cluster had answered the request. */
  charge(route: ResolvedRoute | undefined, status: number): void {
    const cluster = this.prefixOf(route);
    if (cluster === undefined) return;
    let codes = this.#codes.get(cluster);
    if (codes === undefined) {
      const { stats } = this.#context;
      codes = [cluster, `${cluster}internal.`].map((each) => new ResponseCodeStats(stats, each));
      this.#codes.set(cluster, codes);
    }
    for (const each of codes) each.charge(status);
  }

  /** Undefined where a request goes to no cluster that is there. */
  prefixOf(route: ResolvedRoute | undefined): string | undefined {
    return route?.kind === 'cluster'
      ? this.#context.clusterStatPrefix(route.clusterName)
      : undefined;
  }
}
