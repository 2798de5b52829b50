/** Resolves envoy.extensions.filters.http.admission_control.v3.AdmissionControl. */
import type {
  RuntimePercent,
  RuntimeUInt32,
  RuntimeDouble,
} from '../../../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { AdmissionControl } from '../../../../shared/api/generated/envoy/extensions/filters/http/admission_control/v3/admission_control.ts';
import type {
  AdmissionControlFilterSettings,
  AdmissionControlOptions,
  RuntimeNumber,
} from '../../../../shared/resources/filters/http/limits/admission-control.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr, float } from '../../values.ts';
import { httpFilter } from '../http-filter-row.ts';

const TYPE = 'envoy.extensions.filters.http.admission_control.v3.AdmissionControl';
const DEFAULT_WINDOW_MS = 30_000;
const DEFAULT_SUCCESS_PERCENT = 95;
const DEFAULT_REJECTION_PERCENT = 80;
const DEFAULT_HTTP_SUCCESS = [{ start: 100, end: 500 }];
/** All but those that say that a server is overloaded or broken. */
const DEFAULT_GRPC_SUCCESS = [0, 1, 2, 3, 5, 6, 7, 9, 11, 12, 16];

export const ADMISSION_CONTROL_FILTER = httpFilter(
  'envoy.filters.http.admission_control',
  TYPE,
  (message: AdmissionControl, scope, name): AdmissionControlFilterSettings => ({
    kind: 'admission_control',
    name,
    options: resolveOptions(message, scope),
  }),
);

const FIELDS = knownFields<AdmissionControl>([
  'enabled',
  'success_criteria',
  'sampling_window',
  'aggression',
  'sr_threshold',
  'rps_threshold',
  'max_rejection_probability',
]);

function resolveOptions(message: AdmissionControl, scope: Scope): AdmissionControlOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { sr_threshold: successRate, enabled } = message;
  // A threshold that says nothing of its default is one of 0.
  if (successRate !== undefined && percentOf(successRate, 0) < 1) {
    scope.at('sr_threshold').error('conflict', 'Success rate threshold cannot be less than 1.0%.');
  }
  return {
    enabled: {
      runtimeKey: enabled?.runtime_key ?? '',
      byDefault: enabled === undefined ? true : (enabled.default_value ?? false),
    },
    windowMs: durationMsOr(message.sampling_window, DEFAULT_WINDOW_MS),
    aggression: numberOf(message.aggression, float(message.aggression?.default_value ?? 1)),
    successRate: numberOf(successRate, percentOf(successRate, DEFAULT_SUCCESS_PERCENT)),
    rpsThreshold: numberOf(message.rps_threshold, message.rps_threshold?.default_value ?? 0),
    maxRejection: numberOf(
      message.max_rejection_probability,
      percentOf(message.max_rejection_probability, DEFAULT_REJECTION_PERCENT),
    ),
    ...successOf(message, scope.at('success_criteria')),
  };
}

function numberOf(
  message: RuntimePercent | RuntimeUInt32 | RuntimeDouble | undefined,
  byDefault: number,
): RuntimeNumber {
  return { runtimeKey: message?.runtime_key ?? '', byDefault };
}

function percentOf(message: RuntimePercent | undefined, byDefault: number): number {
  return message?.default_value === undefined ? byDefault : float(message.default_value.value ?? 0);
}

function successOf(
  { success_criteria: criteria }: AdmissionControl,
  scope: Scope,
): Pick<AdmissionControlOptions, 'httpSuccess' | 'grpcSuccess'> {
  const ranges = criteria?.http_criteria?.http_success_status?.map(({ start = 0, end = 0 }) => ({
    start,
    end,
  }));
  for (const { start, end } of ranges ?? []) {
    if (start >= 100 && start <= end && end <= 600) continue;
    const text = `invalid HTTP range: [${start}, ${end})`;
    scope.at('http_criteria').error('conflict', text);
  }
  return {
    httpSuccess: ranges ?? DEFAULT_HTTP_SUCCESS,
    grpcSuccess: criteria?.grpc_criteria?.grpc_success_status ?? DEFAULT_GRPC_SUCCESS,
  };
}
