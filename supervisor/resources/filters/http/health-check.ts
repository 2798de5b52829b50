/** Resolves envoy.extensions.filters.http.health_check.v3.HealthCheck. */
import type { HealthCheck } from '../../../../shared/api/generated/envoy/extensions/filters/http/health_check/v3/health_check.ts';
import type { HealthCheckFilterSettings } from '../../../../shared/resources/filters/http/health-check.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveHeaderMatchers } from '../../matchers/header-matcher.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr, float } from '../../values.ts';
import { httpFilter } from '../http-filter-row.ts';

const FIELDS = knownFields<HealthCheck>([
  'pass_through_mode',
  'cache_time',
  'cluster_min_healthy_percentages',
  'headers',
]);

export const HEALTH_CHECK_FILTER = httpFilter(
  'envoy.filters.http.health_check',
  'envoy.extensions.filters.http.health_check.v3.HealthCheck',
  resolveHealthCheck,
);

function resolveHealthCheck(
  message: HealthCheck,
  scope: Scope,
  name: string,
): HealthCheckFilterSettings {
  refuseOtherFields(message, FIELDS, scope);
  const passThrough = message.pass_through_mode ?? false;
  const cacheTimeMs = durationMsOr(message.cache_time, 0);
  const clusters = Object.entries(message.cluster_min_healthy_percentages ?? {});
  if (!passThrough && cacheTimeMs > 0) {
    scope
      .at('cache_time')
      .error('conflict', 'cache_time_ms must not be set when path_through_mode is disabled');
  }
  return {
    kind: 'health_check',
    name,
    options: {
      passThrough,
      cacheTimeMs,
      headers: resolveHeaderMatchers(message.headers, scope.at('headers')),
      clusterMinHealthyPercent: clusters.map(([cluster, percent]) => ({
        cluster,
        percent: float(percent.value ?? 0),
      })),
    },
  };
}
