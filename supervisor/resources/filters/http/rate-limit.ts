/** Resolves envoy.extensions.filters.http.ratelimit.v3.RateLimit, and what routes say of it. */
import type {
  RateLimit,
  RateLimitPerRoute as PerRouteMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/ratelimit/v3/rate_limit.ts';
import type {
  RateLimitFilterSettings,
  RateLimitOptions,
  RateLimitPerRoute,
} from '../../../../shared/resources/filters/http/limits/rate-limit.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveGrpcService } from '../../grpc-service.ts';
import { statusNumber } from '../../http-status.ts';
import { resolveRuntimeFraction } from '../../matchers/fraction.ts';
import { resolveHeaderValue } from '../../routes/header-changes.ts';
import { resolveRateLimits } from '../../routes/rate-limits.ts';
import type { Scope } from '../../scope.ts';
import { durationMsOr, optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const TYPE = 'envoy.extensions.filters.http.ratelimit.v3.RateLimit';
const PER_ROUTE_TYPE = 'envoy.extensions.filters.http.ratelimit.v3.RateLimitPerRoute';
const NAME = 'envoy.filters.http.ratelimit';
const DEFAULT_TIMEOUT_MS = 20;

export const RATE_LIMIT_FILTER = httpFilter(
  NAME,
  TYPE,
  (message: RateLimit, scope, name): RateLimitFilterSettings | undefined => {
    const options = resolveOptions(message, scope);
    return options && { kind: 'ratelimit', name, options };
  },
  perRoute(PER_ROUTE_TYPE, resolvePerRoute),
);

const FIELDS = knownFields<RateLimit>([
  'domain',
  'stage',
  'request_type',
  'timeout',
  'failure_mode_deny',
  'rate_limited_as_resource_exhausted',
  'rate_limit_service',
  'enable_x_ratelimit_headers',
  'disable_x_envoy_ratelimited_header',
  'rate_limited_status',
  'response_headers_to_add',
  'status_on_error',
  'stat_prefix',
  'filter_enabled',
  'filter_enforced',
  'failure_mode_deny_percent',
  'rate_limits',
  'metadata_namespace',
  'enable_retry_after_header',
]);

function resolveOptions(message: RateLimit, scope: Scope): RateLimitOptions | undefined {
  refuseOtherFields(message, FIELDS, scope);
  const { timeout: _, ...service } = message.rate_limit_service?.grpc_service ?? {};
  const target = resolveGrpcService(service, scope.at('rate_limit_service', 'grpc_service'));
  if (target === undefined) return undefined;
  return {
    target,
    timeoutMs: Math.floor(durationMsOr(message.timeout, DEFAULT_TIMEOUT_MS)),
    domain: message.domain ?? '',
    stage: message.stage ?? 0,
    requestType: requestTypeOf(message),
    ...resolveFailures(message),
    ...resolveAnswers(message, scope),
    statPrefix: message.stat_prefix ?? '',
    rateLimits: resolveRateLimits(message.rate_limits, scope.at('rate_limits')) ?? [],
    metadataNamespace: message.metadata_namespace || NAME,
  };
}

/** What a client is told. */
function resolveAnswers(
  message: RateLimit,
  scope: Scope,
): Pick<
  RateLimitOptions,
  | 'isResourceExhausted'
  | 'rateLimitHeaders'
  | 'tellsRetry'
  | 'tellsLimited'
  | 'limitedStatus'
  | 'responseHeaders'
> {
  const limited = statusNumber(message.rate_limited_status?.code) ?? 429;
  return {
    isResourceExhausted: message.rate_limited_as_resource_exhausted ?? false,
    rateLimitHeaders: message.enable_x_ratelimit_headers === 'DRAFT_VERSION_03',
    tellsRetry: message.enable_retry_after_header ?? false,
    tellsLimited: message.disable_x_envoy_ratelimited_header !== true,
    limitedStatus: limited < 400 ? 429 : limited,
    responseHeaders: (message.response_headers_to_add ?? []).map((option, index) =>
      resolveHeaderValue(option, scope.at('response_headers_to_add', index)),
    ),
  };
}

function requestTypeOf({ request_type: type = '' }: RateLimit): RateLimitOptions['requestType'] {
  return type === 'internal' || type === 'external' ? type : 'both';
}

function resolveFailures(
  message: RateLimit,
): Pick<
  RateLimitOptions,
  'failureModeDeny' | 'failureModeDenyShare' | 'enabled' | 'enforced' | 'statusOnError'
> {
  const { filter_enabled: enabled, filter_enforced: enforced } = message;
  const share = message.failure_mode_deny_percent;
  return {
    failureModeDeny: message.failure_mode_deny ?? false,
    statusOnError: statusNumber(message.status_on_error?.code) ?? 500,
    ...optional('failureModeDenyShare', share && resolveRuntimeFraction(share)),
    ...optional('enabled', enabled && resolveRuntimeFraction(enabled)),
    ...optional('enforced', enforced && resolveRuntimeFraction(enforced)),
  };
}

const PER_ROUTE_FIELDS = knownFields<PerRouteMessage>(
  ['vh_rate_limits', 'rate_limits', 'domain'],
  // Envoy reads it and does nothing by it.
  ['override_option'],
);

function resolvePerRoute(message: PerRouteMessage, scope: Scope): RateLimitPerRoute {
  refuseOtherFields(message, PER_ROUTE_FIELDS, scope);
  return {
    virtualHostLimits:
      typeof message.vh_rate_limits === 'string' ? message.vh_rate_limits : 'OVERRIDE',
    rateLimits: resolveRateLimits(message.rate_limits, scope.at('rate_limits')) ?? [],
    domain: message.domain ?? '',
  };
}
