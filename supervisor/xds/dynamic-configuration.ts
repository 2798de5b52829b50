/**
 * Everything that this server gets from control planes and watched files, put together, and the
 * order in which it begins: clusters with their endpoints first, then listeners with their routes.
 */
import type { Bootstrap } from '../../shared/api/generated/envoy/config/bootstrap/v3/bootstrap.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { UnreadyTargets } from '../store/discovery-status.ts';
import type { OpenListeners } from '../sockets/open-listeners.ts';
import { canCarryDiscovery } from '../resources/check-config-source.ts';
import type { NamedSecret } from '../resolved/named-secret.ts';
import type {
  NamedFilter,
  NamedRoutes,
  NamedScopes,
  ResolvedBootstrap,
  ResolvedCluster,
  SubClusterSettings,
} from '../resolved/resolved-bootstrap.ts';
import type { ResourceStore } from '../store/resource-store.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { HostSink, HostSource } from '../upstreams/sources/host-source.ts';
import { SubClusterSource } from '../upstreams/sources/sub-cluster-source.ts';
import { ClusterSwap } from './kinds/cluster-swap.ts';
import { ClusterDiscovery } from './kinds/cluster-discovery.ts';
import type { CollectionOptions } from './kinds/discovery-options.ts';
import { decodeEnvironment, type DecodingServer } from './decode-environment.ts';
import {
  DiscoverySources,
  type Interest,
  type OpenSubscription,
} from './subscriptions/discovery-sources.ts';
import { DiscoveryStats } from './subscriptions/discovery-stats.ts';
import { DynamicListeners, type ListenerWorkers } from './kinds/dynamic-listeners.ts';
import { LoopTurns } from '../loop/loop-turns.ts';
import { EndpointSource } from './kinds/endpoint-source.ts';
import {
  formatLocator,
  withNodeContext,
  type ResourceLocator,
} from '../resolved/resource-locator.ts';
import { KeptResources } from './subscriptions/kept-resources.ts';
import { ListenerDiscovery, type ListenerDiscoveryOptions } from './kinds/listener-discovery.ts';
import { discoverFilters } from './kinds/named-filters.ts';
import type { NamedResources } from './kinds/named-resources.ts';
import { discoverRoutes } from './kinds/named-routes.ts';
import { discoverScopes } from './kinds/named-scopes.ts';
import type { RoutesNotice } from '../../shared/messages/worker-notices.ts';
import type { ControlPlaneClusters } from '../services/control-plane-clusters.ts';
import { loadFileSecrets } from './kinds/file-secrets.ts';
import { discoverSecrets } from './kinds/named-secrets.ts';
import { RuntimeDiscovery, type RuntimeSink } from './kinds/runtime-discovery.ts';
import { ResourceResolver } from './kinds/resource-resolver.ts';
import { WantedRoutes } from './kinds/wanted-routes.ts';

export interface DynamicConfigurationOptions extends DecodingServer {
  readonly bootstrap: Bootstrap;
  readonly resolved: ResolvedBootstrap;
  readonly store: ResourceStore;
  readonly statStore: StatStore;
  readonly clock: Clock;
  readonly open: OpenListeners;
  readonly workers: ListenerWorkers;
  readonly drainTimeMs: number;
  readonly clusters: ControlPlaneClusters;
  readonly runtime: RuntimeSink & DecodingServer['runtime'];
  /** Whom a control plane serves. */
  readonly node: JsonObject;
  readonly isStopped: ListenerDiscoveryOptions['isStopped'];
  /** The file that keeps what was accepted for another start; undefined: there is none. */
  readonly keptPath: string | undefined;
  /** The secret of this key is another one now. */
  readonly secretChanged: (key: string) => void;
}

const log = getLogger('config');
const upstreamLog = getLogger('upstream');
const routesLog = getLogger('rds');

export class DynamicConfiguration {
  readonly listeners: DynamicListeners;
  readonly secrets: NamedResources<NamedSecret>;
  readonly filters: NamedResources<NamedFilter>;
  readonly #options: DynamicConfigurationOptions;
  readonly #kept: KeptResources | undefined;
  readonly #sources: DiscoverySources;
  readonly #resolver: ResourceResolver;
  readonly #swap: ClusterSwap;
  readonly #turns: LoopTurns;
  readonly #routes: NamedResources<NamedRoutes>;
  readonly #scopes: NamedResources<NamedScopes>;
  readonly #runtime: RuntimeDiscovery;
  readonly #wantedRoutes: WantedRoutes;
  readonly #subscriptions: OpenSubscription[] = [];
  readonly #listenerStats: DiscoveryStats | undefined;
  #hasFirstClusters = false;

  constructor(options: DynamicConfigurationOptions) {
    this.#options = options;
    if (options.resolved.dynamic.listeners !== undefined) {
      // They are there while clusters are waited for.
      this.#listenerStats = DiscoveryStats.at(options.statStore, 'listener_manager.lds.');
    }
    const { store, clock, statStore, workers } = options;
    this.#swap = new ClusterSwap(store, clock);
    this.#turns = new LoopTurns(clock);
    this.#resolver = new ResourceResolver({
      bootstrap: options.bootstrap,
      rules: options.resolved,
      isKnownCluster: (name) => {
        const { active, warming } = store.get('cluster', name) ?? {};
        return active !== undefined || warming !== undefined;
      },
      isStaticCluster: (name) => {
        const known = store.get('cluster', name);
        return known?.source === 'static' && canCarryDiscovery(known.active?.resolved);
      },
      warn: (text) => log.warning(text),
    });
    const { keptPath: path } = options;
    this.#kept = path === undefined ? undefined : new KeptResources({ path, clock, log: log.log });
    this.#sources = new DiscoverySources({
      clock,
      kept: this.#kept,
      history: store.history,
      clusters: options.clusters,
      node: options.node,
      aggregated: options.resolved.dynamic.aggregated,
      statStore,
      decoding: decodeEnvironment(options),
      log: log.log,
    });
    const named = {
      store,
      swap: this.#swap,
      resolver: this.#resolver,
      sources: this.#sources,
      turns: this.#turns,
      statStore,
      clock,
      apply: (updates: readonly ResourceUpdate[]) => workers.apply(updates),
      log: upstreamLog.log,
    };
    this.secrets = discoverSecrets({ ...named, changed: options.secretChanged, log: log.log });
    const { secrets } = this;
    this.#routes = discoverRoutes({ ...named, secrets, log: routesLog.log });
    this.#scopes = discoverScopes({ ...named, secrets, routes: this.#routes });
    const wantable = { ...named, routes: this.#routes, scopes: this.#scopes };
    this.#wantedRoutes = new WantedRoutes(wantable);
    this.filters = discoverFilters({ ...named, secrets });
    this.#runtime = new RuntimeDiscovery({
      layers: options.resolved.runtimeLayers,
      runtime: options.runtime,
      sources: this.#sources,
      statStore,
    });
    this.listeners = new DynamicListeners({
      ...options,
      ...named,
      routes: this.#routes,
      scopes: this.#scopes,
      secrets: this.secrets,
      filters: this.filters,
    });
  }

  /** For a cluster whose hosts come from elsewhere. */
  makeEndpointSource(resolved: ResolvedCluster, sink: HostSink): HostSource {
    const { discovery } = resolved;
    if (discovery?.kind !== 'endpoints') throw new Error('the cluster has its hosts by itself');
    return new EndpointSource(resolved, discovery, sink, {
      sources: this.#sources,
      resolver: this.#resolver,
      statStore: this.#options.statStore,
      clock: this.#options.clock,
      turns: this.#turns,
      log: upstreamLog.log,
    });
  }

  /** For a forward proxy that makes clusters of its own. */
  makeSubClusterSource(name: string, settings: SubClusterSettings, sink: HostSink): HostSource {
    const { store, clock, serverStats } = this.#options;
    return new SubClusterSource({
      name,
      settings,
      store,
      clock,
      sink,
      resolve: (message) => this.#resolver.cluster(message).resolved,
      counted: (change) => {
        if (change === 'added') serverStats.clusterAdded();
        else serverStats.clusterRemoved();
      },
    });
  }

  /** Begins to fetch runtime layers; resolves when they are there or were waited for in vain. */
  async runtimeLayers(): Promise<void> {
    await this.#kept?.load();
    await loadFileSecrets(this.#options.store, this.secrets);
    await this.#runtime.start();
  }

  /** Begins to fetch clusters; resolves when the first answer was taken or waited for in vain. */
  async clusters(): Promise<void> {
    const { resolved, statStore, serverStats } = this.#options;
    const { clusters: source } = resolved.dynamic;
    if (source === undefined) return;
    const stats = DiscoveryStats.at(statStore, 'cluster_manager.cds.', { reloads: true });
    await new Promise<void>((settled) => {
      const consumer = new ClusterDiscovery({
        ...this.#collection(settled),
        stats,
        serverStats,
      });
      const names = this.#namesOf(resolved.dynamic.clusterCollection);
      this.#open({ kind: 'cluster', source, names, stats, consumer });
    });
  }

  /**
   * How many clusters wait until they may be used. Once the server has its first ones, a control
   * plane on the stream that sources share hears that clusters were taken when all of them may be.
   */
  clustersWarming(count: number): void {
    this.#sources.hold('cluster', this.#hasFirstClusters && count > 0);
  }

  /** Begins to fetch routes and listeners; resolves when those that there are then are ready. */
  async startListeners(): Promise<void> {
    this.#hasFirstClusters = true;
    this.listeners.startStatic();
    await this.#fetchListeners();
    await this.listeners.ready();
  }

  /** A worker's request waits for routes; it hears once, when what there is for it is in force. */
  routesWanted(notice: RoutesNotice): void {
    this.#wantedRoutes.heard(notice);
  }

  unreadyTargets(): readonly UnreadyTargets[] {
    return this.listeners.unreadyTargets();
  }

  close(): void {
    // What ends with the server stays in the file.
    this.#kept?.close();
    for (const subscription of this.#subscriptions) subscription.close();
    this.#subscriptions.length = 0;
    this.filters.close();
    this.#swap.close();
    this.#runtime.close();
    this.listeners.close();
    this.#scopes.close();
    this.#routes.close();
    this.secrets.close();
    this.#sources.close();
  }

  async #fetchListeners(): Promise<void> {
    const { resolved, isStopped } = this.#options;
    const { listeners: source } = resolved.dynamic;
    const stats = this.#listenerStats;
    if (source === undefined || stats === undefined) return;
    await new Promise<void>((settled) => {
      const consumer = new ListenerDiscovery({
        ...this.#collection(settled),
        listeners: this.listeners,
        isStopped,
      });
      const names = this.#namesOf(resolved.dynamic.listenerCollection);
      this.#open({ kind: 'listener', source, names, stats, consumer });
    });
  }

  #collection(settled: () => void): CollectionOptions {
    const { store, clock } = this.#options;
    const own = { resolver: this.#resolver, swap: this.#swap, turns: this.#turns };
    return { store, clock, ...own, settled, log: upstreamLog.log };
  }

  #open(interest: Interest): void {
    const subscription = this.#sources.open(interest);
    this.#subscriptions.push(subscription);
    subscription.start();
  }

  /** What is asked for: a collection by its name, else all that there are. */
  #namesOf(collection: ResourceLocator | undefined): readonly string[] {
    if (collection === undefined) return [];
    const { bootstrap, node } = this.#options;
    const keys = bootstrap.node_context_params ?? [];
    return [formatLocator(withNodeContext(collection, keys, node))];
  }
}
