/** Resolves envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit, also per route. */
import type { LocalRateLimit } from '../../../shared/api/generated/envoy/extensions/filters/http/local_ratelimit/v3/local_rate_limit.ts';
import type { TokenBucket } from '../../../shared/api/generated/envoy/type/v3/token_bucket.ts';
import type { HttpFilter, LocalRateLimitOptions } from '../../../shared/resources/http-filters.ts';
import type { RateLimitBucket } from '../../../shared/resources/rate-limit-bucket.ts';
import type { RuntimeFraction } from '../../../shared/resources/matchers.ts';
import { formatPlace } from '../../config/problem.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { statusNumber } from '../http-status.ts';
import { resolveRuntimeFraction } from '../matchers/fraction.ts';
import { resolveHeaderValue } from '../routes/header-changes.ts';
import type { Scope } from '../scope.ts';
import { durationMs, optional } from '../values.ts';

export const LOCAL_RATE_LIMIT_TYPE =
  'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';

export const LOCAL_RATE_LIMIT_FILTER = {
  ...extension(
    'envoy.filters.http.local_ratelimit',
    LOCAL_RATE_LIMIT_TYPE,
    (message: LocalRateLimit, scope, name): HttpFilter => ({
      kind: 'local_ratelimit',
      name,
      options: resolveLocalRateLimit(message, scope),
    }),
  ),
  isTerminal: false,
};

const FIELDS = knownFields<LocalRateLimit>(
  [
    'stat_prefix',
    'status',
    'token_bucket',
    'filter_enabled',
    'filter_enforced',
    'response_headers_to_add',
    'local_rate_limit_per_downstream_connection',
    'enable_x_ratelimit_headers',
  ],
  // Both are about limits by descriptor, which are refused.
  ['stage', 'vh_rate_limits', 'always_consume_default_token_bucket', 'max_dynamic_descriptors'],
);

const NEVER: RuntimeFraction = { numerator: 0, denominator: 100 };
/** The reference refuses shorter intervals in the same words. */
const FILL_INTERVAL_MIN_MS = 50;

export function resolveLocalRateLimit(
  message: LocalRateLimit,
  scope: Scope,
): LocalRateLimitOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { filter_enabled: enabled, filter_enforced: enforced, token_bucket: bucket } = message;
  return {
    statPrefix: message.stat_prefix ?? '',
    status: statusNumber(message.status?.code) ?? 429,
    enabled: enabled === undefined ? NEVER : resolveRuntimeFraction(enabled),
    enforced: enforced === undefined ? NEVER : resolveRuntimeFraction(enforced),
    responseHeaders: (message.response_headers_to_add ?? []).map((option, index) =>
      resolveHeaderValue(option, scope.at('response_headers_to_add', index)),
    ),
    perConnection: message.local_rate_limit_per_downstream_connection ?? false,
    rateLimitHeaders: message.enable_x_ratelimit_headers === 'DRAFT_VERSION_03',
    ...optional('bucket', bucket && resolveRateLimitBucket(bucket, scope.at('token_bucket'))),
  };
}

export function resolveRateLimitBucket(message: TokenBucket, scope: Scope): RateLimitBucket {
  const fillIntervalMs = durationMs(message.fill_interval ?? '0s');
  if (fillIntervalMs < FILL_INTERVAL_MIN_MS) {
    scope
      .at('fill_interval')
      .error('conflict', 'local rate limit token bucket fill timer must be >= 50ms');
  }
  return {
    maxTokens: message.max_tokens ?? 0,
    tokensPerFill: message.tokens_per_fill ?? 1,
    fillIntervalMs,
    place: formatPlace(scope.place),
  };
}
