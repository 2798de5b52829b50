/** How a policy that holds others resolves them; made by the list of all policies. */
import type { LoadBalancingPolicy } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { NestedPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import type { ExtensionMessage } from '../extensions.ts';
import type { Scope } from '../scope.ts';

/** What a cluster may say of its policy: one that chooses hosts, or that it brings its own. */
export type Policy = NestedPolicy | { readonly kind: 'cluster_provided' };

/** What stands for a policy after a reported problem. */
export const ANY_POLICY: NestedPolicy = { kind: 'round_robin' };

export interface ChildPolicies {
  /** The first policy that is known counts. */
  resolve(message: LoadBalancingPolicy | undefined, place: Scope): Policy;
  firstKnown(message: LoadBalancingPolicy | undefined, place: Scope): ExtensionMessage | undefined;
}
