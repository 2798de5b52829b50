/**
 * Makes the balancers of policies that need nothing of the request: a priority by its share of the
 * load, a locality where these count, then a host by the policy's own picker.
 */
import { KindTable } from '../../../shared/resources/by-kind.ts';
import {
  LEAST_REQUEST_DEFAULTS,
  type LeastRequestOptions,
  type LeastRequestPolicy,
  type LoadAwareLocalityPolicy,
  type PickingPolicy,
  type RoundRobinPolicy,
  type SlowStartOptions,
  type WeightedRoundRobinPolicy,
  type ZoneAwareOptions,
} from '../../../shared/resources/clusters/lb-policy.ts';
import { readDouble } from '../../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../../loop/runtime.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { PolicyContext, PolicyPlace } from './balancer-context.ts';
import { LeastRequestPicker } from './least-request-picker.ts';
import { LoadAwareLocalities } from './load-aware-localities.ts';
import type { HostPicker, LoadBalancer, MakePicker } from './load-balancer.ts';
import { PriorityBalancer } from './priority-balancer.ts';
import { RandomPicker } from './random-picker.ts';
import { ReportedWeightsPicker } from './reported-weights.ts';
import { RoundRobinPicker, type Turns } from './round-robin-picker.ts';
import { SlowStart } from './slow-start.ts';
import { ZonePicker } from './zone-picker.ts';

/** The options of clusters that say nothing, where there is a local cluster. */
const ZONE_DEFAULTS: ZoneAwareOptions = { routingEnabled: 100, minClusterSize: 6 };
const random = Math.random;

const PICKERS = new KindTable<PickingPolicy, [PolicyContext], MakePicker>({
  round_robin: turns,
  client_side_weighted_round_robin: weightedTurns,
  least_request: leastRequests,
  random: () => (hosts) => new RandomPicker(hosts, random),
});

export function makePicking(
  policy: PickingPolicy,
  context: PolicyContext,
  place: PolicyPlace,
): LoadBalancer {
  return byPriority(policy, context, place, undefined);
}

export function makeLoadAware(
  { options, child }: LoadAwareLocalityPolicy,
  context: PolicyContext,
  place: PolicyPlace,
): LoadBalancer {
  return byPriority(child, context, place, options);
}

function byPriority(
  policy: PickingPolicy,
  context: PolicyContext,
  { mayWeighLocalities, localityScale }: PolicyPlace,
  loads: LoadAwareLocalityPolicy['options'] | undefined,
): LoadBalancer {
  const { localCluster, panicThreshold } = context;
  const { localities } = policy;
  const zoneAware = localities?.kind === 'zone_aware' ? localities : undefined;
  const makePicker = PICKERS.make(policy, context);
  const zone = { ...context, options: zoneAware?.options ?? ZONE_DEFAULTS, makePicker, random };
  return new PriorityBalancer({
    byLoad: loads && new LoadAwareLocalities({ ...context, options: loads, makePicker, random }),
    panicThreshold,
    makePicker,
    weighsLocalities: mayWeighLocalities && localities?.kind === 'weighted',
    localityScale,
    failsInPanic: zoneAware?.failsInPanic,
    makeZonePicker:
      localCluster === undefined
        ? undefined
        : (hosts, peers, source) => new ZonePicker(hosts, { ...zone, peers, source, localCluster }),
    random,
  });
}

function turns({ slowStart: options }: RoundRobinPolicy, context: PolicyContext): MakePicker {
  const { runtime } = context;
  const slowStart = makeSlowStart(options, context);
  const bySource = new Map<string, Turns>();
  const turnsOf = (source: string): Turns => {
    const known = bySource.get(source) ?? { next: runtime.random() };
    bySource.set(source, known);
    return known;
  };
  return (hosts, _peers, source) => new RoundRobinPicker(hosts, turnsOf(source), slowStart);
}

function weightedTurns(policy: WeightedRoundRobinPolicy, context: PolicyContext): MakePicker {
  const { runtime, nowMs } = context;
  const { loadReports: options } = policy;
  const slowStart = makeSlowStart(policy.slowStart, context);
  const makePicker = (hosts: readonly UpstreamHost[], weights: readonly number[]): HostPicker =>
    new RoundRobinPicker(hosts, { next: runtime.random() }, slowStart, weights);
  return (hosts, peers) => new ReportedWeightsPicker(hosts, { options, nowMs, makePicker, peers });
}

function leastRequests(policy: LeastRequestPolicy, context: PolicyContext): MakePicker {
  const { options = LEAST_REQUEST_DEFAULTS } = policy;
  const slowStart = makeSlowStart(policy.slowStart, context);
  return (hosts) => {
    const activeRequestBias = biasOf(options, context.runtime);
    return new LeastRequestPicker(hosts, {
      options: { ...options, activeRequestBias },
      random,
      slowStart,
    });
  };
}

/** A bias below 0 is none. */
function biasOf(
  { activeRequestBias, activeRequestBiasKey: key }: LeastRequestOptions,
  { snapshot }: Pick<Runtime, 'snapshot'>,
): number {
  const bias = key === undefined ? activeRequestBias : readDouble(snapshot, key, activeRequestBias);
  return bias < 0 ? 1 : bias;
}

function makeSlowStart(
  options: SlowStartOptions | undefined,
  { runtime, nowMs }: PolicyContext,
): SlowStart | undefined {
  return options && new SlowStart(options, runtime, nowMs);
}
