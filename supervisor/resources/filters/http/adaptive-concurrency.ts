/** Resolves envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency. */
import type {
  AdaptiveConcurrency,
  GradientControllerConfig,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/adaptive_concurrency/v3/adaptive_concurrency.ts';
import type { Percent } from '../../../../shared/api/generated/envoy/type/v3/percent.ts';
import type {
  AdaptiveConcurrencyFilterSettings,
  AdaptiveConcurrencyOptions,
} from '../../../../shared/resources/filters/http/limits/adaptive-concurrency.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { statusNumber } from '../../http-status.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr, float, optional } from '../../values.ts';
import { httpFilter } from '../http-filter-row.ts';

const TYPE = 'envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency';
const FIELDS = knownFields<AdaptiveConcurrency>([
  'gradient_controller_config',
  'enabled',
  'concurrency_limit_exceeded_status',
]);
const DEFAULTS = {
  percentile: 50,
  maxConcurrency: 1000,
  jitter: 15,
  requests: 50,
  least: 3,
  buffer: 25,
};

export const ADAPTIVE_CONCURRENCY_FILTER = httpFilter(
  'envoy.filters.http.adaptive_concurrency',
  TYPE,
  (message: AdaptiveConcurrency, scope, name): AdaptiveConcurrencyFilterSettings => {
    refuseOtherFields(message, FIELDS, scope);
    const { enabled, concurrency_limit_exceeded_status: limited } = message;
    const status = statusNumber(limited?.code) ?? 503;
    const options = {
      enabled: {
        runtimeKey: enabled?.runtime_key ?? '',
        byDefault: enabled?.default_value ?? true,
      },
      limitedStatus: status < 400 ? 503 : status,
      ...resolveController(
        message.gradient_controller_config ?? {},
        scope.at('gradient_controller_config'),
      ),
    };
    return { kind: 'adaptive_concurrency', name, options };
  },
);

function resolveController(
  message: GradientControllerConfig,
  scope: Scope,
): Omit<AdaptiveConcurrencyOptions, 'enabled' | 'limitedStatus'> {
  const { concurrency_limit_params: limits = {}, min_rtt_calc_params: rtt = {} } = message;
  const { interval, fixed_value: fixed } = rtt;
  if (interval === undefined && fixed === undefined) {
    const text = 'min_rtt_calc_params: neither `concurrency_update_interval` nor `fixed_value` set';
    scope.at('min_rtt_calc_params').error('conflict', text);
  }
  return {
    percentile: percent(message.sample_aggregate_percentile, DEFAULTS.percentile),
    maxConcurrency: limits.max_concurrency_limit ?? DEFAULTS.maxConcurrency,
    updateIntervalMs: durationMsOr(limits.concurrency_update_interval, 0),
    minRttIntervalMs: durationMsOr(interval, 0),
    jitter: percent(rtt.jitter, DEFAULTS.jitter),
    requestCount: rtt.request_count ?? DEFAULTS.requests,
    minConcurrency: limits.min_concurrency_limit ?? rtt.min_concurrency ?? DEFAULTS.least,
    buffer: percent(rtt.buffer, DEFAULTS.buffer),
    ...optional('fixedRttMs', fixed === undefined ? undefined : durationMsOr(fixed, 0)),
  };
}

function percent(message: Percent | undefined, byDefault: number): number {
  return message === undefined ? byDefault : float(message.value ?? 0);
}
