/** Resolves envoy.config.cluster.v3.OutlierDetection. */
import type { OutlierSettings } from '../../resolved/outlier-settings.ts';
import type { OutlierDetection } from '../../../shared/api/generated/envoy/config/cluster/v3/outlier_detection.ts';
import type { OutlierThresholds } from '../../../shared/resources/clusters/outlier-detection.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { durationMsOr } from '../values.ts';

const FIELDS = knownFields<OutlierDetection>([
  'consecutive_5xx',
  'interval',
  'base_ejection_time',
  'max_ejection_percent',
  'enforcing_consecutive_5xx',
  'enforcing_success_rate',
  'success_rate_minimum_hosts',
  'success_rate_request_volume',
  'success_rate_stdev_factor',
  'consecutive_gateway_failure',
  'enforcing_consecutive_gateway_failure',
  'split_external_local_origin_errors',
  'consecutive_local_origin_failure',
  'enforcing_consecutive_local_origin_failure',
  'enforcing_local_origin_success_rate',
  'failure_percentage_threshold',
  'enforcing_failure_percentage',
  'enforcing_failure_percentage_local_origin',
  'failure_percentage_minimum_hosts',
  'failure_percentage_request_volume',
  'max_ejection_time',
  'max_ejection_time_jitter',
  'always_eject_one_host',
  'successful_active_health_check_uneject_host',
  'detect_degraded_hosts',
  'monitors',
]);

export function resolveOutlierDetection(message: OutlierDetection, scope: Scope): OutlierSettings {
  refuseOtherFields(message, FIELDS, scope);
  if (message.monitors !== undefined) {
    scope.at('monitors').warning('no_effect', "'monitors' has no effect, as in Envoy");
  }
  const baseEjectionMs = durationMsOr(message.base_ejection_time, 30_000);
  const maxEjectionMs = durationMsOr(message.max_ejection_time, Math.max(300_000, baseEjectionMs));
  if (maxEjectionMs < baseEjectionMs) {
    const text = "outlier detector's max_ejection_time cannot be smaller than base_ejection_time";
    scope.at('max_ejection_time').error('conflict', text);
  }
  return {
    thresholds: thresholds(message),
    intervalMs: durationMsOr(message.interval, 10_000),
    baseEjectionMs,
    maxEjectionMs,
    maxEjectionJitterMs: durationMsOr(message.max_ejection_time_jitter, 0),
    maxEjectionPercent: message.max_ejection_percent ?? 10,
    alwaysEjectsOne: message.always_eject_one_host ?? false,
    endsByCheck: message.successful_active_health_check_uneject_host ?? true,
    successRate: {
      minimumHosts: message.success_rate_minimum_hosts ?? 5,
      requestVolume: message.success_rate_request_volume ?? 100,
      deviationFactor: (message.success_rate_stdev_factor ?? 1900) / 1000,
    },
    failurePercentage: {
      minimumHosts: message.failure_percentage_minimum_hosts ?? 5,
      requestVolume: message.failure_percentage_request_volume ?? 50,
      threshold: message.failure_percentage_threshold ?? 85,
    },
    enforcing: enforcing(message),
  };
}

function thresholds(message: OutlierDetection): OutlierThresholds {
  return {
    splitsErrors: message.split_external_local_origin_errors ?? false,
    detectsDegraded: message.detect_degraded_hosts ?? false,
    consecutive: {
      consecutive_5xx: message.consecutive_5xx ?? 5,
      consecutive_gateway_failure: message.consecutive_gateway_failure ?? 5,
      consecutive_local_origin_failure: message.consecutive_local_origin_failure ?? 5,
    },
  };
}

function enforcing(message: OutlierDetection): OutlierSettings['enforcing'] {
  return {
    consecutive_5xx: message.enforcing_consecutive_5xx ?? 100,
    consecutive_gateway_failure: message.enforcing_consecutive_gateway_failure ?? 0,
    consecutive_local_origin_failure: message.enforcing_consecutive_local_origin_failure ?? 100,
    success_rate: message.enforcing_success_rate ?? 100,
    local_origin_success_rate: message.enforcing_local_origin_success_rate ?? 100,
    failure_percentage: message.enforcing_failure_percentage ?? 0,
    local_origin_failure_percentage: message.enforcing_failure_percentage_local_origin ?? 0,
  };
}
