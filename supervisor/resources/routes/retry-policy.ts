/** Resolves envoy.config.route.v3.RetryPolicy and HedgePolicy. */
import { dictionary } from '../../../shared/text/dictionary.ts';
import type {
  HedgePolicy as HedgePolicyMessage,
  RetryPolicy as RetryPolicyMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { OmitHostMetadataConfig } from '../../../shared/api/generated/envoy/extensions/retry/host/omit_host_metadata/v3/omit_host_metadata_config.ts';
import type {
  HedgePolicy,
  RetryHostPredicate,
  RetryPolicy,
} from '../../../shared/resources/routes/retry-policy.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveMetadata } from '../metadata.ts';
import { resolveHeaderMatchers } from '../matchers/header-matcher.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { durationMs, durationMsOr, optional } from '../values.ts';

const FIELDS = knownFields<RetryPolicyMessage>([
  'retry_on',
  'num_retries',
  'per_try_timeout',
  'per_try_idle_timeout',
  'retry_priority',
  'retry_host_predicate',
  'host_selection_retry_max_attempts',
  'retriable_status_codes',
  'retry_back_off',
  'rate_limited_retry_back_off',
  'retriable_headers',
  'retriable_request_headers',
  'retry_options_predicates',
]);
const HEDGE_FIELDS = knownFields<HedgePolicyMessage>([
  'initial_requests',
  'hedge_on_per_try_timeout',
  'additional_request_chance',
]);

export const HOST_PREDICATES = new ExtensionRegistry<RetryHostPredicate>(
  'envoy.retry_host_predicates',
  'retry host predicate',
  {
    previous_hosts: extension(
      'envoy.retry_host_predicates.previous_hosts',
      'envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate',
      () => ({ kind: 'previous_hosts' }),
    ),
    omit_canary_hosts: extension(
      'envoy.retry_host_predicates.omit_canary_hosts',
      'envoy.extensions.retry.host.omit_canary_hosts.v3.OmitCanaryHostsPredicate',
      () => ({ kind: 'omit_canary_hosts' }),
    ),
    omit_host_metadata: extension(
      'envoy.retry_host_predicates.omit_host_metadata',
      'envoy.extensions.retry.host.omit_host_metadata.v3.OmitHostMetadataConfig',
      ({ metadata_match: match }: OmitHostMetadataConfig) => ({
        kind: 'omit_host_metadata',
        labels: resolveMetadata(match)?.['envoy.lb'] ?? dictionary(),
      }),
    ),
  },
);

/** Envoy brings none either. */
const OPTIONS_PREDICATES = new ExtensionRegistry<never>(
  'envoy.retry_options_predicates',
  'retry options predicate',
  [],
);

/** Gives how often priorities that were tried are left out again. */
export const PRIORITIES = new ExtensionRegistry<number>(
  'envoy.retry_priorities',
  'retry priority',
  [
    extension(
      'envoy.retry_priorities.previous_priorities',
      'envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig',
      ({ update_frequency = 1 }: { readonly update_frequency?: number }) => update_frequency,
    ),
  ],
);

const DEFAULT_BASE_MS = 25;
const RATE_LIMITED_MAX_MS = 300_000;

export function resolveRetryPolicy(message: RetryPolicyMessage, scope: Scope): RetryPolicy {
  refuseOtherFields(message, FIELDS, scope);
  const { retry_priority: priority, rate_limited_retry_back_off: rateLimited } = message;
  for (const [index, predicate] of (message.retry_options_predicates ?? []).entries()) {
    OPTIONS_PREDICATES.resolve(predicate, scope.at('retry_options_predicates', index));
  }
  const predicates = (message.retry_host_predicate ?? []).map((predicate, index) =>
    HOST_PREDICATES.resolve(predicate, scope.at('retry_host_predicate', index)),
  );
  return {
    retryOn: splitConditions(message.retry_on ?? ''),
    numRetries: message.num_retries ?? 1,
    ...optional('perTryTimeoutMs', duration(message.per_try_timeout)),
    ...optional('perTryIdleTimeoutMs', duration(message.per_try_idle_timeout)),
    retriableStatusCodes: message.retriable_status_codes ?? [],
    retriableHeaders: resolveHeaderMatchers(
      message.retriable_headers,
      scope.at('retriable_headers'),
    ),
    retriableRequestHeaders: resolveHeaderMatchers(
      message.retriable_request_headers,
      scope.at('retriable_request_headers'),
    ),
    ...resolveBackOff(message, scope.at('retry_back_off')),
    ...optional(
      'rateLimitedBackOff',
      rateLimited === undefined ? undefined : resolveRateLimited(rateLimited),
    ),
    hostPredicates: predicates.filter((predicate) => predicate !== undefined),
    hostSelectionRetryMaxAttempts: Number(message.host_selection_retry_max_attempts ?? '1'),
    ...optional(
      'previousPrioritiesUpdateFrequency',
      priority === undefined ? undefined : PRIORITIES.resolve(priority, scope.at('retry_priority')),
    ),
  };
}

function splitConditions(text: string): readonly string[] {
  return text
    .split(',')
    .map((condition) => condition.trim())
    .filter((condition) => condition !== '');
}

function duration(text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationMs(text);
}

function resolveBackOff(
  { retry_back_off: message }: RetryPolicyMessage,
  scope: Scope,
): Pick<RetryPolicy, 'backOffBaseMs' | 'backOffMaxMs'> {
  const base = durationMsOr(message?.base_interval, DEFAULT_BASE_MS);
  // The API's resolution is a millisecond.
  const backOffBaseMs = Math.max(1, Math.trunc(base));
  const backOffMaxMs = Math.trunc(durationMsOr(message?.max_interval, backOffBaseMs * 10));
  if (backOffMaxMs < backOffBaseMs) {
    scope
      .at('max_interval')
      .error(
        'conflict',
        'retry_policy.max_interval must greater than or equal to the base_interval',
      );
  }
  return { backOffBaseMs, backOffMaxMs };
}

function resolveRateLimited(
  message: NonNullable<RetryPolicyMessage['rate_limited_retry_back_off']>,
): NonNullable<RetryPolicy['rateLimitedBackOff']> {
  return {
    maxIntervalMs: durationMsOr(message.max_interval, RATE_LIMITED_MAX_MS),
    resetHeaders: (message.reset_headers ?? []).map(({ name = '', format }) => ({
      name: asciiLower(name),
      format: format === 'UNIX_TIMESTAMP' ? 'UNIX_TIMESTAMP' : 'SECONDS',
    })),
  };
}

export function resolveHedgePolicy(message: HedgePolicyMessage, scope: Scope): HedgePolicy {
  refuseOtherFields(message, HEDGE_FIELDS, scope);
  for (const field of ['initial_requests', 'additional_request_chance'] as const) {
    if (message[field] === undefined) continue;
    scope.at(field).warning('no_effect', `'${field}' has no effect, as in Envoy`);
  }
  return {
    initialRequests: message.initial_requests ?? 1,
    hedgeOnPerTryTimeout: message.hedge_on_per_try_timeout ?? false,
  };
}
