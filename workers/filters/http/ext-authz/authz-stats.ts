/** What checks add to the filter's own stats, and to those of the cluster that a request goes to. */
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import {
  EXT_AUTHZ,
  type ExtAuthzOptions,
} from '../../../../shared/resources/filters/http/ext-authz.ts';
import type { ResolvedRoute } from '../../../stream/route.ts';
import { ClusterCounts } from '../../common/cluster-counts.ts';
import type { FilterContext } from '../../filter-context.ts';

type AuthzStat = keyof typeof EXT_AUTHZ.index;
/** Those that a cluster has too. */
type ClusterStat = 'ok' | 'denied' | 'error' | 'failure_mode_allowed' | 'invalid';

export class AuthzStats {
  readonly #context: FilterContext;
  readonly #base: number;
  readonly #clusters: ClusterCounts;
  readonly #chargesCluster: boolean;

  constructor({ statPrefix, chargesCluster }: ExtAuthzOptions, context: FilterContext) {
    this.#context = context;
    const own = `ext_authz.${dottedPrefix(statPrefix)}`;
    this.#base = context.stats.defineBlock(EXT_AUTHZ, context.statScope + own);
    context.onBlock(this.#base);
    this.#clusters = new ClusterCounts(own, context);
    this.#chargesCluster = chargesCluster;
  }

  count(stat: AuthzStat): void {
    this.#context.stats.increment(this.#base + EXT_AUTHZ.index[stat]);
  }

  /** In both places. */
  countFor(route: ResolvedRoute | undefined, stat: ClusterStat): void {
    this.count(stat);
    this.#clusters.count(route, stat);
  }

  /** As if the cluster had answered the request. */
  charge(route: ResolvedRoute | undefined, status: number): void {
    if (this.#chargesCluster) this.#clusters.charge(route, status);
  }
}
