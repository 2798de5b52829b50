/** How a policy that holds others resolves them; made by the list of all policies. */
import type { LoadBalancingPolicy } from '../../../shared/api/generated/envoy/config/cluster/v3/cluster.ts';
import type { NestedPolicy, ScriptPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import type { ExtensionMessage } from '../extensions.ts';
import type { Scope } from '../scope.ts';

/** One that chooses hosts, or what says that the cluster brings its own. */
export type ChildPolicy = NestedPolicy | { readonly kind: 'cluster_provided' };

/** What a cluster may say of its policy. */
export type Policy = ChildPolicy | ScriptPolicy;

/** What stands for a policy after a reported problem. */
export const ANY_POLICY: NestedPolicy = { kind: 'round_robin' };

export interface ChildPolicies {
  /** The first policy that is known counts. */
  resolve(message: LoadBalancingPolicy | undefined, place: Scope): ChildPolicy;
  firstKnown(message: LoadBalancingPolicy | undefined, place: Scope): ExtensionMessage | undefined;
}
