/**
 * One cluster with the hosts that it has now: takes host sets from its source, keeps what stays, and
 * joins what the configuration, active checks and outlier detection say of each host. It sends
 * nothing: its owner hears of changes.
 */
import { isDeepStrictEqual } from 'node:util';
import type { ClusterHostsResource, HostResource } from '../../shared/resources/cluster.ts';
import { addressOf } from '../../shared/resources/host-address.ts';
import { ACTIVE_CHECK_BITS, HEALTH_BITS } from '../../shared/resources/host-health.ts';
import { OUTLIER_DETECTION } from '../../shared/stats/templates/cluster-features.ts';
import type { Clock } from '../../shared/clock.ts';
import type { OutlierSign } from '../../shared/resources/outlier-detection.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { ResolvedCluster } from '../resources/resolved-bootstrap.ts';
import type { WorkerToSupervisor, ToldWeight } from '../../shared/messages/worker-to-supervisor.ts';
import { CheckLog } from '../health/check-log.ts';
import type { EventLogs } from '../health/event-log.ts';
import { outlierEventMessage } from '../health/outlier-events.ts';
import { OutlierDetector, type OutlierFlag } from '../health/outlier-detector.ts';
import { withRuntime } from '../health/outlier-runtime.ts';
import type { OutlierSlots } from '../health/outlier-slots.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import { BreakerGauges } from './breakers/breaker-gauges.ts';
import type { BreakerSlots, SlotPair } from './breakers/breaker-slots.ts';
import type { ResourceUse } from '../xds/kinds/resource-use.ts';
import { DropPolicy } from './hosts/drop-policy.ts';
import { ClusterReadiness } from './cluster-readiness.ts';
import { HostChecks } from './hosts/host-checks.ts';
import { ReportedWeights } from './hosts/reported-weights.ts';
import { joinState, type HostState } from './hosts/host-state.ts';
import { HostStates } from './hosts/host-states.ts';
import { changedPriorities, isSameHost } from './sources/same-host.ts';
import type {
  AssignmentPolicy,
  HostAnswered,
  HostSink,
  HostSource,
  UpdateCounter,
} from './sources/host-source.ts';
import { MembershipStats } from './hosts/membership-stats.ts';
import { isSamePlace } from '../../shared/resources/host-place.ts';
import type { MergeWindow } from './merge-window.ts';

export interface LiveClusterOptions {
  readonly resolved: ResolvedCluster;
  readonly writer: StatWriter;
  readonly clock: Clock;
  readonly random: () => number;
  slots(): OutlierSlots;
  readonly breakers: BreakerSlots;
  runtime(): RuntimeSnapshot;
  readonly eventLogs: EventLogs;
  readonly outlierLogPath: string | undefined;
  /** Tells its hosts from those of other versions. */
  readonly version: number;
  /** The version before it has requests. */
  readonly hasTraffic: boolean;
  /** What the cluster cannot be used without, beside its hosts. */
  readonly needs: readonly ResourceUse[];
  /** Undefined: the hosts are those of the configuration. */
  makeSource(sink: HostSink): HostSource | undefined;
  /** Hears of changes while the cluster is in use; ended with the cluster. */
  readonly merges: MergeWindow;
  /** Whether requests go to this version of the cluster. */
  isUsed(cluster: LiveCluster): boolean;
  /** The hosts are others than before; with an id, only that host's health is. */
  changed(cluster: LiveCluster, host?: string): void;
}

/** What a set of hosts changes. */
interface SetChanges {
  /** In which hosts came or went. */
  readonly priorities: Set<number>;
  readonly added: HostResource[];
  isOther: boolean;
}

type CheckNotice = Extract<WorkerToSupervisor, { readonly kind: 'health_event' }>;

export class LiveCluster implements HostSink {
  readonly resolved: ResolvedCluster;
  /** Of a cluster with checks. */
  readonly version: number | undefined;
  readonly readiness: ClusterReadiness;
  readonly #options: LiveClusterOptions;
  readonly #stats: MembershipStats;
  readonly breakers: BreakerGauges;
  readonly #breakerSlots: SlotPair | undefined;
  readonly outlier: OutlierDetector | undefined;
  readonly #outlierStats: number | undefined;
  readonly #checks: HostChecks;
  readonly #checkLog: CheckLog;
  /** Undefined: weights are those of the configuration. */
  readonly #reported: ReportedWeights | undefined;
  #source: HostSource | undefined;
  readonly #states: HostStates;
  #hasTraffic: boolean;
  #hosts: HostResource[] = [];
  /** By position of their hosts. */
  #ordered: HostState[] = [];
  #set = 0;
  #overprovisioningFactor: number | undefined;
  readonly #drop: DropPolicy;
  /** Since the last set of hosts. */
  #hasOtherFactor = false;

  constructor(options: LiveClusterOptions) {
    const { resolved, writer } = options;
    this.resolved = resolved;
    this.#drop = new DropPolicy(resolved.hosts.dropOverload, () => options.runtime());
    this.version = resolved.resource.healthChecks === undefined ? undefined : options.version;
    this.#hasTraffic = options.hasTraffic;
    this.#options = options;
    this.#stats = new MembershipStats(resolved.resource, writer);
    this.#breakerSlots = options.breakers.takePair();
    const { breakers } = options;
    this.breakers = new BreakerGauges({
      ...options,
      resource: resolved.resource,
      page: breakers.page,
      slots: this.#breakerSlots,
    });
    this.#checks = new HostChecks(resolved, writer);
    this.#checkLog = new CheckLog(options);
    this.#outlierStats =
      resolved.outlierDetection === undefined
        ? undefined
        : writer.defineBlock(
            OUTLIER_DETECTION,
            `cluster.${resolved.resource.statName}.outlier_detection.`,
          );
    this.outlier = this.#makeDetector();
    const { loadReports } = resolved.resource.lbPolicy;
    this.#reported = loadReports && new ReportedWeights(loadReports, options.clock);
    this.#states = new HostStates(options);
    this.readiness = new ClusterReadiness({
      needs: options.needs,
      areChecksUnderWay: () => this.#checks.areUnderWay,
      usable: () => this.#stats.setWarming(false),
    });
    this.#source = options.makeSource(this);
    if (this.#source === undefined) {
      if (resolved.hosts.hosts.length > 0) this.setHosts(resolved.hosts.hosts);
      this.initialized();
    } else {
      this.#source.start();
      if (resolved.isUsedAtOnce === true) this.initialized();
    }
    this.readiness.watchNeeds();
  }

  get name(): string {
    return this.resolved.resource.name;
  }

  /** As workers get them and as `/clusters` shows them. */
  get hosts(): ClusterHostsResource {
    const overprovisioningFactor =
      this.#overprovisioningFactor ?? this.resolved.hosts.overprovisioningFactor;
    const { dropOverload: _, ...resolved } = this.resolved.hosts;
    const { present: dropOverload } = this.#drop;
    return {
      ...resolved,
      hosts: this.#hosts,
      overprovisioningFactor,
      ...(dropOverload === undefined ? {} : { dropOverload }),
      ...(this.version === undefined ? {} : { version: this.version }),
      ...(this.#breakerSlots === undefined ? {} : { breakerSlots: this.#breakerSlots }),
      ...(this.#hasTraffic ? { hasTraffic: true } : {}),
    };
  }

  /** As of the last change. */
  host(id: string): HostResource | undefined {
    return this.#states.get(id)?.host;
  }

  /** Where a host stands among `hosts.hosts`; undefined for one that is not there. */
  positionOf(id: string): number | undefined {
    return this.#states.get(id)?.position;
  }

  setHosts(hosts: readonly HostResource[], isChange = false): boolean {
    const priorities = new Set<number>();
    const changes: SetChanges = {
      priorities,
      added: [],
      isOther: isChange || this.#hasOtherFactor,
    };
    const taken: HostState[] = [];
    this.#hasOtherFactor = false;
    this.#set += 1;
    for (const host of hosts) {
      const state = this.#stateOf(host, taken.length, changes);
      if (state === undefined) continue;
      state.given = host;
      state.set = this.#set;
      state.bits &= ~HEALTH_BITS.pending_dynamic_removal;
      taken.push(state);
    }
    for (const { host } of this.#goneFrom(taken)) priorities.add(host.priority);
    const count = Math.max(priorities.size, isChange ? 1 : 0);
    if (count > 0) this.#stats.membershipChanged(changes.added, count);
    if (priorities.size > 0) this.outlier?.setHosts(this.#states.watched());
    const isOther = changes.isOther || priorities.size > 0;
    this.#drop.hostsSet(isOther);
    // The order alone is nothing new.
    this.#apply(isOther ? taken : [...this.#ordered]);
    if (isOther && this.#options.isUsed(this)) this.#options.merges.setChanged();
    return isOther;
  }

  /** `position`: where it may have stood. Undefined: this host is in the set already. */
  #stateOf(host: HostResource, position: number, changes: SetChanges): HostState | undefined {
    // Most hosts of a large set stand where they stood.
    let state = this.#ordered[position];
    if (state?.given !== host) state = this.#states.get(host.id);
    const { priorities, added } = changes;
    if (state === undefined) {
      added.push(host);
      priorities.add(host.priority);
      return this.#states.add(host, this.#checks.firstBits(host));
    }
    if (state.set === this.#set) return undefined;
    if (!this.#isOneHost(state.given, host)) {
      priorities.add(state.given.priority).add(host.priority);
      return this.#replaceHost(state, host);
    }
    // Where the source says nothing new of it, it is what it was.
    if (!isSameHost(state.given, host)) {
      for (const priority of this.#changeHost(state, host)) priorities.add(priority);
      changes.isOther = true;
    }
    return state;
  }

  /** Checks go on under another name, and what they found counts; without them that is another host. */
  #isOneHost(before: HostResource, host: HostResource): boolean {
    const isNamedAlike = this.version !== undefined || before.hostname === host.hostname;
    return isNamedAlike && isSamePlace(before, host);
  }

  /** What is said to be elsewhere is another host, of which only checks know something. */
  #replaceHost(before: HostState, host: HostResource): HostState {
    before.set = this.#set;
    this.#states.forget(before);
    this.outlier?.forget(host.id);
    return this.#states.add(host, before.bits & ACTIVE_CHECK_BITS);
  }

  /** Returns the priorities in which the host counts as one that came or went. */
  #changeHost(state: HostState, host: HostResource): readonly number[] {
    const priorities = [...changedPriorities(state.given, host)];
    if (this.#checks.isChecked(state.given) !== this.#checks.isChecked(host)) {
      this.#checks.knowAnew(state, host);
      priorities.push(host.priority);
    }
    if (!isDeepStrictEqual(state.given.metadata, host.metadata)) this.#stats.matched([host]);
    state.host = this.#kept(state, host);
    return priorities;
  }

  /** Forgets those that the present set lacks, and returns them; puts such as may not go behind `taken`. */
  #goneFrom(taken: HostState[]): readonly HostState[] {
    const gone: HostState[] = [];
    for (const state of this.#ordered) {
      if (state.set === this.#set) continue;
      if (this.#checks.keeps(state)) {
        state.bits |= HEALTH_BITS.pending_dynamic_removal;
        taken.push(state);
      } else {
        this.#states.forget(state);
        gone.push(state);
      }
    }
    return gone;
  }

  /** What an active check says of a host from now on. A host that is gone needs nothing more. */
  setActiveBits(id: string, bits: number): void {
    const state = this.#states.get(id);
    if (state === undefined) return;
    const recovers = (state.bits & ~bits & HEALTH_BITS.failed_active_hc) !== 0;
    if (recovers && state.readySinceMs !== undefined) {
      state.readySinceMs = this.#options.clock.monotonicMs();
    }
    const hasPassed = this.#checks.take(state, bits);
    if (hasPassed) this.outlier?.passedCheck(id);
    if (!hasPassed && (state.bits & HEALTH_BITS.pending_dynamic_removal) !== 0) {
      this.setHosts(this.#hosts.filter((host) => host.id !== id && !this.#isLeaving(host)));
    } else {
      this.#applyTo(id);
    }
    this.readiness.check();
  }

  /** A worker saw a threshold of failures in a row reached, or a host say that it is degraded. */
  outlierDetected(host: string, sign: OutlierSign): void {
    this.outlier?.detected(host, sign);
  }

  /** Hosts told a worker how busy they are. */
  loadReported(weights: readonly ToldWeight[]): void {
    this.#reported?.told(weights, (id) => this.host(id) !== undefined);
  }

  /** What each of the hosts is taken by, in their order. */
  weights(): readonly number[] {
    return this.#reported?.weightsOf(this.#hosts) ?? this.#hosts.map(({ weight }) => weight);
  }

  /** A line for the event log of the cluster's checks. */
  logCheck({ host: id, check, event }: CheckNotice): void {
    const host = this.host(id);
    if (host !== undefined) this.#checkLog.write(host, check, event);
  }

  hostRequested(host: HostResource): void {
    this.#source?.requested?.(host);
  }

  hostUsed(host: string): void {
    this.#source?.used?.(host);
  }

  /** A request waits for the host of this name; `answered` is called once, maybe at once. */
  hostWanted(host: string, answered: HostAnswered): void {
    if (this.#source?.wanted === undefined) answered({ outcome: 'failed', details: '' });
    else this.#source.wanted(host, answered);
  }

  /** Some worker had a request for it. */
  get hasTraffic(): boolean {
    return this.#hasTraffic;
  }

  /** Checks come at their usual interval from now on. Returns whether they did not before. */
  beginTraffic(): boolean {
    const isFirst = !this.#hasTraffic;
    this.#hasTraffic = true;
    return isFirst;
  }

  /** It takes the place of `earlier`. */
  succeed(earlier: LiveCluster): void {
    this.#hasTraffic ||= earlier.#hasTraffic;
    this.#stats.show();
    this.#checks.showAnew();
    this.outlier?.show();
  }

  count(counter: UpdateCounter): void {
    this.#stats.count(counter);
  }

  setPolicy({ overprovisioningFactor: percent, dropOverload }: AssignmentPolicy): void {
    this.#drop.plan(dropOverload);
    if (percent !== this.hosts.overprovisioningFactor) this.#hasOtherFactor = true;
    this.#overprovisioningFactor = percent;
  }

  confirmed(hosts: readonly HostResource[]): void {
    this.#stats.matched(hosts.filter(({ id }) => this.#states.get(id) !== undefined));
  }

  setMaxHostWeight(weight: number): void {
    this.#stats.setMaxHostWeight(weight);
  }

  initialized(): void {
    this.readiness.initialized();
  }

  /** The configuration has it no more: nobody is asked for its endpoints, those that it has stay. */
  leave(): void {
    if (this.resolved.discovery?.kind !== 'endpoints') return;
    this.#source?.close();
    this.#source = undefined;
  }

  /** The cluster is gone; whoever waits for it need not any more. */
  close(): void {
    this.#source?.close();
    this.#options.merges.close();
    this.outlier?.close();
    this.#states.clear();
    this.#stats.release();
    this.breakers.release();
    if (this.#breakerSlots !== undefined) this.#options.breakers.giveBackPair(this.#breakerSlots);
    if (this.#outlierStats !== undefined) this.#options.writer.releaseBlock(this.#outlierStats);
    this.#checks.release();
    this.readiness.close();
  }

  #makeDetector(): OutlierDetector | undefined {
    const { resolved, writer, clock, random } = this.#options;
    const settings = resolved.outlierDetection;
    if (settings === undefined || this.#outlierStats === undefined) return undefined;
    return new OutlierDetector({
      settings: () => withRuntime(settings, this.#options.runtime()),
      page: this.#options.slots().page,
      clock,
      random,
      stats: { writer, base: this.#outlierStats },
      log: (event) => {
        const { outlierLogPath: path, eventLogs } = this.#options;
        if (path === undefined) return;
        const known = this.host(event.host);
        const host = known === undefined ? event.host : addressOf(known);
        eventLogs.write(path, outlierEventMessage({ ...event, host, cluster: this.name }));
      },
      flagged: (id, flag, isSet) => this.#setFlag(id, flag, isSet),
    });
  }

  #setFlag(id: string, flag: OutlierFlag, isSet: boolean): void {
    const state = this.#states.get(id);
    if (state === undefined) return;
    state.bits &= ~HEALTH_BITS[flag];
    if (isSet) state.bits |= HEALTH_BITS[flag];
    this.#applyTo(id);
  }

  #isLeaving(host: HostResource): boolean {
    return ((this.#states.get(host.id)?.bits ?? 0) & HEALTH_BITS.pending_dynamic_removal) !== 0;
  }

  /** Joins configuration and states, counts and tells. */
  #apply(states: HostState[]): void {
    if (!isByPriority(states)) {
      states.sort((left, right) => left.host.priority - right.host.priority);
    }
    this.#ordered = states;
    this.#hosts = states.map((state, position) => {
      state.host = joinState(state.host, state);
      state.position = position;
      return state.host;
    });
    this.#stats.setHosts(this.#hosts);
    this.#checks.countAll(states);
    this.#options.changed(this);
  }

  /** The object that stood for the host before, while it says the same. */
  #kept(state: HostState, host: HostResource): HostResource {
    const joined = joinState(host, state);
    return isSameHost(state.host, joined) ? state.host : joined;
  }

  /** As in the reference each priority is told. */
  #tellHealth(): void {
    const last = this.#hosts.at(-1)?.priority ?? 0;
    for (let priority = 0; priority <= last; priority++) this.#options.merges.healthChanged();
  }

  /** The same for one host, however many there are. */
  #applyTo(id: string): void {
    const state = this.#states.get(id);
    if (state === undefined || state.position < 0) return;
    const before = state.host;
    const after = joinState(before, state);
    state.host = after;
    this.#hosts[state.position] = after;
    this.#stats.replaceHost(before, after);
    this.#checks.recount(before, after);
    if (changesChoice(before, after) && this.#options.isUsed(this)) this.#tellHealth();
    this.#options.changed(this, id);
  }
}

/** Whether it counts as another host for balancers; what failed there last is nothing to them. */
function changesChoice({ healthBits: before = 0 }: HostResource, after: HostResource): boolean {
  return ((before ^ (after.healthBits ?? 0)) & ~HEALTH_BITS.active_hc_timeout) !== 0;
}

function isByPriority(states: readonly HostState[]): boolean {
  let highest = 0;
  for (const { host } of states) {
    if (host.priority < highest) return false;
    highest = host.priority;
  }
  return true;
}
