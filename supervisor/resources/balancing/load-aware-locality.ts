/** Resolves the policy that chooses localities by what is left of their hosts' capacity. */
import type { LoadAwareLocality } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/load_aware_locality/v3/load_aware_locality.ts';
import type { LocalityLoadOptions } from '../../../shared/resources/clusters/lb-policy.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr, float } from '../values.ts';

const FIELDS = knownFields<LoadAwareLocality>(
  [
    'endpoint_picking_policy',
    'weight_update_period',
    'metric_names_for_computing_utilization',
    'utilization_variance_threshold',
    'smoothing_time_constant',
    'remote_probe_fraction',
    'weight_expiration_period',
  ],
  // Without effect in Envoy, too.
  ['enable_oob_load_report', 'oob_reporting_period', 'oob_reporting_config'],
);
const UPDATE_MS = 1_000;
const SMOOTHING_MS = 5_000;
const EXPIRATION_MS = 180_000;
const VARIANCE_THRESHOLD = 0.1;
const PROBE_FRACTION = 0.03;

export function resolveLocalityLoads(
  message: LoadAwareLocality,
  scope: Scope,
): LocalityLoadOptions {
  refuseOtherFields(message, FIELDS, scope);
  if (message.enable_oob_load_report === true) {
    scope
      .at('enable_oob_load_report')
      .warning('no_effect', 'reports are read from responses, as in Envoy');
  }
  const { utilization_variance_threshold: variance, remote_probe_fraction: probes } = message;
  return {
    updateMs: durationMsOr(message.weight_update_period, UPDATE_MS),
    smoothingMs: durationMsOr(message.smoothing_time_constant, SMOOTHING_MS),
    expirationMs: durationMsOr(message.weight_expiration_period, EXPIRATION_MS),
    metricNames: message.metric_names_for_computing_utilization ?? [],
    varianceThreshold: variance === undefined ? VARIANCE_THRESHOLD : float(variance),
    probeFraction: probes === undefined ? PROBE_FRACTION : float(probes),
  };
}
