/** Makes the balancers of policies that choose hosts by a hash of the request. */
import {
  type HashingPolicy,
  MAGLEV_DEFAULTS,
  type MaglevPolicy,
  RING_DEFAULTS,
  type RingHashPolicy,
} from '../../../shared/resources/clusters/lb-policy.ts';
import type { Steps } from '../../loop/sliced-work.ts';
import { compileHashPolicies } from '../../routing/hash-policy.ts';
import type { PolicyContext, PolicyPlace } from '../balancing/balancer-context.ts';
import type { LoadBalancer } from '../balancing/load-balancer.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { WeighedHost } from '../hosts/host-weights.ts';
import { BoundedTable } from './bounded-table.ts';
import { HashBalancer } from './hash-balancer.ts';
import { MaglevBuilder } from './maglev-builder.ts';
import { RingBuilder } from './ring-builder.ts';
import type { TablePlan } from './table-plan.ts';

type PlanTable = (hosts: readonly WeighedHost[]) => Steps<TablePlan>;

export function makeRingHash(
  policy: RingHashPolicy,
  context: PolicyContext,
  place: PolicyPlace,
): LoadBalancer {
  return makeHashing(policy, context, place, () => {
    const builder = new RingBuilder(policy.options ?? RING_DEFAULTS);
    return (hosts) => builder.plan(hosts);
  });
}

export function makeMaglev(
  policy: MaglevPolicy,
  context: PolicyContext,
  place: PolicyPlace,
): LoadBalancer {
  const { tableSize, usesHostname } = policy.options ?? MAGLEV_DEFAULTS;
  return makeHashing(policy, context, place, () => {
    const builder = new MaglevBuilder(tableSize, usesHostname);
    return (hosts) => builder.plan(hosts);
  });
}

function makeHashing(
  { balanceFactor, hashPolicies: own, localities }: HashingPolicy,
  { panicThreshold, onTable, allActiveRequests, hashPolicies }: PolicyContext,
  { mayWeighLocalities }: PolicyPlace,
  makePlanner: () => PlanTable,
): LoadBalancer {
  // One for each priority: what one makes follows from what it made before.
  const planners: PlanTable[] = [];
  const planTable = function* (hosts: readonly WeighedHost[], priority: number): Steps<TablePlan> {
    const plan = yield* (planners[priority] ??= makePlanner())(hosts);
    if (balanceFactor === undefined) return plan;
    const limits = { balanceFactor, activeRequests, allActiveRequests };
    return {
      ...plan,
      *build() {
        return new BoundedTable(yield* plan.build(), hosts, limits);
      },
    };
  };
  return new HashBalancer({
    panicThreshold,
    weighsLocalities: mayWeighLocalities && localities !== undefined,
    planTable,
    hashOf: compileHashPolicies(own ?? hashPolicies ?? []),
    random: Math.random,
    onTable,
  });
}

function activeRequests(host: UpstreamHost): number {
  return host.activeRequests;
}
