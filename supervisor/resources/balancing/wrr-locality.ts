/** Resolves the policy that gives localities their weights, whose hosts have weights by their loads. */
import type { WrrLocality } from '../../../shared/api/generated/envoy/extensions/load_balancing_policies/wrr_locality/v3/wrr_locality.ts';
import { extension, type ExtensionFactory } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { ANY_POLICY, type ChildPolicies, type Policy } from './child-policies.ts';

const FIELDS = knownFields<WrrLocality>(['endpoint_picking_policy']);

export function wrrLocalityPolicy(children: ChildPolicies): ExtensionFactory<Policy> {
  return extension(
    'envoy.load_balancing_policies.wrr_locality',
    'envoy.extensions.load_balancing_policies.wrr_locality.v3.WrrLocality',
    (message: WrrLocality, scope): Policy => wrrLocality(message, children, scope),
  );
}

/** As in Envoy, its child is one policy alone, with a locality's weights in place of none. */
function wrrLocality(message: WrrLocality, children: ChildPolicies, scope: Scope): Policy {
  refuseOtherFields(message, FIELDS, scope);
  const place = scope.at('endpoint_picking_policy');
  if (children.firstKnown(message.endpoint_picking_policy, place) === undefined) {
    place.error('conflict', 'No supported endpoint picking policy.');
    return ANY_POLICY;
  }
  const policy = children.resolve(message.endpoint_picking_policy, place);
  if (policy.kind === 'client_side_weighted_round_robin' && policy.localities === undefined) {
    return { ...policy, localities: { kind: 'weighted' } };
  }
  place.error(
    'conflict',
    'Currently WrrLocalityLoadBalancer only supports ClientSideWeightedRoundRobinLoadBalancer as its endpoint picking policy.',
  );
  return policy;
}
