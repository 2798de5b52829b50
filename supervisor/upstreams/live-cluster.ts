/**
 * One version of a cluster with the hosts that it has now: runs their source, takes what workers
 * say of them, and says when it may be used. It sends nothing: its owner hears of changes.
 */
import type {
  ClusterHostsResource,
  HostResource,
} from '../../shared/resources/clusters/cluster.ts';
import { HEALTH_BITS } from '../../shared/resources/clusters/host-health.ts';
import type { OutlierSign } from '../../shared/resources/clusters/outlier-detection.ts';
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import type { ClusterNotice, SentWeight } from '../../shared/messages/worker-notices.ts';
import { atOnce, type Steps } from '../loop/loop-turns.ts';
import { CheckLog } from '../health/check-log.ts';
import type { OutlierDetector, OutlierFlag } from '../health/outlier-detector.ts';
import { BreakerGauges } from './breakers/breaker-gauges.ts';
import type { SlotPair } from './breakers/breaker-slots.ts';
import { Assignment } from './hosts/assignment.ts';
import { ClusterReadiness } from './cluster-readiness.ts';
import { HostChecks } from './hosts/host-checks.ts';
import { type ReportedWeights, reportedWeightsOf } from './hosts/reported-weights.ts';
import { HostList, isLeaving } from './hosts/host-list.ts';
import type { HostState } from './hosts/host-state.ts';
import { SetOrder } from './hosts/set-order.ts';
import type {
  AssignmentPolicy,
  HostAnswered,
  HostSink,
  HostSource,
  UpdateCounter,
} from './sources/host-source.ts';
import { MembershipStats } from './hosts/membership-stats.ts';
import type { LiveClusterOptions } from './live-cluster-options.ts';
import { watchOutliers } from './watch-outliers.ts';

type CheckNotice = Extract<ClusterNotice, { readonly kind: 'health_event' }>;

export class LiveCluster implements HostSink {
  readonly resolved: ResolvedCluster;
  /** The version of a cluster with checks. */
  readonly version: number | undefined;
  readonly readiness: ClusterReadiness;
  readonly #options: LiveClusterOptions;
  readonly #stats: MembershipStats;
  readonly breakers: BreakerGauges;
  readonly #breakerSlots: SlotPair | undefined;
  readonly outlier: OutlierDetector | undefined;
  readonly #checks: HostChecks;
  readonly #checkLog: CheckLog;
  /** Undefined: weights are those of the configuration. */
  readonly #reported: ReportedWeights | undefined;
  #source: HostSource | undefined;
  readonly #list: HostList;
  /** Some worker had a request for it. */
  #hasTraffic: boolean;
  readonly #assignment: Assignment;
  /** As the source gave them last. */
  #given: readonly HostResource[] = [];
  readonly #sets = new SetOrder();

  constructor(options: LiveClusterOptions) {
    const { resolved, writer } = options;
    this.resolved = resolved;
    this.#assignment = new Assignment(resolved.hosts, () => options.runtime());
    this.version = resolved.resource.healthChecks === undefined ? undefined : options.version;
    this.#hasTraffic = options.hasTraffic;
    this.#options = options;
    this.#stats = new MembershipStats(resolved.resource, writer);
    this.#breakerSlots = options.breakers.takePair();
    this.breakers = new BreakerGauges({
      ...options,
      resource: resolved.resource,
      page: options.breakers.page,
      slots: this.#breakerSlots,
    });
    this.#checks = new HostChecks(resolved, writer);
    this.#checkLog = new CheckLog(options);
    this.outlier = watchOutliers(options, {
      hostOf: (id) => this.host(id),
      flagged: (id, flag, isSet) => this.#setFlag(id, flag, isSet),
    });
    this.#reported = reportedWeightsOf(resolved.resource.lbPolicy, options.clock);
    this.#list = new HostList({
      ...options,
      checks: this.#checks,
      stats: this.#stats,
      outlier: this.outlier,
    });
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
    return this.#asVersion(this.#assignment.present(this.#list.hosts));
  }

  get hostList(): readonly HostResource[] {
    return this.#list.hosts;
  }

  /** As an assignment: with the share of dropped requests that was said last, in force or not. */
  get assignment(): ClusterHostsResource {
    return this.#asVersion(this.#assignment.planned(this.#list.hosts));
  }

  host(id: string): HostResource | undefined {
    return this.#list.get(id)?.host;
  }

  /** Where a host stands among `hosts.hosts`; undefined for one that is not there. */
  positionOf(id: string): number | undefined {
    return this.#list.get(id)?.position;
  }

  /** An operator orders otherwise for some of them. */
  ordersChanged(): void {
    if (this.#given.length > 0) this.setHosts(this.#given);
  }

  setHosts(hosts: readonly HostResource[], isChange = false): boolean {
    this.#sets.finish();
    this.#given = hosts;
    return atOnce(this.#set(hosts, isChange));
  }

  *setHostsInSteps(hosts: readonly HostResource[]): Steps<boolean> {
    this.#sets.finish();
    this.#given = hosts;
    return yield* this.#sets.run(this.#set(hosts, false));
  }

  *#set(given: readonly HostResource[], isChange: boolean): Steps<boolean> {
    const hosts = this.#options.orders.apply(this.name, given);
    const isOther = yield* this.#list.set(hosts, {
      isChange,
      hasOtherPolicy: this.#assignment.takeOtherFactor(),
      prepare: (joined) => this.#options.prepare?.(this, joined),
    });
    this.#assignment.hostsSet(isOther);
    this.#options.changed(this);
    if (isOther && this.#options.isUsed(this)) this.#options.merges.setChanged();
    return isOther;
  }

  /** What an active check says of a host from now on. A host that is gone needs nothing more. */
  setActiveBits(id: string, bits: number): void {
    const state = this.#list.get(id);
    if (state === undefined) return;
    const recovers = (state.bits & ~bits & HEALTH_BITS.failed_active_hc) !== 0;
    if (recovers && state.readySinceMs !== undefined) {
      state.readySinceMs = this.#options.clock.monotonicMs();
    }
    const hasPassed = this.#checks.take(state, bits);
    if (hasPassed) this.outlier?.passedCheck(id);
    if (!hasPassed && isLeaving(state)) this.setHosts(this.#given);
    else this.#tell(id, state);
    this.readiness.check();
  }

  /** A worker saw a threshold of failures in a row reached, or a host say that it is degraded. */
  outlierDetected(host: string, sign: OutlierSign): void {
    this.outlier?.detected(host, sign);
  }

  /** Hosts told a worker how busy they are. */
  loadReported(weights: readonly SentWeight[]): void {
    this.#reported?.report(weights, (id) => this.host(id) !== undefined);
  }

  /** What each of the hosts is taken by, in their order. */
  weights(): readonly number[] | undefined {
    return this.#reported?.weightsOf(this.#list.hosts);
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
    this.#checks.showAgain();
    this.outlier?.show();
  }

  count(counter: UpdateCounter): void {
    this.#stats.count(counter);
  }

  setPolicy(policy: AssignmentPolicy): void {
    this.#assignment.setPolicy(policy);
  }

  *confirmed(hosts: readonly HostResource[]): Steps<void> {
    yield* this.#stats.matched(yield* this.#list.known(hosts));
  }

  setMaxHostWeight(weight: number): void {
    this.#stats.setMaxHostWeight(weight);
  }

  initialized(): void {
    this.readiness.initialized();
  }

  /**
   * The configuration has it no more: nobody is asked for its endpoints, those that it has stay.
   */
  leave(): void {
    if (this.resolved.discovery?.kind !== 'endpoints') return;
    this.#sets.finish();
    this.#source?.close();
    this.#source = undefined;
  }

  /** The cluster is gone; nobody has to wait for it any more. */
  close(): void {
    this.#source?.close();
    this.#options.merges.close();
    this.outlier?.close();
    this.#list.clear();
    this.#stats.release();
    this.breakers.release();
    if (this.#breakerSlots !== undefined) this.#options.breakers.giveBackPair(this.#breakerSlots);
    this.#checks.release();
    this.readiness.close();
  }

  #asVersion(hosts: ClusterHostsResource): ClusterHostsResource {
    return {
      ...hosts,
      ...(this.version === undefined ? {} : { version: this.version }),
      ...(this.#breakerSlots === undefined ? {} : { breakerSlots: this.#breakerSlots }),
      ...(this.#hasTraffic ? { hasTraffic: true } : {}),
    };
  }

  #setFlag(id: string, flag: OutlierFlag, isSet: boolean): void {
    const state = this.#list.get(id);
    if (state === undefined) return;
    state.bits &= ~HEALTH_BITS[flag];
    if (isSet) state.bits |= HEALTH_BITS[flag];
    this.#tell(id, state);
  }

  /** The state of one host is another; what this costs does not grow with the number of hosts. */
  #tell(id: string, state: HostState): void {
    const changesChoice = this.#list.rejoin(state);
    if (changesChoice === undefined) return;
    if (changesChoice && this.#options.isUsed(this)) {
      this.#options.merges.healthChangedUpTo(this.hostList.at(-1)?.priority);
    }
    this.#options.changed(this, id);
  }
}
