/** What a cluster says of its requests in place of their routes: hash policies and mirrors. */
import type { HttpProtocolOptions } from '../../../shared/api/generated/envoy/extensions/upstreams/http/v3/http_protocol_options.ts';
import type { UpstreamHttpOptions } from '../../../shared/resources/clusters/cluster.ts';
import { ClusterReferences } from '../routes/cluster-references.ts';
import { resolveHashPolicies } from '../routes/hash-policy.ts';
import { resolveMirrorPolicies } from '../routes/resilience.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

export function resolveRequestPolicies(
  { hash_policy: hashes = [], request_mirror_policies: mirrors = [] }: HttpProtocolOptions,
  scope: Scope,
): Pick<UpstreamHttpOptions, 'hashPolicies' | 'mirrorPolicies'> {
  const place = scope.at('request_mirror_policies');
  const [hashPolicies, mirrorPolicies] = [
    resolveHashPolicies(hashes, scope.at('hash_policy')),
    // A cluster comes before those that it names.
    resolveMirrorPolicies(mirrors, new ClusterReferences(undefined), place),
  ];
  return {
    ...optional('hashPolicies', hashPolicies.length === 0 ? undefined : hashPolicies),
    ...optional('mirrorPolicies', mirrorPolicies.length === 0 ? undefined : mirrorPolicies),
  };
}
