/** Resolves envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit, also per route. */
import type { LocalRateLimit } from '../../../../shared/api/generated/envoy/extensions/filters/http/local_ratelimit/v3/local_rate_limit.ts';
import type { TokenBucket } from '../../../../shared/api/generated/envoy/type/v3/token_bucket.ts';
import type {
  LocalRateLimitFilterSettings,
  LocalRateLimitOptions,
} from '../../../../shared/resources/filters/http/local-rate-limit.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  DescriptorLimit,
  RateLimitPolicy,
} from '../../../../shared/resources/routes/rate-limits.ts';
import type { LocalRateLimitDescriptor } from '../../../../shared/api/generated/envoy/extensions/common/ratelimit/v3/ratelimit.ts';
import type { RateLimitBucket } from '../../../../shared/resources/routes/rate-limit-bucket.ts';
import type { RuntimeFraction } from '../../../../shared/resources/routes/matchers.ts';
import { formatPlace } from '../../../config/problem.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { statusNumber } from '../../http-status.ts';
import { resolveRuntimeFraction } from '../../matchers/fraction.ts';
import { resolveRateLimits } from '../../routes/rate-limits.ts';
import { resolveHeaderValue } from '../../routes/header-changes.ts';
import type { Scope } from '../../scope.ts';
import { durationMs, optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const LOCAL_RATE_LIMIT_TYPE = 'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit';

export const LOCAL_RATE_LIMIT_FILTER = httpFilter(
  'envoy.filters.http.local_ratelimit',
  LOCAL_RATE_LIMIT_TYPE,
  (message: LocalRateLimit, scope, name): LocalRateLimitFilterSettings => ({
    kind: 'local_ratelimit',
    name,
    options: resolveLocalRateLimit(message, scope),
  }),
  perRoute(LOCAL_RATE_LIMIT_TYPE, resolveLocalRateLimit),
);

const FIELDS = knownFields<LocalRateLimit>([
  'stat_prefix',
  'status',
  'token_bucket',
  'filter_enabled',
  'filter_enforced',
  'response_headers_to_add',
  'local_rate_limit_per_downstream_connection',
  'enable_x_ratelimit_headers',
  'descriptors',
  'stage',
  'vh_rate_limits',
  'always_consume_default_token_bucket',
  'rate_limits',
  'request_headers_to_add_when_not_enforced',
  'rate_limited_as_resource_exhausted',
  'max_dynamic_descriptors',
  'enable_retry_after_header',
]);

/** Envoy's own default. */
const BUCKETS_PER_WILDCARD = 20;
/** They are looked through for each request. */
const BUCKETS_PER_WILDCARD_MAX = 100_000;

const NEVER: RuntimeFraction = { numerator: 0, denominator: 100 };
/** Envoy refuses shorter intervals in the same words. */
const FILL_INTERVAL_MIN_MS = 50;

function resolveLocalRateLimit(message: LocalRateLimit, scope: Scope): LocalRateLimitOptions {
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
    tellsRetry: message.enable_retry_after_header ?? false,
    ...resolveDescriptors(message, scope),
    ...optional('bucket', bucket && resolveRateLimitBucket(bucket, scope.at('token_bucket'))),
  };
}

type ByDescriptor = Pick<
  LocalRateLimitOptions,
  | 'descriptors'
  | 'bucketsPerWildcard'
  | 'stage'
  | 'virtualHostLimits'
  | 'alwaysTakesOwn'
  | 'notEnforcedHeaders'
  | 'isResourceExhausted'
  | 'rateLimits'
>;

function resolveDescriptors(message: LocalRateLimit, scope: Scope): ByDescriptor {
  return {
    descriptors: (message.descriptors ?? []).map((descriptor, index) =>
      resolveDescriptor(descriptor, scope.at('descriptors', index)),
    ),
    bucketsPerWildcard: resolveWildcards(message, scope),
    stage: message.stage ?? 0,
    virtualHostLimits:
      typeof message.vh_rate_limits === 'string' ? message.vh_rate_limits : 'OVERRIDE',
    alwaysTakesOwn: message.always_consume_default_token_bucket ?? true,
    notEnforcedHeaders: (message.request_headers_to_add_when_not_enforced ?? []).map(
      (option, index) =>
        resolveHeaderValue(option, scope.at('request_headers_to_add_when_not_enforced', index)),
    ),
    isResourceExhausted: message.rate_limited_as_resource_exhausted ?? false,
    ...optional('rateLimits', resolveOwnRateLimits(message, scope.at('rate_limits'))),
  };
}

function resolveWildcards(
  { max_dynamic_descriptors: configured = BUCKETS_PER_WILDCARD }: LocalRateLimit,
  scope: Scope,
): number {
  if (configured > BUCKETS_PER_WILDCARD_MAX) {
    scope
      .at('max_dynamic_descriptors')
      .unsupported(`more than ${BUCKETS_PER_WILDCARD_MAX} of them are`, 'set a smaller number');
  }
  return configured;
}

/** The filter's own policies, of which less can be asked than of those of routes. */
function resolveOwnRateLimits(
  { rate_limits: messages }: LocalRateLimit,
  scope: Scope,
): readonly RateLimitPolicy[] | undefined {
  for (const [index, message] of (messages ?? []).entries()) {
    const place = scope.at(index);
    const { stage = 0, disable_key: key = '', limit } = message;
    if (stage !== 0 || key !== '') {
      place.error('conflict', "'stage' field and 'disable_key' field are not supported");
    }
    if (limit !== undefined) place.error('conflict', "'limit' field is not supported");
    if (message.apply_on_stream_done === true) {
      place
        .at('apply_on_stream_done')
        .unsupported("field 'apply_on_stream_done' is", 'leave it out');
    }
  }
  return resolveRateLimits(messages, scope);
}

const DESCRIPTOR_FIELDS = knownFields<LocalRateLimitDescriptor>([
  'entries',
  'token_bucket',
  'shadow_mode',
]);

function resolveDescriptor(message: LocalRateLimitDescriptor, scope: Scope): DescriptorLimit {
  refuseOtherFields(message, DESCRIPTOR_FIELDS, scope);
  const entries = (message.entries ?? []).map(({ key = '', value = '' }) => ({
    key: toByteString(key),
    value: toByteString(value),
  }));
  const bucket = resolveRateLimitBucket(message.token_bucket ?? {}, scope.at('token_bucket'));
  return { entries, bucket, ...(message.shadow_mode === true ? { isShadow: true } : {}) };
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
