/** What a cluster says of its requests in place of their routes: hash policies, mirrors and retries. */
import type { HttpProtocolOptions } from '../../../shared/api/generated/envoy/extensions/upstreams/http/v3/http_protocol_options.ts';
import type { UpstreamHttpOptions } from '../../../shared/resources/clusters/cluster.ts';
import { ClusterReferences } from '../routes/cluster-references.ts';
import { resolveHashPolicies } from '../routes/hash-policy.ts';
import { resolveMirrorPolicies } from '../routes/resilience.ts';
import { resolveRetryPolicy } from '../routes/retry-policy.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

export function resolveRequestPolicies(
  message: HttpProtocolOptions,
  scope: Scope,
): Pick<UpstreamHttpOptions, 'hashPolicies' | 'mirrorPolicies' | 'retryPolicy'> {
  const { retry_policy: retry } = message;
  const { hash_policy: hashes = [], request_mirror_policies: mirrors = [] } = message;
  const place = scope.at('request_mirror_policies');
  const [hashPolicies, mirrorPolicies] = [
    resolveHashPolicies(hashes, scope.at('hash_policy')),
    // A cluster comes before those that it names.
    resolveMirrorPolicies(mirrors, new ClusterReferences(undefined), place),
  ];
  return {
    ...optional('retryPolicy', retry && resolveRetryPolicy(retry, scope.at('retry_policy'))),
    ...optional('hashPolicies', hashPolicies.length === 0 ? undefined : hashPolicies),
    ...optional('mirrorPolicies', mirrorPolicies.length === 0 ? undefined : mirrorPolicies),
  };
}
