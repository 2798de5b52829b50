/**
 * What routes, virtual hosts and whole route configurations say about retries, hedging and
 * mirroring.
 */
import type {
  HedgePolicy as HedgePolicyMessage,
  RetryPolicy as RetryPolicyMessage,
  RouteAction_RequestMirrorPolicy as MirrorMessage,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { Any } from '../../../shared/api/well-known.ts';
import type { RequestMirrorPolicy } from '../../../shared/resources/routes/route.ts';
import type { HedgePolicy, RetryPolicy } from '../../../shared/resources/routes/retry-policy.ts';
import { toByteString } from '../../../shared/regex/byte-string.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { resolveHeaderRules } from '../filters/http/header-mutation.ts';
import { resolveRuntimeFraction } from '../matchers/fraction.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import type { ClusterReferences } from './cluster-references.ts';
import { resolveHedgePolicy, resolveRetryPolicy } from './retry-policy.ts';

const MIRROR_FIELDS = knownFields<MirrorMessage>(
  [
    'cluster',
    'cluster_header',
    'runtime_fraction',
    'disable_shadow_host_suffix_append',
    'host_rewrite_literal',
    'request_headers_mutations',
  ],
  ['trace_sampled'],
);

interface ResilienceMessage {
  readonly retry_policy?: RetryPolicyMessage;
  readonly retry_policy_typed_config?: Any;
  readonly hedge_policy?: HedgePolicyMessage;
}

interface Resilience {
  readonly retryPolicy?: RetryPolicy;
  readonly hedgePolicy?: HedgePolicy;
}

export function resolveResilience(message: ResilienceMessage, scope: Scope): Resilience {
  const { retry_policy: retry, hedge_policy: hedge } = message;
  if (message.retry_policy_typed_config !== undefined) {
    scope
      .at('retry_policy_typed_config')
      .warning('no_effect', 'it has no effect, as in Envoy', 'use retry_policy');
  }
  return {
    ...optional(
      'retryPolicy',
      retry === undefined ? undefined : resolveRetryPolicy(retry, scope.at('retry_policy')),
    ),
    ...optional(
      'hedgePolicy',
      hedge === undefined ? undefined : resolveHedgePolicy(hedge, scope.at('hedge_policy')),
    ),
  };
}

export function resolveMirrorPolicies(
  messages: readonly MirrorMessage[] | undefined,
  references: ClusterReferences,
  scope: Scope,
): readonly RequestMirrorPolicy[] {
  return (messages ?? []).map((message, index) =>
    resolveMirrorPolicy(message, references, scope.at(index)),
  );
}

function resolveMirrorPolicy(
  message: MirrorMessage,
  references: ClusterReferences,
  scope: Scope,
): RequestMirrorPolicy {
  refuseOtherFields(message, MIRROR_FIELDS, scope);
  const { cluster = '', cluster_header: header = '', runtime_fraction: fraction } = message;
  if ((cluster === '') === (header === '')) {
    scope.error(
      'conflict',
      'Exactly one of cluster or cluster_header in request mirror policy need to be specified',
    );
  }
  if (cluster !== '') {
    references.check(cluster, 'route: unknown shadow cluster', scope.at('cluster'));
  }
  const { host_rewrite_literal: host = '', request_headers_mutations: mutations } = message;
  return {
    ...optional('hostRewriteLiteral', host === '' ? undefined : toByteString(host)),
    ...optional(
      'requestMutations',
      mutations && resolveHeaderRules(mutations, scope.at('request_headers_mutations')),
    ),
    ...optional('cluster', cluster === '' ? undefined : cluster),
    ...optional('clusterHeader', header === '' ? undefined : asciiLower(header)),
    ...optional('fraction', fraction === undefined ? undefined : resolveRuntimeFraction(fraction)),
    disableShadowHostSuffixAppend: message.disable_shadow_host_suffix_append ?? false,
  };
}
