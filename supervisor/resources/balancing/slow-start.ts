/** Resolves how slowly new hosts get their share. */
import type { Cluster_SlowStartConfig as SlowStartConfig } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { SlowStartOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, float, optional } from '../values.ts';

const FIELDS = knownFields<SlowStartConfig>([
  'slow_start_window',
  'aggression',
  'min_weight_percent',
]);
const MIN_WEIGHT_PERCENT = 10;

export function resolveSlowStart(
  config: SlowStartConfig | undefined,
  scope: Scope,
): { readonly slowStart?: SlowStartOptions } {
  if (config === undefined) return {};
  refuseOtherFields(config, FIELDS, scope);
  const windowMs = durationMsOr(config.slow_start_window, 0);
  if (windowMs === 0) return {};
  const { aggression, min_weight_percent: least } = config;
  const key = aggression?.runtime_key;
  return {
    slowStart: {
      windowMs,
      aggression: aggression === undefined ? 1 : float(aggression.default_value ?? 0),
      ...optional('aggressionKey', key === '' ? undefined : key),
      minWeightPercent: least === undefined ? MIN_WEIGHT_PERCENT : float(least.value ?? 0),
    },
  };
}
