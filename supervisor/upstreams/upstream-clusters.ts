/**
 * All clusters with the hosts that they have now: follows the resource store, runs each cluster's
 * source of hosts, and tells the workers of every change. The one place that says which hosts there
 * are.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import type { ClusterHostsResource, HostAnswer } from '../../shared/resources/cluster.ts';
import type { ClusterWithHosts } from '../../shared/resources/idle-clusters.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { DnsCache } from '../dns/dns-cache.ts';
import { NameResolver } from '../dns/name-resolver.ts';
import type {
  DnsCacheSettings,
  NamedSecret,
  ResolvedCluster,
  ResolverSettings,
  SubClusterSettings,
} from '../resources/resolved-bootstrap.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { EventLogs } from '../health/event-log.ts';
import { OutlierSlots } from '../health/outlier-slots.ts';
import type { RuntimeSnapshot } from '../../shared/resources/runtime.ts';
import type { UpstreamNotice } from '../processes/worker-host.ts';
import type { SharedPages } from '../processes/worker-process.ts';
import { BreakerSlots } from './breaker-slots.ts';
import type { ResourceUse } from '../xds/resource-use.ts';
import { ForwardProxySource } from './forward-proxy-source.ts';
import type { HostAnswered, HostSink, HostSource } from './host-source.ts';
import { IdleBatches } from './idle-batches.ts';
import { LiveCluster } from './live-cluster.ts';
import { LogicalDnsSource } from './logical-dns-source.ts';
import { RequestedHostsSource } from './requested-hosts-source.ts';
import { SentHosts } from './sent-hosts.ts';
import { StrictDnsSource } from './strict-dns-source.ts';

export interface UpstreamClustersOptions {
  readonly store: ResourceStore;
  readonly writer: StatWriter;
  readonly clock: Clock;
  readonly random: () => number;
  readonly pages: SharedPages;
  readonly concurrency: number;
  runtime(): RuntimeSnapshot;
  readonly eventLogs: EventLogs;
  /** Of outlier detection in all clusters. */
  readonly outlierLogPath: string | undefined;
  /**
   * To all workers that have their first resources; others get the present hosts with these. Resolves
   * when all have applied them.
   */
  send(updates: readonly ResourceUpdate[]): Promise<unknown>;
  /** For a cluster whose hosts a control plane or a file sends. */
  makeEndpointSource(resolved: ResolvedCluster, sink: HostSink): HostSource;
  /** For a forward proxy that makes clusters of its own. */
  makeSubClusterSource(name: string, settings: SubClusterSettings, sink: HostSink): HostSource;
  /** For a cluster whose connections need a secret. */
  useSecret(secret: NamedSecret): ResourceUse;
  /** How many clusters may be used, and how many wait until they may. */
  counted(active: number, warming: number): void;
  /** The hosts of a cluster that is in use changed. */
  hostsChanged(): void;
}

/** Clusters whose gauges are set between two turns of the event loop. */
const YIELD_AFTER = 1024;

export class UpstreamClusters {
  readonly #options: UpstreamClustersOptions;
  readonly #clusters = new Map<string, LiveCluster>();
  /** Versions that wait for their first hosts, while the version before them serves. */
  readonly #warming = new Map<string, LiveCluster>();
  /** Names of clusters that are gone from the configuration while routes still name them. */
  readonly #leaving = new Set<string>();
  /** By settings: clusters that ask the same name servers share a resolver. */
  readonly #resolvers = new Map<string, NameResolver>();
  /** By name: clusters that name the same cache share it. */
  readonly #caches = new Map<string, DnsCache>();
  /** By cluster, what requests in the workers wait for. */
  readonly #answers = new Map<string, HostAnswer[]>();
  /** Undefined: the whole host set changed; else the hosts whose health did. */
  readonly #changed = new Map<LiveCluster, Set<string> | undefined>();
  /** By name, what workers are to get of clusters as a whole; `new`: they have none of that name. */
  readonly #moves = new Map<string, 'new' | 'changed' | 'removed'>();
  /** Mapped once a cluster watches for outliers. */
  #slots: OutlierSlots | undefined;
  #breakerSlots: BreakerSlots | undefined;
  readonly #sent = new SentHosts();
  #unsubscribe: (() => void) | undefined;
  #isFlushPlanned = false;
  #hasStarted = false;

  constructor(options: UpstreamClustersOptions) {
    this.#options = options;
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
      [...this.#clusters.values(), ...this.#warming.values()].filter(({ isReady }) => !isReady);
    for (let some = waiting(); some.length > 0; some = waiting()) {
      await Promise.all(some.map((cluster) => cluster.ready));
    }
    await this.flush();
  }

  /** Sends what waits for the end of this turn of the loop, so that what follows finds it there. */
  async flush(): Promise<void> {
    const updates = this.#takeUpdates();
    if (updates.length > 0) await this.#options.send(updates);
  }

  get(name: string): LiveCluster | undefined {
    return this.#clusters.get(name);
  }

  all(): IterableIterator<LiveCluster> {
    return this.#clusters.values();
  }

  /** Empty for a cluster that is not there. */
  hostsOf(name: string): ClusterHostsResource {
    const none = { cluster: name, hosts: [], overprovisioningFactor: 140 };
    return (this.#clusters.get(name) ?? this.#warming.get(name))?.hosts ?? none;
  }

  /** A worker's word about a cluster; one that is gone meanwhile needs none. */
  heard(notice: Exclude<UpstreamNotice, { readonly kind: 'routes_wanted' }>): void {
    const cluster = this.#clusters.get(notice.cluster) ?? this.#warming.get(notice.cluster);
    if (notice.kind === 'traffic_began') cluster?.beginTraffic();
    else if (notice.kind === 'host_requested') cluster?.hostRequested(notice.host);
    else if (notice.kind === 'host_used') cluster?.hostUsed(notice.host);
    else if (notice.kind === 'host_wanted') this.#answerWanted(cluster, notice);
    else if (notice.kind === 'health_event') cluster?.logCheck(notice);
    else if (notice.kind === 'health_result') cluster?.setActiveBits(notice.host, notice.bits);
    else cluster?.outlierDetected(notice.host, notice.what);
  }

  /** A worker died. */
  workerGone(worker: number): void {
    this.#breakers().clearWorker(worker);
  }

  /** Sets gauges that are only computed for readers; the event loop gets its turns meanwhile. */
  async refreshGauges(): Promise<void> {
    let count = 0;
    for (const cluster of this.#clusters.values()) {
      cluster.breakers.refresh();
      count++;
      if (count % YIELD_AFTER === 0) await nextTurn();
    }
  }

  close(): void {
    this.#unsubscribe?.();
    for (const cluster of this.#clusters.values()) cluster.close();
    for (const cluster of this.#warming.values()) cluster.close();
    this.#warming.clear();
    this.#options.eventLogs.close();
    for (const resolver of this.#resolvers.values()) resolver.close();
    this.#clusters.clear();
    this.#resolvers.clear();
    this.#changed.clear();
    this.#moves.clear();
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
    if (known !== undefined) this.#forget(known);
    if (live !== undefined) this.#clusters.set(name, live);
    if (!this.#hasStarted) return;
    const isKnown = known !== undefined || (isWarmed && isCheckedAtWorkers(warmed));
    this.#move(name, live === undefined ? 'removed' : isKnown ? 'changed' : 'new');
  }

  #followWarming(name: string, resolved: ResolvedCluster | undefined): void {
    const known = this.#warming.get(name);
    if (known?.resolved === resolved) return;
    known?.close();
    this.#warming.delete(name);
    if (resolved === undefined) {
      if (known !== undefined && isCheckedAtWorkers(known)) this.#move(name, 'removed');
      return;
    }
    const live = this.#make(resolved);
    this.#warming.set(name, live);
    const { resource: cluster } = resolved;
    const isChecked = cluster.healthChecks !== undefined;
    // Workers make the checks, for which they need the cluster; one that has it already gets it now.
    if (isChecked && !this.#clusters.has(name)) this.#move(name, 'changed');
    // New hosts are checked when the workers have this version; the others are known.
    const isReplacing = isChecked && this.#clusters.has(name);
    if (live.isReady) this.#promote(live);
    else void (isReplacing ? live.hasHosts : live.ready).then(() => this.#promote(live));
  }

  #promote(live: LiveCluster): void {
    if (this.#warming.get(live.name) === live) this.#options.store.promote('cluster', live.name);
  }

  /** The version of a cluster that workers have or get next. */
  #atWorkers(name: string): LiveCluster | undefined {
    const active = this.#clusters.get(name);
    if (active !== undefined) return active;
    const warming = this.#warming.get(name);
    return warming !== undefined && isCheckedAtWorkers(warming) ? warming : undefined;
  }

  #forget(cluster: LiveCluster): void {
    cluster.close();
    this.#changed.delete(cluster);
    this.#clusters.delete(cluster.name);
  }

  #make(resolved: ResolvedCluster): LiveCluster {
    const { name } = resolved.resource;
    return new LiveCluster({
      resolved,
      earlierBits: (id) => this.#clusters.get(name)?.checkedBits(id),
      writer: this.#options.writer,
      clock: this.#options.clock,
      random: this.#options.random,
      slots: () => (this.#slots ??= new OutlierSlots(this.#options.pages.outlierFd)),
      breakers: this.#breakers(),
      runtime: () => this.#options.runtime(),
      eventLogs: this.#options.eventLogs,
      outlierLogPath: this.#options.outlierLogPath,
      needs: resolved.secrets.map((secret) => this.#options.useSecret(secret)),
      makeSource: (sink) => this.#makeSource(resolved, sink),
      changed: (cluster, host) => {
        if (cluster.isReady && host === undefined) this.#options.hostsChanged();
        // At the start no worker has anything: each gets the hosts with the clusters.
        if (this.#hasStarted) this.#sendLater(cluster, host);
      },
    });
  }

  #answerWanted(
    live: LiveCluster | undefined,
    { cluster, host, ticket }: Extract<UpstreamNotice, { readonly kind: 'host_wanted' }>,
  ): void {
    const answered: HostAnswered = (answer) => {
      const known = this.#answers.get(cluster);
      if (known === undefined) this.#answers.set(cluster, [{ host, ticket, ...answer }]);
      else known.push({ host, ticket, ...answer });
      this.#planFlush();
    };
    if (live === undefined) answered({ outcome: 'failed', details: '' });
    else live.hostWanted(host, answered);
  }

  #breakers(): BreakerSlots {
    const { pages, concurrency } = this.#options;
    return (this.#breakerSlots ??= new BreakerSlots(pages.breakerFd, concurrency));
  }

  #makeSource(resolved: ResolvedCluster, sink: HostSink): HostSource | undefined {
    const { discovery } = resolved;
    if (discovery === undefined) return undefined;
    if (discovery.kind === 'sub_clusters') {
      return this.#options.makeSubClusterSource(resolved.resource.name, discovery.settings, sink);
    }
    if (discovery.kind === 'endpoints') return this.#options.makeEndpointSource(resolved, sink);
    const { clock, random } = this.#options;
    if (discovery.kind === 'aggregate') return undefined;
    if (discovery.kind === 'forward_proxy') {
      const { cache: settings } = discovery;
      const cache = this.#cacheOf(settings);
      const cacheEnded = (): void => void this.#caches.delete(settings.name);
      return new ForwardProxySource({ cache, sink, cacheEnded });
    }
    if (discovery.kind === 'requested') {
      return new RequestedHostsSource(discovery.cleanupIntervalMs, clock, sink);
    }
    const { settings, targets, isLogical } = discovery;
    const resolver = this.#resolverOf(settings.resolver);
    const environment = { settings, resolver, clock, random };
    const [first] = targets;
    if (!isLogical || first === undefined) return new StrictDnsSource(targets, environment, sink);
    return new LogicalDnsSource(first, environment, sink);
  }

  /** The first cluster of a cache decides its settings. */
  #cacheOf(settings: DnsCacheSettings): DnsCache {
    let cache = this.#caches.get(settings.name);
    if (cache === undefined) {
      const resolver = this.#resolverOf(settings.dns.resolver);
      cache = new DnsCache({ ...this.#options, settings, resolver });
      this.#caches.set(settings.name, cache);
    }
    return cache;
  }

  #resolverOf(settings: ResolverSettings): NameResolver {
    const key = JSON.stringify(settings);
    let resolver = this.#resolvers.get(key);
    if (resolver === undefined) {
      resolver = new NameResolver({ settings, writer: this.#options.writer });
      this.#resolvers.set(key, resolver);
    }
    return resolver;
  }

  /** Changes of one turn of the loop travel together. */
  #sendLater(cluster: LiveCluster, host: string | undefined): void {
    const known = this.#changed.get(cluster);
    const isWhole = host === undefined || (known === undefined && this.#changed.has(cluster));
    this.#changed.set(cluster, isWhole ? undefined : (known ?? new Set()).add(host));
    this.#planFlush();
  }

  #move(name: string, move: 'new' | 'changed' | 'removed'): void {
    const before = this.#moves.get(name);
    this.#moves.set(name, move === 'new' && before === 'removed' ? 'changed' : move);
    this.#planFlush();
  }

  #planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    setImmediate(() => {
      this.#isFlushPlanned = false;
      void this.flush();
    });
  }

  /** Clusters come with their hosts: all that an answer brought in one batch, packed where they may idle. */
  #takeUpdates(): readonly ResourceUpdate[] {
    const updates: ResourceUpdate[] = [];
    const added: ClusterWithHosts[] = [];
    for (const [name, move] of this.#moves) {
      const live = this.#atWorkers(name);
      if (live === undefined) updates.push({ op: 'remove_cluster', name });
      else {
        const { hosts, resolved } = live;
        if (move === 'new') added.push({ cluster: resolved.resource, hosts });
        else
          updates.push(
            { op: 'put_cluster', cluster: resolved.resource },
            { op: 'put_hosts', hosts },
          );
      }
    }
    updates.push(...new IdleBatches().updates(added));
    for (const [cluster, hosts] of this.#changed) {
      if (this.#moves.has(cluster.name) || this.#atWorkers(cluster.name) !== cluster) continue;
      updates.push(this.#updateOf(cluster, hosts));
    }
    for (const [cluster, answers] of this.#answers) {
      updates.push({ op: 'put_host_answers', cluster, answers });
    }
    this.#moves.clear();
    this.#changed.clear();
    this.#answers.clear();
    return updates;
  }

  #updateOf(cluster: LiveCluster, only: ReadonlySet<string> | undefined): ResourceUpdate {
    if (only === undefined) return this.#sent.updateOf(cluster.hosts);
    const changed = [...only].flatMap((id) => cluster.host(id) ?? []);
    this.#sent.note(changed);
    const bits = changed.map(({ id, healthBits = 0 }) => [id, healthBits] as const);
    return { op: 'put_host_health', cluster: cluster.name, bits };
  }
}

/** Workers make the checks, for which they need a cluster before it may be used. */
function isCheckedAtWorkers({ resolved }: LiveCluster): boolean {
  return resolved.resource.healthChecks !== undefined;
}
