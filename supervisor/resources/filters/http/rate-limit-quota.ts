/** Resolves envoy.extensions.filters.http.rate_limit_quota.v3, for a chain and per route. */
import type { Matcher } from '../../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type {
  RateLimitQuotaBucketSettings as BucketMessage,
  RateLimitQuotaBucketSettings_BucketIdBuilder_ValueBuilder as ValueMessage,
  RateLimitQuotaBucketSettings_DenyResponseSettings as DenyMessage,
  RateLimitQuotaFilterConfig,
  RateLimitQuotaOverride,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/rate_limit_quota/v3/rate_limit_quota.ts';
import type { RateLimitStrategy } from '../../../../shared/api/generated/envoy/type/v3/ratelimit_strategy.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type {
  QuotaBucketSettings,
  QuotaIdEntry,
  QuotaRules,
  QuotaStrategy,
  RateLimitQuotaFilterSettings,
} from '../../../../shared/resources/filters/http/limits/rate-limit-quota.ts';
import { extension, ExtensionRegistry } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveGrpcService } from '../../grpc-service.ts';
import { statusNumber } from '../../http-status.ts';
import { resolveRuntimeFraction } from '../../matchers/fraction.ts';
import { MATCH_INPUTS } from '../../matchers/match-inputs.ts';
import { resolveMatcherTree } from '../../matchers/matcher-tree.ts';
import { resolveHeaderValue } from '../../routes/header-changes.ts';
import type { Scope } from '../../scope.ts';
import { durationMs, durationMsOr, optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const PACKAGE = 'envoy.extensions.filters.http.rate_limit_quota.v3';
const NAME = 'envoy.filters.http.rate_limit_quota';
const SECOND_MS = 1000;
const REPORT_MS = 5000;
/** Seconds of envoy.type.v3.RateLimitUnit. */
const UNIT_SECONDS: ReadonlyMap<string, number> = new Map([
  ['SECOND', 1],
  ['MINUTE', 60],
  ['HOUR', 3600],
  ['DAY', 86_400],
  ['MONTH', 2_592_000],
  ['YEAR', 31_536_000],
  ['WEEK', 604_800],
]);

const QUOTA_BUCKETS = new ExtensionRegistry<QuotaBucketSettings>(NAME, 'rate limit quota action', {
  quota_bucket: extension('bucket', `${PACKAGE}.RateLimitQuotaBucketSettings`, resolveBucket),
});

export const RATE_LIMIT_QUOTA_FILTER = httpFilter(
  NAME,
  `${PACKAGE}.RateLimitQuotaFilterConfig`,
  (message: RateLimitQuotaFilterConfig, scope, name): RateLimitQuotaFilterSettings | undefined => {
    const target = resolveGrpcService(message.rlqs_server ?? {}, scope.at('rlqs_server'));
    if (target === undefined) return undefined;
    const { filter_enabled: enabled, filter_enforced: enforced } = message;
    return {
      kind: 'rate_limit_quota',
      name,
      options: {
        target,
        ...resolveRules(message, scope),
        ...optional('enabled', enabled && resolveRuntimeFraction(enabled)),
        ...optional('enforced', enforced && resolveRuntimeFraction(enforced)),
        notEnforcedHeaders: (message.request_headers_to_add_when_not_enforced ?? []).map(
          (option, index) =>
            resolveHeaderValue(option, scope.at('request_headers_to_add_when_not_enforced', index)),
        ),
      },
    };
  },
  perRoute(`${PACKAGE}.RateLimitQuotaOverride`, (message: RateLimitQuotaOverride, scope) =>
    resolveRules(message, scope),
  ),
);

function resolveRules(
  { domain = '', bucket_matchers: matcher }: RateLimitQuotaOverride,
  scope: Scope,
): QuotaRules {
  const place = scope.at('bucket_matchers');
  return { domain, ...optional('tree', matcher && resolveTree(matcher, place)) };
}

function resolveTree(matcher: Matcher, scope: Scope): QuotaRules['tree'] {
  const rules = {
    resolveAction: (
      action: Parameters<typeof QUOTA_BUCKETS.resolve>[0],
      place: Scope,
    ): QuotaBucketSettings | undefined => QUOTA_BUCKETS.resolve(action, place),
    checkInput: (): void => undefined,
  };
  return resolveMatcherTree(matcher, rules, scope);
}

const BUCKET_FIELDS = knownFields<BucketMessage>([
  'bucket_id_builder',
  'reporting_interval',
  'deny_response_settings',
  'no_assignment_behavior',
  'expired_assignment_behavior',
]);

function resolveBucket(message: BucketMessage, scope: Scope): QuotaBucketSettings {
  refuseOtherFields(message, BUCKET_FIELDS, scope);
  const builders = message.bucket_id_builder?.bucket_id_builder ?? {};
  const place = scope.at('bucket_id_builder', 'bucket_id_builder');
  const id = Object.entries(builders).map(([key, value]) =>
    resolveEntry(key, value, place.at(key)),
  );
  return {
    kind: 'quota_bucket',
    id: id.filter((entry) => entry !== undefined),
    reportMs: durationMsOr(message.reporting_interval, REPORT_MS),
    unassigned: resolveStrategy(
      message.no_assignment_behavior?.fallback_rate_limit,
      scope.at('no_assignment_behavior', 'fallback_rate_limit'),
    ),
    ...optional('expired', resolveExpired(message, scope.at('expired_assignment_behavior'))),
    denial: resolveDenial(message.deny_response_settings ?? {}, scope),
  };
}

function resolveEntry(key: string, message: ValueMessage, scope: Scope): QuotaIdEntry | undefined {
  const { string_value: text, custom_value: custom } = message;
  if (custom === undefined) return { key, value: { kind: 'text', text: text ?? '' } };
  const input = MATCH_INPUTS.resolve(custom, scope.at('custom_value'));
  return input && { key, value: { kind: 'input', input } };
}

/** Without one everything passes. */
function resolveStrategy(message: RateLimitStrategy | undefined, scope: Scope): QuotaStrategy {
  const { blanket_rule: rule, requests_per_time_unit: rate, token_bucket: bucket } = message ?? {};
  if (rate !== undefined) {
    const seconds = UNIT_SECONDS.get(String(rate.time_unit ?? 'UNKNOWN'));
    if (seconds === undefined) {
      scope
        .at('requests_per_time_unit', 'time_unit')
        .error('conflict', 'a number of requests needs a unit of time');
    }
    const count = Number(rate.requests_per_time_unit ?? 0);
    return tokens(count, count, (seconds ?? 1) * SECOND_MS);
  }
  if (bucket !== undefined) {
    const fillMs = durationMs(bucket.fill_interval ?? '1s');
    return tokens(bucket.max_tokens ?? 0, bucket.tokens_per_fill ?? 1, fillMs);
  }
  return { kind: rule === 'DENY_ALL' ? 'deny' : 'allow' };
}

function tokens(maxTokens: number, tokensPerFill: number, fillIntervalMs: number): QuotaStrategy {
  if (maxTokens === 0 || tokensPerFill === 0) return { kind: 'deny' };
  return { kind: 'tokens', maxTokens, tokensPerFill, fillIntervalMs };
}

function resolveExpired(
  { expired_assignment_behavior: message }: BucketMessage,
  scope: Scope,
): QuotaBucketSettings['expired'] {
  if (message === undefined) return undefined;
  const { expired_assignment_behavior_timeout: timeout, fallback_rate_limit: fallback } = message;
  return {
    timeoutMs: timeout === undefined ? Infinity : durationMs(timeout),
    strategy:
      message.reuse_last_assignment === undefined
        ? resolveStrategy(fallback, scope.at('fallback_rate_limit'))
        : 'reuse',
  };
}

/** The words of a gRPC status are the body of the answer, as in Envoy. */
function resolveDenial(message: DenyMessage, scope: Scope): QuotaBucketSettings['denial'] {
  const { http_status: status, http_body: body, grpc_status: grpc } = message;
  const bytes = Buffer.from(typeof body === 'string' ? body : '', 'base64').toString('latin1');
  return {
    status: statusNumber(status?.code) ?? 429,
    body: grpc?.message === undefined ? bytes : toByteString(grpc.message),
    ...optional('grpcStatus', grpc?.code),
    headers: (message.response_headers_to_add ?? []).map((option, index) =>
      resolveHeaderValue(
        option,
        scope.at('deny_response_settings', 'response_headers_to_add', index),
      ),
    ),
  };
}
