/** Resolves envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit, also per route. */
import type { BandwidthLimit } from '../../../../shared/api/generated/envoy/extensions/filters/http/bandwidth_limit/v3/bandwidth_limit.ts';
import type {
  BandwidthLimitFilterSettings,
  BandwidthLimitOptions,
} from '../../../../shared/resources/filters/http/limits/bandwidth-limit.ts';
import { formatPlace } from '../../../config/problem.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr, optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const TYPE = 'envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit';
const DEFAULT_FILL_MS = 50;
const SECOND_MS = 1000;
const KILOBYTE = 1024;

export const BANDWIDTH_LIMIT_FILTER = httpFilter(
  'envoy.filters.http.bandwidth_limit',
  TYPE,
  (message: BandwidthLimit, scope, name): BandwidthLimitFilterSettings => ({
    kind: 'bandwidth_limit',
    name,
    options: resolveBandwidthLimit(message, scope),
  }),
  perRoute(TYPE, (message: BandwidthLimit, scope) => {
    if (message.limit_kbps === undefined) {
      scope.error('conflict', 'limit must be set for per route filter config');
    }
    return resolveBandwidthLimit(message, scope);
  }),
);

const FIELDS = knownFields<BandwidthLimit>([
  'stat_prefix',
  'enable_mode',
  'limit_kbps',
  'fill_interval',
  'runtime_enabled',
  'enable_response_trailers',
  'response_trailer_prefix',
]);

function resolveBandwidthLimit(message: BandwidthLimit, scope: Scope): BandwidthLimitOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { enable_mode: mode, limit_kbps: kilobytes, response_trailer_prefix: prefix } = message;
  const bytes = Number(kilobytes ?? 0) * KILOBYTE;
  const bucket = {
    maxTokens: bytes,
    tokensPerFill: bytes,
    fillIntervalMs: SECOND_MS,
    place: formatPlace(scope.place),
  };
  const trailers = message.enable_response_trailers === true ? trailerPrefix(prefix) : undefined;
  return {
    statPrefix: message.stat_prefix ?? '',
    limitsRequests: mode === 'REQUEST' || mode === 'REQUEST_AND_RESPONSE',
    limitsResponses: mode === 'RESPONSE' || mode === 'REQUEST_AND_RESPONSE',
    ...optional('bucket', kilobytes === undefined ? undefined : bucket),
    fillIntervalMs: durationMsOr(message.fill_interval, DEFAULT_FILL_MS),
    enabled: {
      runtimeKey: message.runtime_enabled?.runtime_key ?? '',
      byDefault: message.runtime_enabled?.default_value ?? true,
    },
    ...optional('trailerPrefix', trailers),
  };
}

function trailerPrefix(prefix: string | undefined): string {
  return prefix === undefined || prefix === '' ? '' : `${prefix.toLowerCase()}-`;
}
