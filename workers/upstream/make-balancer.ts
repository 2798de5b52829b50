/** Makes the balancer that a cluster's policy asks for. */
import type { ClusterResource } from '../../shared/resources/clusters/cluster.ts';
import type {
  LbPolicy,
  LeastRequestOptions,
  ZoneAwareOptions,
} from '../../shared/resources/clusters/lb-policy.ts';
import { MAGLEV_DEFAULTS, RING_DEFAULTS } from '../../shared/resources/clusters/lb-policy.ts';
import { readDouble, readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../loop/runtime.ts';
import { BoundedTable } from './hashing/bounded-table.ts';
import { HashBalancer } from './hashing/hash-balancer.ts';
import { MaglevBuilder } from './hashing/maglev-builder.ts';
import { RingBuilder } from './hashing/ring-builder.ts';
import type { TableStats } from './hashing/table-stats.ts';
import type { TablePlan } from './hashing/table-plan.ts';
import { compileHashPolicies } from '../routing/hash-policy.ts';
import type { UpstreamHost } from './hosts/host.ts';
import type { WeighedHost } from './hosts/host-weights.ts';
import type { Steps } from '../loop/sliced-work.ts';
import { LeastRequestPicker } from './balancing/least-request-picker.ts';
import { LoadAwareLocalities, type LoadAwareParts } from './balancing/load-aware-localities.ts';
import type { HostPicker, LoadBalancer, MakePicker } from './balancing/load-balancer.ts';
import { OverrideBalancer } from './balancing/override-balancer.ts';
import { PriorityBalancer } from './balancing/priority-balancer.ts';
import { RandomPicker } from './balancing/random-picker.ts';
import { ReportedWeightsPicker } from './balancing/reported-weights.ts';
import { RoundRobinPicker, type Turns } from './balancing/round-robin-picker.ts';
import { SlowStart } from './balancing/slow-start.ts';
import { SubsetBalancer } from './balancing/subset-balancer.ts';
import { ZonePicker, type ZonePickerParts } from './balancing/zone-picker.ts';

export interface BalancerContext extends Pick<
  ZonePickerParts,
  'ownLocality' | 'count' | 'countStructure'
> {
  /** Undefined: there is none, and hosts are chosen wherever they are. */
  readonly localCluster: ZonePickerParts['localCluster'] | undefined;
  readonly onDuplicates: (count: number) => void;
  readonly runtime: Runtime;
  readonly nowMs: () => number;
  readonly countLoadAware: LoadAwareParts['countLoadAware'];
  /** Requests that this worker has open in the whole cluster. */
  readonly allActiveRequests: () => number;
  /** Told of each new table of a policy that hashes. */
  readonly onTable: (figures: TableStats) => void;
}

/** How the balancer of a subset differs from that of the whole cluster. */
interface SubsetLocalities {
  readonly weighsLocalities: boolean;
  readonly localityScale: ((locality: string) => number) | undefined;
}

/** Of clusters that say nothing, where there is a local cluster. */
const ZONE_DEFAULTS: ZoneAwareOptions = { routingEnabled: 100, minClusterSize: 6 };
const random = Math.random;
const PANIC_THRESHOLD_KEY = 'upstream.healthy_panic_threshold';

export function makeBalancer(
  { lbPolicy }: ClusterResource,
  context: BalancerContext,
): LoadBalancer {
  const balancer = makeWhole(lbPolicy, context);
  const { override } = lbPolicy;
  return override === undefined ? balancer : new OverrideBalancer(override, balancer);
}

function makeWhole(lbPolicy: LbPolicy, context: BalancerContext): LoadBalancer {
  const { subsets } = lbPolicy;
  if (subsets === undefined) {
    return makePlain(lbPolicy, context, {
      weighsLocalities: lbPolicy.weighsLocalities === true,
      localityScale: undefined,
    });
  }
  const weighsLocalities = lbPolicy.weighsLocalities === true && subsets.weighsLocalities;
  return new SubsetBalancer(subsets, {
    ...context,
    makeBalancer: (localityScale) =>
      makePlain(lbPolicy, context, { weighsLocalities, localityScale }),
  });
}

function makePlain(
  lbPolicy: LbPolicy,
  context: BalancerContext,
  localities: SubsetLocalities,
): LoadBalancer {
  if (lbPolicy.kind === 'RING_HASH' || lbPolicy.kind === 'MAGLEV') {
    return makeHashing(lbPolicy, context, localities);
  }
  const { zoneAware: options = ZONE_DEFAULTS, failsInPanic } = lbPolicy;
  const { localCluster } = context;
  const makePicker = pickerMaker(lbPolicy, context);
  const panicThreshold = panicThresholdOf(lbPolicy, context.runtime);
  const zone = { ...context, options, makePicker, random, panicThreshold };
  const { localityLoads: loads } = lbPolicy;
  return new PriorityBalancer({
    byLoad: loads && new LoadAwareLocalities({ ...context, options: loads, makePicker, random }),
    panicThreshold,
    makePicker,
    ...localities,
    failsInPanic,
    makeZonePicker:
      localCluster === undefined
        ? undefined
        : (hosts, peers, source) => new ZonePicker(hosts, { ...zone, peers, source, localCluster }),
    random,
  });
}

function pickerMaker(lbPolicy: LbPolicy, context: BalancerContext): MakePicker {
  const { runtime, nowMs } = context;
  const slowStart = lbPolicy.slowStart && new SlowStart(lbPolicy.slowStart, runtime, nowMs);
  if (lbPolicy.kind === 'RANDOM') return (hosts) => new RandomPicker(hosts, random);
  if (lbPolicy.kind === 'LEAST_REQUEST') {
    const options = lbPolicy.leastRequest ?? { choiceCount: 2, activeRequestBias: 1 };
    return (hosts) => {
      const activeRequestBias = biasOf(options, runtime);
      const parts = {
        options: { ...options, activeRequestBias },
        random,
        slowStart,
      };
      return new LeastRequestPicker(hosts, parts);
    };
  }
  const { loadReports: options } = lbPolicy;
  const bySource = new Map<string, Turns>();
  const turnsOf = (source: string): Turns => {
    const turns = bySource.get(source) ?? { next: runtime.random() };
    bySource.set(source, turns);
    return turns;
  };
  if (options === undefined) {
    return (hosts, _peers, source) => new RoundRobinPicker(hosts, turnsOf(source), slowStart);
  }
  const makePicker = (hosts: readonly UpstreamHost[], weights: readonly number[]): HostPicker =>
    new RoundRobinPicker(hosts, { next: runtime.random() }, slowStart, weights);
  return (hosts, peers) => new ReportedWeightsPicker(hosts, { options, nowMs, makePicker, peers });
}

/** A bias below 0 is none. */
function biasOf(
  { activeRequestBias, activeRequestBiasKey: key }: LeastRequestOptions,
  { snapshot }: Pick<Runtime, 'snapshot'>,
): number {
  const bias = key === undefined ? activeRequestBias : readDouble(snapshot, key, activeRequestBias);
  return bias < 0 ? 1 : bias;
}

function makeHashing(
  lbPolicy: LbPolicy,
  context: BalancerContext,
  { weighsLocalities }: SubsetLocalities,
): LoadBalancer {
  const { hashBalanceFactor: balanceFactor } = lbPolicy;
  const { onTable, allActiveRequests } = context;
  // One for each priority: what one makes follows from what it made before.
  const planners: PlanTable[] = [];
  const planTable = function* (hosts: readonly WeighedHost[], priority: number): Steps<TablePlan> {
    const plan = yield* (planners[priority] ??= tablePlanner(lbPolicy))(hosts);
    if (balanceFactor === undefined) return plan;
    const limits = { balanceFactor, activeRequests, allActiveRequests };
    return {
      ...plan,
      *build() {
        return new BoundedTable(yield* plan.build(), hosts, limits);
      },
    };
  };
  const panicThreshold = panicThresholdOf(lbPolicy, context.runtime);
  const hashOf = compileHashPolicies(lbPolicy.hashPolicies ?? []);
  const parts = {
    panicThreshold,
    weighsLocalities,
    planTable,
    hashOf,
    random,
    onTable,
  };
  return new HashBalancer(parts);
}

/** As it is when hosts change: requests do not look at the runtime. */
function panicThresholdOf(lbPolicy: LbPolicy, runtime: Pick<Runtime, 'snapshot'>): () => number {
  return () => {
    const given = lbPolicy.healthyPanicThreshold;
    return Math.min(100, readInteger(runtime.snapshot, PANIC_THRESHOLD_KEY, given));
  };
}

type PlanTable = (hosts: readonly WeighedHost[]) => Steps<TablePlan>;

function tablePlanner(lbPolicy: LbPolicy): PlanTable {
  if (lbPolicy.kind === 'RING_HASH') {
    const builder = new RingBuilder(lbPolicy.ringHash ?? RING_DEFAULTS);
    return (hosts) => builder.plan(hosts);
  }
  const { tableSize, usesHostname } = lbPolicy.maglev ?? MAGLEV_DEFAULTS;
  const builder = new MaglevBuilder(tableSize, usesHostname);
  return (hosts) => builder.plan(hosts);
}

function activeRequests(host: UpstreamHost): number {
  return host.activeRequests;
}
