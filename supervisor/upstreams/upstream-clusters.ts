/**
 * All clusters with the hosts that they have now: follows the resource store, runs each cluster's
 * source of hosts, and tells the workers of every change. The one place that says which hosts there
 * are.
 */
import { assert } from '../../shared/process/assert.ts';
import type { ClusterHostsResource } from '../../shared/resources/clusters/cluster.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { ClusterNotice } from '../../shared/messages/worker-notices.ts';
import type { SharedPages } from '../../shared/messages/heritage.ts';
import { emptyAssignment } from './hosts/assignment.ts';
import { BreakerOverview } from './breakers/breaker-overview.ts';
import { BreakerSlots } from './breakers/breaker-slots.ts';
import { areShort, checkedUpdates, ClusterUpdates, type ClusterMove } from './cluster-updates.ts';
import { FlushPace } from './flush-pace.ts';
import type { SourceMakerOptions } from './sources/source-maker.ts';
import type { LiveCluster } from './live-cluster.ts';
import {
  LiveClusterMaker,
  type ClusterDependencies,
  type SharedClusterParts,
} from './live-cluster-maker.ts';
import type { MergeCounter } from './merge-window.ts';
import { ProbedClusters } from './probed-clusters.ts';
import { deliverNotice, type KnownClusters } from './cluster-notices.ts';

export interface UpstreamClustersOptions extends SourceMakerOptions, SharedClusterParts {
  readonly store: ResourceStore;
  readonly pages: SharedPages;
  readonly concurrency: number;
  /** To all workers that have their first resources. Resolves when all have applied them. */
  send(updates: readonly ResourceUpdate[]): Promise<unknown>;
  /** The same for a few small ones that nobody waits for. */
  tell(updates: readonly ResourceUpdate[]): void;
  /** How many clusters may be used, and how many wait until they may. */
  counted(active: number, warming: number): void;
  /** Hosts of a cluster that is in use changed. */
  countUpdate(counter: MergeCounter): void;
}

export class UpstreamClusters {
  readonly #options: UpstreamClustersOptions;
  readonly #clusters = new Map<string, LiveCluster>();
  /** Versions that wait for their first hosts, while the version before them serves. */
  readonly #warming = new Map<string, LiveCluster>();
  readonly probed = new ProbedClusters(
    (resolved) => this.#make(resolved),
    (name) => this.#move(name, 'checks'),
  );
  /** Names of clusters that are gone from the configuration while routes still name them. */
  readonly #leaving = new Set<string>();
  #maker: LiveClusterMaker | undefined;
  readonly #known: KnownClusters;
  readonly #updates = new ClusterUpdates({
    active: (name) => this.#clusters.get(name),
    checked: (name) => this.#checked(name),
  });
  readonly #pace: FlushPace;
  readonly #breakers: BreakerSlots;
  readonly #overview: BreakerOverview;
  #unsubscribe: (() => void) | undefined;
  #hasStarted = false;

  constructor(options: UpstreamClustersOptions) {
    this.#options = options;
    this.#pace = new FlushPace(options.clock, () => void this.tellNow());
    this.#breakers = new BreakerSlots(options.pages.breakerFd, options.concurrency);
    this.#overview = new BreakerOverview(this.#breakers, () => options.runtime());
    this.#known = {
      active: (name) => this.#clusters.get(name),
      warming: (name) => this.#warming.get(name) ?? this.probed.get(name),
      trafficBegan: (cluster) => this.#sendLater(cluster, undefined),
      answered: (cluster, { host, ticket }, answer) => {
        this.#updates.answered(cluster, { host, ticket, ...answer });
        this.#pace.soon();
      },
    };
  }

  /** Begins to look for the hosts of all clusters. */
  start(needs: ClusterDependencies): void {
    const { store, pages } = this.#options;
    this.#maker = new LiveClusterMaker(
      { ...this.#options, breakers: this.#breakers, outlierFd: pages.outlierFd },
      needs,
    );
    for (const { name } of store.list('cluster')) this.#follow(name);
    this.#hasStarted = true;
    this.#unsubscribe = store.subscribe(({ kind, name }) => {
      if (kind === 'cluster') this.#follow(name);
    });
  }

  /** Resolves when every cluster that is there now may be used. */
  async ready(): Promise<void> {
    const waiting = (): readonly LiveCluster[] =>
      [...this.#clusters.values(), ...this.#warming.values()].filter(
        ({ readiness }) => !readiness.isReady,
      );
    for (let some = waiting(); some.length > 0; some = waiting()) {
      await Promise.all(some.map((cluster) => cluster.readiness.ready));
    }
    await this.flush();
  }

  /** Sends what waits for the end of this turn of the loop, so that what follows finds it there. */
  async flush(): Promise<void> {
    const updates = this.#take();
    if (updates.length > 0) await this.#options.send(updates);
  }

  /** The same for what nobody needs to wait for; whether anything was sent. */
  tellNow(): boolean {
    const updates = this.#take();
    if (updates.length === 0) return false;
    if (areShort(updates)) this.#options.tell(updates);
    else void this.#options.send(updates);
    return true;
  }

  get(name: string): LiveCluster | undefined {
    return this.#clusters.get(name);
  }

  all(): IterableIterator<LiveCluster> {
    return this.#clusters.values();
  }

  /** Empty for a cluster that is not there. */
  assignmentOf(name: string): ClusterHostsResource {
    return this.#present(name)?.assignment ?? emptyAssignment(name);
  }

  /**
   * What a new worker gets beside the clusters in use: versions whose hosts are checked before they
   * are.
   */
  *warmingUpdates(): Generator<ResourceUpdate> {
    for (const name of [...this.#warming.keys(), ...this.probed.names()]) {
      const live = this.#checked(name);
      if (live === undefined) continue;
      this.#updates.workerStarts(live);
      yield* checkedUpdates(live);
    }
  }

  /** For a new worker. */
  hostsToStartWith(name: string): ClusterHostsResource {
    const live = this.#clusters.get(name);
    if (live !== undefined) this.#updates.workerStarts(live);
    return this.#present(name)?.hosts ?? emptyAssignment(name);
  }

  /** A worker's word about a cluster; one that is gone meanwhile needs none. */
  heard(notice: ClusterNotice): void {
    deliverNotice(notice, this.#known);
  }

  /** A worker died. */
  workerGone(worker: number): void {
    this.#breakers.clearWorker(worker);
  }

  /** Sets gauges that are only computed for readers; the event loop gets its turns meanwhile. */
  async refreshGauges(): Promise<void> {
    await this.#overview.refresh();
  }

  close(): void {
    this.#unsubscribe?.();
    for (const cluster of this.#clusters.values()) cluster.close();
    for (const cluster of this.#warming.values()) cluster.close();
    this.probed.close();
    this.#warming.clear();
    this.#options.eventLogs.close();
    this.#clusters.clear();
    this.#maker?.close();
    this.#updates.clear();
    this.#pace.close();
  }

  /** Makes the live clusters what the store's versions say. */
  #follow(name: string): void {
    const { active, draining, warming } = this.#options.store.get('cluster', name) ?? {};
    this.#followActive(name, (active ?? draining)?.resolved);
    this.#followWarming(name, warming?.resolved);
    this.#followLeaving(name, active === undefined && draining !== undefined);
    this.#options.counted(this.#clusters.size - this.#leaving.size, this.#warming.size);
    this.#maker?.warming(this.#warming.size);
  }

  /** Nobody asks for the hosts of a cluster that goes; those that it has serve on. */
  #followLeaving(name: string, isLeaving: boolean): void {
    if (!isLeaving) {
      this.#leaving.delete(name);
      return;
    }
    if (this.#leaving.has(name)) return;
    this.#leaving.add(name);
    this.#clusters.get(name)?.leave();
  }

  #followActive(name: string, resolved: ResolvedCluster | undefined): void {
    const known = this.#clusters.get(name);
    if (known?.resolved === resolved) return;
    // What warmed takes the place of the version before it in one step.
    const warmed = this.#warming.get(name);
    const isWarmed = warmed !== undefined && warmed.resolved === resolved;
    if (isWarmed) this.#warming.delete(name);
    const live = isWarmed ? warmed : resolved && this.#make(resolved);
    if (known !== undefined) {
      live?.succeed(known);
      this.#forget(known);
    }
    if (live !== undefined) this.#use(live);
    if (!this.#hasStarted) return;
    this.#move(name, live === undefined ? 'removed' : known === undefined ? 'new' : 'changed');
  }

  #followWarming(name: string, resolved: ResolvedCluster | undefined): void {
    const known = this.#warming.get(name);
    if (known?.resolved === resolved) return;
    known?.close();
    this.#warming.delete(name);
    if (known !== undefined) this.#move(name, 'checks');
    if (resolved === undefined) return;
    const live = this.#make(resolved);
    this.#warming.set(name, live);
    if (live.readiness.isReady) {
      this.#promote(live);
      return;
    }
    // Workers make the checks: they have this version beside the one in use from now on.
    void live.readiness.hasHosts.then(() => this.#move(name, 'checks'));
    void live.readiness.ready.then(() => this.#promote(live));
  }

  #promote(live: LiveCluster): void {
    if (this.#warming.get(live.name) === live) this.#options.store.promote('cluster', live.name);
  }

  /** A version of a cluster that has all but its first checks. */
  #checked(name: string): LiveCluster | undefined {
    const live = this.#warming.get(name);
    return live?.readiness.isChecking === true ? live : this.probed.get(name);
  }

  #use(cluster: LiveCluster): void {
    this.#clusters.set(cluster.name, cluster);
    this.#overview.add(cluster.breakers);
  }

  #forget(cluster: LiveCluster): void {
    this.#overview.remove(cluster.breakers);
    cluster.close();
    this.#updates.forget(cluster);
    this.#clusters.delete(cluster.name);
  }

  #make(resolved: ResolvedCluster): LiveCluster {
    assert(this.#maker !== undefined, 'clusters are followed from the start on');
    const { name } = resolved.resource;
    return this.#maker.make(resolved, {
      hasTraffic: this.#clusters.get(name)?.hasTraffic ?? false,
      isUsed: (cluster) => this.#clusters.get(name) === cluster && cluster.readiness.isReady,
      prepare: (cluster, hosts) => this.#updates.prepare(cluster, hosts),
      changed: (cluster, host) => {
        // At the start no worker has anything: each gets the hosts with the clusters.
        if (this.#hasStarted) this.#sendLater(cluster, host);
      },
    });
  }

  /** The version in use, before there is one the first that warms. */
  #present(name: string): LiveCluster | undefined {
    return this.#clusters.get(name) ?? this.#warming.get(name);
  }

  /** Changes of one turn of the loop travel together. */
  #sendLater(cluster: LiveCluster, host: string | undefined): void {
    this.#updates.hostsChanged(cluster, host);
    // What a check or an answer said of a host is for the next request.
    if (host === undefined) this.#pace.paced();
    else this.#pace.soon();
  }

  #move(name: string, move: ClusterMove): void {
    this.#updates.move(name, move);
    this.#pace.soon();
  }

  #take(): readonly ResourceUpdate[] {
    const updates = this.#updates.take();
    if (updates.length > 0) this.#pace.flushed();
    return updates;
  }
}
