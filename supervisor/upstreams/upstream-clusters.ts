/**
 * All clusters with the hosts that they have now: follows the resource store, runs each cluster's
 * source of hosts, and tells the workers of every change. The one place that says which hosts there
 * are.
 */
import type { ClusterHostsResource } from '../../shared/resources/clusters/cluster.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { NamedSecret, ResolvedCluster } from '../resolved/resolved-bootstrap.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { EventLogs } from '../health/event-log.ts';
import { OutlierSlots } from '../health/outlier-slots.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import type { ClusterNotice } from '../../shared/messages/worker-notices.ts';
import type { SharedPages } from '../processes/worker-process.ts';
import { BreakerOverview } from './breakers/breaker-overview.ts';
import { BreakerSlots } from './breakers/breaker-slots.ts';
import { areShort, checkedUpdates, ClusterUpdates, type ClusterMove } from './cluster-updates.ts';
import type { ResourceUse } from '../store/resource-use.ts';
import { FlushPace } from './flush-pace.ts';
import type { HostAnswered } from './sources/host-source.ts';
import { SourceMaker, type SourceMakerOptions } from './sources/source-maker.ts';
import { LiveCluster } from './live-cluster.ts';
import { type MergeCounter, MergeWindow } from './merge-window.ts';

export interface UpstreamClustersOptions extends SourceMakerOptions {
  readonly store: ResourceStore;
  readonly pages: SharedPages;
  readonly concurrency: number;
  runtime(): RuntimeSnapshot;
  readonly eventLogs: EventLogs;
  /** Of outlier detection in all clusters. */
  readonly outlierLogPath: string | undefined;
  /**
   * To all workers that have their first resources; others get the present hosts with these.
   * Resolves when all have applied them.
   */
  send(updates: readonly ResourceUpdate[]): Promise<unknown>;
  /** The same for a few small ones that nobody waits for. */
  tell(updates: readonly ResourceUpdate[]): void;
  /** For a cluster whose connections need a secret. */
  useSecret(secret: NamedSecret): ResourceUse;
  /** How many clusters may be used, and how many wait until they may. */
  counted(active: number, warming: number): void;
  /** Hosts of a cluster that is in use changed. */
  countUpdate(counter: MergeCounter): void;
}

/** Unless a cluster says otherwise. */
const MERGE_WINDOW_MS = 1000;

type CheckKind = 'health_event' | 'health_result';

export class UpstreamClusters {
  readonly #options: UpstreamClustersOptions;
  readonly #clusters = new Map<string, LiveCluster>();
  /** Versions that wait for their first hosts, while the version before them serves. */
  readonly #warming = new Map<string, LiveCluster>();
  /** Names of clusters that are gone from the configuration while routes still name them. */
  readonly #leaving = new Set<string>();
  readonly #sources: SourceMaker;
  readonly #updates = new ClusterUpdates({
    active: (name) => this.#clusters.get(name),
    checked: (name) => this.#checked(name),
  });
  readonly #pace: FlushPace;
  /** Of the version that was made last. */
  #version = 0;
  /** Mapped once a cluster watches for outliers. */
  #slots: OutlierSlots | undefined;
  #breakerSlots: BreakerSlots | undefined;
  #overview: BreakerOverview | undefined;
  #unsubscribe: (() => void) | undefined;
  #hasStarted = false;

  constructor(options: UpstreamClustersOptions) {
    this.#options = options;
    this.#sources = new SourceMaker(options);
    this.#pace = new FlushPace(options.clock, () => void this.tellNow());
  }

  /** Begins to look for the hosts of all clusters. */
  start(): void {
    const { store } = this.#options;
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
    return this.#present(name)?.assignment ?? noHosts(name);
  }

  /**
   * What a new worker gets beside the clusters in use: versions whose hosts are checked before they
   * are.
   */
  *warmingUpdates(): Generator<ResourceUpdate> {
    for (const name of this.#warming.keys()) {
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
    return this.#present(name)?.hosts ?? noHosts(name);
  }

  /** A worker's word about a cluster; one that is gone meanwhile needs none. */
  heard(notice: ClusterNotice): void {
    if (notice.kind === 'health_event') this.#versionOf(notice)?.logCheck(notice);
    else if (notice.kind === 'health_result') {
      this.#versionOf(notice)?.setActiveBits(notice.host, notice.bits);
    } else this.#used(notice);
  }

  #used(notice: Exclude<ClusterNotice, { readonly kind: CheckKind }>): void {
    const cluster = this.#clusters.get(notice.cluster);
    if (notice.kind === 'traffic_began') {
      if (cluster?.beginTraffic() === true) this.#sendLater(cluster, undefined);
    } else if (notice.kind === 'host_requested') cluster?.hostRequested(notice.host);
    else if (notice.kind === 'host_used') cluster?.hostUsed(notice.host);
    else if (notice.kind === 'host_wanted') this.#answerWanted(cluster, notice);
    else if (notice.kind === 'load_reported') cluster?.loadReported(notice.weights);
    else cluster?.outlierDetected(notice.host, notice.what);
  }

  /** What a check found holds for the version that was checked. */
  #versionOf({
    cluster,
    version,
  }: Extract<ClusterNotice, { readonly kind: CheckKind }>): LiveCluster | undefined {
    const versions = [this.#clusters.get(cluster), this.#warming.get(cluster)];
    return versions.find((live) => live?.version === version);
  }

  /** A worker died. */
  workerGone(worker: number): void {
    this.#breakers().clearWorker(worker);
  }

  /** Sets gauges that are only computed for readers; the event loop gets its turns meanwhile. */
  async refreshGauges(): Promise<void> {
    await this.#overview?.refresh();
  }

  close(): void {
    this.#unsubscribe?.();
    for (const cluster of this.#clusters.values()) cluster.close();
    for (const cluster of this.#warming.values()) cluster.close();
    this.#warming.clear();
    this.#options.eventLogs.close();
    this.#clusters.clear();
    this.#sources.close();
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
    return live?.readiness.isChecking === true ? live : undefined;
  }

  #use(cluster: LiveCluster): void {
    this.#clusters.set(cluster.name, cluster);
    this.#overview ??= new BreakerOverview(this.#breakers(), () => this.#options.runtime());
    this.#overview.add(cluster.breakers);
  }

  #forget(cluster: LiveCluster): void {
    this.#overview?.remove(cluster.breakers);
    cluster.close();
    this.#updates.forget(cluster);
    this.#clusters.delete(cluster.name);
  }

  #make(resolved: ResolvedCluster): LiveCluster {
    const { name } = resolved.resource;
    const merges = new MergeWindow({
      windowMs: resolved.mergeWindowMs ?? MERGE_WINDOW_MS,
      clock: this.#options.clock,
      count: (counter) => this.#options.countUpdate(counter),
    });
    return new LiveCluster({
      resolved,
      version: ++this.#version,
      hasTraffic: this.#clusters.get(name)?.hasTraffic ?? false,
      writer: this.#options.writer,
      clock: this.#options.clock,
      random: this.#options.random,
      slots: () => (this.#slots ??= new OutlierSlots(this.#options.pages.outlierFd)),
      breakers: this.#breakers(),
      runtime: () => this.#options.runtime(),
      eventLogs: this.#options.eventLogs,
      outlierLogPath: this.#options.outlierLogPath,
      needs: resolved.secrets.map((secret) => this.#options.useSecret(secret)),
      makeSource: (sink) => this.#sources.make(resolved, sink),
      merges,
      isUsed: (cluster) => this.#clusters.get(name) === cluster && cluster.readiness.isReady,
      changed: (cluster, host) => {
        // At the start no worker has anything: each gets the hosts with the clusters.
        if (this.#hasStarted) this.#sendLater(cluster, host);
      },
    });
  }

  #answerWanted(
    live: LiveCluster | undefined,
    { cluster, host, ticket }: Extract<ClusterNotice, { readonly kind: 'host_wanted' }>,
  ): void {
    const answered: HostAnswered = (answer) => {
      this.#updates.answered(cluster, { host, ticket, ...answer });
      this.#pace.soon();
    };
    if (live === undefined) answered({ outcome: 'failed', details: '' });
    else live.hostWanted(host, answered);
  }

  /** The version in use, before there is one the first that warms. */
  #present(name: string): LiveCluster | undefined {
    return this.#clusters.get(name) ?? this.#warming.get(name);
  }

  #breakers(): BreakerSlots {
    const { pages, concurrency } = this.#options;
    return (this.#breakerSlots ??= new BreakerSlots(pages.breakerFd, concurrency));
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

function noHosts(cluster: string): ClusterHostsResource {
  return { cluster, hosts: [], overprovisioningFactor: 140 };
}
