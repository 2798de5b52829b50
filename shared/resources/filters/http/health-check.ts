/** Settings and stats of envoy.filters.http.health_check. */
import type { FilterResource } from '../declare-filter.ts';
import type { HeaderMatcher } from '../../routes/matchers.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

export interface HealthCheckFilterOptions {
  /** Health checks go to the upstream, unless this server was failed on purpose. */
  readonly passThrough: boolean;
  /** How long an upstream's answer is repeated; 0 for never. */
  readonly cacheTimeMs: number;
  /** What makes a request a health check; all must match. */
  readonly headers: readonly HeaderMatcher[];
  readonly clusterMinHealthyPercent: readonly {
    readonly cluster: string;
    readonly percent: number;
  }[];
}

/** Prefix: `http.<stat_prefix>.health_check.` */
export const HEALTH_CHECK_FILTER = defineTemplate('health_check_filter', {
  cached_response: counter('Health checks answered from the cache'),
  degraded: counter('Health checks answered as degraded'),
  failed: counter('Health checks that failed'),
  failed_cluster_empty: counter('Health checks that failed: a cluster has no host'),
  failed_cluster_not_found: counter('Health checks that failed: a cluster does not exist'),
  failed_cluster_unhealthy: counter('Health checks that failed: too few hosts are healthy'),
  ok: counter('Health checks that passed'),
  request_total: counter('Health checks'),
});

export type HealthCheckFilterSettings = FilterResource<'health_check', HealthCheckFilterOptions>;

export const HEALTH_CHECK_DECLARATION = declareKind<HealthCheckFilterSettings>(HEALTH_CHECK_FILTER);
