/** Resolves the load balancer that is a module of the operator's own. */
import type { ScriptBalancer } from '../../../shared/api/generated/sluice/load_balancing_policies/script/v1/script.ts';
import type { NestedPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import { SCRIPT_BALANCER_TYPE } from '../../scripts/find-scripts.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import type { Scope } from '../scope.ts';
import { resolveModule } from '../scripts.ts';
import { ANY_POLICY, type ChildPolicies, type Policy } from './child-policies.ts';

export function scriptPolicy(children: ChildPolicies): ExtensionFactory<Policy> {
  return extension(
    'sluice.load_balancing_policies.script',
    SCRIPT_BALANCER_TYPE,
    (message: ScriptBalancer, scope): Policy => scriptBalancer(message, children, scope),
  );
}

function scriptBalancer(message: ScriptBalancer, children: ChildPolicies, scope: Scope): Policy {
  const named = resolveModule(message, scope);
  const child = resolveFallback(message, children, scope.at('fallback_policy'));
  return named === undefined ? child : { kind: 'script', ...named, child };
}

function resolveFallback(
  { fallback_policy: fallback }: ScriptBalancer,
  children: ChildPolicies,
  place: Scope,
): NestedPolicy {
  if (fallback === undefined) return ANY_POLICY;
  const child = children.resolve(fallback, place);
  if (child.kind !== 'cluster_provided') return child;
  place.unsupported('cluster_provided behind it is');
  return ANY_POLICY;
}
