/**
 * The settings of outlier detection as the runtime has them now; a key is the same for all
 * clusters.
 */
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { OutlierKind, OutlierSettings } from '../resolved/outlier-settings.ts';

/** Where a key is not called as the statistic. */
const ENFORCING_KEYS: Partial<Record<OutlierKind, string>> = {
  local_origin_failure_percentage: 'failure_percentage_local_origin',
};

export function withRuntime(settings: OutlierSettings, snapshot: RuntimeSnapshot): OutlierSettings {
  if (snapshot.size === 0) return settings;
  const read = (key: string, configured: number): number =>
    readInteger(snapshot, `outlier_detection.${key}`, configured);
  const { successRate, failurePercentage } = settings;
  const enforcing = Object.entries(settings.enforcing).map(([kind, percent]) => [
    kind,
    read(`enforcing_${ENFORCING_KEYS[kind as OutlierKind] ?? kind}`, percent),
  ]);
  return {
    ...settings,
    intervalMs: read('interval_ms', settings.intervalMs),
    baseEjectionMs: read('base_ejection_time_ms', settings.baseEjectionMs),
    maxEjectionMs: read('max_ejection_time_ms', settings.maxEjectionMs),
    maxEjectionJitterMs: read('max_ejection_time_jitter_ms', settings.maxEjectionJitterMs),
    maxEjectionPercent: Math.min(100, read('max_ejection_percent', settings.maxEjectionPercent)),
    successRate: {
      minimumHosts: read('success_rate_minimum_hosts', successRate.minimumHosts),
      requestVolume: read('success_rate_request_volume', successRate.requestVolume),
      deviationFactor:
        read('success_rate_stdev_factor', Math.round(successRate.deviationFactor * 1000)) / 1000,
    },
    failurePercentage: {
      minimumHosts: read('failure_percentage_minimum_hosts', failurePercentage.minimumHosts),
      requestVolume: read('failure_percentage_request_volume', failurePercentage.requestVolume),
      threshold: read('failure_percentage_threshold', failurePercentage.threshold),
    },
    enforcing: Object.fromEntries(enforcing) as OutlierSettings['enforcing'],
  };
}
