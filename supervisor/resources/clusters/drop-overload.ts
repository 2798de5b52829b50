/**
 * Resolves which share of a cluster's requests is dropped:
 * ClusterLoadAssignment.Policy.drop_overloads.
 */
import type { ClusterLoadAssignment_Policy_DropOverload } from '../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type { DropOverload } from '../../../shared/resources/clusters/cluster.ts';
import { fractionWithKey } from '../matchers/fraction.ts';
import type { Scope } from '../scope.ts';

/** Undefined: nothing is dropped. `scope` is that of the list. */
export function resolveDrop(
  messages: readonly ClusterLoadAssignment_Policy_DropOverload[],
  scope: Scope,
): DropOverload | undefined {
  const [first] = messages;
  if (first === undefined) return undefined;
  if (messages.length > 1) {
    const text = `Cluster drop_overloads config has ${messages.length} categories. Envoy only support one.`;
    scope.error('conflict', text);
    return undefined;
  }
  const { numerator, denominator } = fractionWithKey(first.drop_percentage ?? {}, undefined);
  const share = numerator / denominator;
  if (share > 1) {
    const ratio = Number(share.toPrecision(7));
    const text =
      `Cluster drop_overloads config is invalid. drop_ratio=${ratio}(Numerator ${numerator} / ` +
      `Denominator ${denominator}). The valid range is 0~1.`;
    scope.at(0, 'drop_percentage').error('conflict', text);
    return undefined;
  }
  return share === 0 ? undefined : { category: first.category ?? '', share };
}
