/** What checks add to the filter's own stats, and to those of the cluster that a request goes to. */
import { ResponseCodeStats } from '../../../../shared/stats/response-code-stats.ts';
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import {
  EXT_AUTHZ,
  type ExtAuthzOptions,
} from '../../../../shared/resources/filters/http/ext-authz.ts';
import type { ResolvedRoute } from '../../../stream/route.ts';
import type { FilterContext } from '../../filter-context.ts';

export type AuthzStat = keyof typeof EXT_AUTHZ.index;
/** Those that a cluster has too. */
type ClusterStat = 'ok' | 'denied' | 'error' | 'failure_mode_allowed';

export class AuthzStats {
  readonly #context: FilterContext;
  readonly #base: number;
  readonly #own: string;
  readonly #chargesCluster: boolean;
  /** By the prefix of a cluster's stats, so that there are as many as clusters. */
  readonly #codes = new Map<string, readonly ResponseCodeStats[]>();

  constructor({ statPrefix, chargesCluster }: ExtAuthzOptions, context: FilterContext) {
    this.#context = context;
    this.#own = `ext_authz.${dottedPrefix(statPrefix)}`;
    this.#base = context.stats.defineBlock(EXT_AUTHZ, context.statScope + this.#own);
    context.onBlock(this.#base);
    this.#chargesCluster = chargesCluster;
  }

  count(stat: AuthzStat): void {
    this.#context.stats.increment(this.#base + EXT_AUTHZ.index[stat]);
  }

  /** In both places. */
  countFor(route: ResolvedRoute | undefined, stat: ClusterStat): void {
    this.count(stat);
    const prefix = this.#prefixOf(route);
    if (prefix === undefined) return;
    const { stats } = this.#context;
    stats.increment(stats.defineCounter(`${prefix}${this.#own}${stat}`));
  }

  /** As if the cluster had answered the request. */
  charge(route: ResolvedRoute | undefined, status: number): void {
    if (!this.#chargesCluster) return;
    const prefix = this.#prefixOf(route);
    if (prefix === undefined) return;
    let codes = this.#codes.get(prefix);
    if (codes === undefined) {
      const { stats } = this.#context;
      codes = [prefix, `${prefix}internal.`].map((each) => new ResponseCodeStats(stats, each));
      this.#codes.set(prefix, codes);
    }
    for (const each of codes) each.charge(status);
  }

  #prefixOf(route: ResolvedRoute | undefined): string | undefined {
    return route?.kind === 'cluster'
      ? this.#context.clusterStatPrefix(route.clusterName)
      : undefined;
  }
}
