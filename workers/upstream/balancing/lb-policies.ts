/** Every load balancing policy: one row each, its kind and what makes its balancer. */
import type { NestedPolicy, ScriptPolicy } from '../../../shared/resources/clusters/lb-policy.ts';
import { KindTable } from '../../../shared/resources/by-kind.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import { makeMaglev, makeRingHash } from '../hashing/hashing-policies.ts';
import type { BalancerContext, PolicyContext, PolicyPlace } from './balancer-context.ts';
import type { LoadBalancer } from './load-balancer.ts';
import { OverrideBalancer } from './override-balancer.ts';
import { ScriptBalancer } from './script/script-balancer.ts';
import { makePicking, makeLoadAware } from './picking-policies.ts';
import { SubsetBalancer } from './subset-balancer.ts';

const PANIC_THRESHOLD_KEY = 'upstream.healthy_panic_threshold';
const WHOLE_CLUSTER: PolicyPlace = {
  isSubset: false,
  mayWeighLocalities: true,
  localityScale: undefined,
};

const LB_POLICIES: KindTable<NestedPolicy, [PolicyContext, PolicyPlace], LoadBalancer> =
  new KindTable({
    round_robin: makePicking,
    client_side_weighted_round_robin: makePicking,
    least_request: makePicking,
    random: makePicking,
    ring_hash: makeRingHash,
    maglev: makeMaglev,
    load_aware_locality: makeLoadAware,
    subset: ({ options, child }, context, { mayWeighLocalities }) =>
      new SubsetBalancer(options, {
        ...context,
        makeBalancer: (localityScale) =>
          LB_POLICIES.make(child, context, {
            isSubset: true,
            mayWeighLocalities: mayWeighLocalities && options.weighsLocalities,
            localityScale,
          }),
      }),
    override_host: ({ options, child }, context, place) =>
      new OverrideBalancer(
        // As in Envoy: within a subset no host is found by its address.
        place.isSubset ? { ...options, sources: [] } : options,
        LB_POLICIES.make(child, context, place),
      ),
  });

/** The balancer of a cluster that chooses among its own hosts. */
export function makeBalancer(
  policy: NestedPolicy | ScriptPolicy,
  context: BalancerContext,
): LoadBalancer {
  const { runtime, healthyPanicThreshold: given } = context;
  // Looked at when hosts change: requests do not look at the runtime.
  const panicThreshold = (): number =>
    Math.min(100, readInteger(runtime.snapshot, PANIC_THRESHOLD_KEY, given));
  const own = { ...context, panicThreshold };
  if (policy.kind !== 'script') return LB_POLICIES.make(policy, own, WHOLE_CLUSTER);
  return new ScriptBalancer(policy, LB_POLICIES.make(policy.child, own, WHOLE_CLUSTER), context);
}
