/** Route configurations that connection managers name instead of holding them. */
import { statScope } from '../../shared/stats/stat-scope.ts';
import { isDeepStrictEqual } from 'node:util';
import type { RouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { NamedRoutes } from '../resources/resolved-bootstrap.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { StatStore } from '../stats/stat-store.ts';
import type { ClusterSwap } from './cluster-swap.ts';
import { DiscoveryStats } from './discovery-stats.ts';
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';
import type { DiscoverySources } from './discovery-sources.ts';
import { NamedResources, SharedResource } from './named-resources.ts';
import type { ResourceResolver } from './resource-resolver.ts';
import { VirtualHosts } from './virtual-hosts.ts';
import { isSameMessage } from './same-message.ts';

export interface RouteDiscoveryOptions {
  readonly store: ResourceStore;
  readonly resolver: ResourceResolver;
  readonly sources: DiscoverySources;
  readonly statStore: StatStore;
  readonly clock: Clock;
  readonly swap: ClusterSwap;
  /** Resolves with what a worker refused. */
  apply(updates: readonly ResourceUpdate[]): Promise<readonly string[]>;
}

export function discoverRoutes(options: RouteDiscoveryOptions): NamedResources<NamedRoutes> {
  return new NamedResources({
    open: (routes) => new SharedRoutes(routes, options),
    target: ({ name }) => `shared target RdsRouteConfigSubscription RDS init ${name}`,
  });
}

class SharedRoutes extends SharedResource {
  readonly #routes: NamedRoutes;
  readonly #options: RouteDiscoveryOptions;
  readonly #stats: DiscoveryStats;
  readonly #emptyCounter: number;
  /** As it came, without what completes it. */
  #base: DiscoveredResource | undefined;
  #hosts: VirtualHosts | undefined;

  constructor(routes: NamedRoutes, options: RouteDiscoveryOptions) {
    super();
    this.#routes = routes;
    this.#options = options;
    const { sources, statStore } = options;
    const prefix = statScope(`http.${routes.statPrefix}.rds.${routes.name}.`);
    this.#stats = DiscoveryStats.at(statStore, prefix, { reloads: true, countsEmpty: true });
    this.#emptyCounter = statStore.defineCounter(`${prefix}update_empty`);
    this.subscribe((interest) => sources.open(interest), {
      kind: 'route_configuration',
      source: routes.source,
      names: [routes.name],
      stats: this.#stats,
    });
  }

  override async update({ resources, removed }: DiscoveryUpdate): Promise<string | undefined> {
    const { name } = this.#routes;
    const [found] = resources;
    if (found === undefined) {
      // Routes that are taken away stay in use; an answer without any is counted.
      if (removed.length === 0) this.#options.statStore.increment(this.#emptyCounter);
      return undefined;
    }
    if (resources.length > 1) return `Unexpected RDS resource length: ${resources.length}`;
    if (found.name !== name) {
      return `Unexpected RDS configuration (expecting ${name}): ${found.name}`;
    }
    if (this.#isSame(found)) return undefined;
    const refusal = await this.#bring(found);
    if (refusal === undefined && !this.isClosed) this.#follow(found);
    return refusal;
  }

  /** Routes are there when the virtual hosts are that the control plane sends by itself. */
  override settled(): void {
    if (this.#hosts === undefined || this.#hosts.isReady) return super.settled();
    void this.#hosts.ready.then(() => super.settled());
  }

  override wanted(host: string, answered: () => void): void {
    if (this.#hosts === undefined) answered();
    else this.#hosts.wanted(host, answered);
  }

  /** From here on virtual hosts complete this configuration, or they do no more. */
  #follow(found: DiscoveredResource): void {
    const { resolver, sources, statStore, clock } = this.#options;
    const { name, statPrefix } = this.#routes;
    const { vhds } = found.message as RouteConfiguration;
    const before = (this.#base?.message as RouteConfiguration | undefined)?.vhds;
    this.#base = found;
    if (isDeepStrictEqual(before, vhds)) return;
    this.#hosts?.close();
    this.#hosts = undefined;
    const source = vhds && resolver.hostsSource(vhds).resolved;
    if (source === undefined) return;
    this.#hosts = new VirtualHosts({
      name,
      statPrefix,
      source,
      sources,
      statStore,
      clock,
      changed: async (versionInfo) => {
        const base = this.#base;
        return base && (await this.#bring({ ...base, versionInfo }));
      },
    });
  }

  /** What it is refused for may be gone from the message. */
  #isSame({ message, fault }: DiscoveredResource): boolean {
    return (
      fault === undefined && this.#base !== undefined && isSameMessage(this.#base.message, message)
    );
  }

  async #bring(found: DiscoveredResource): Promise<string | undefined> {
    const { message } = found;
    const hosts = this.#hosts?.messages ?? [];
    const { virtual_hosts: own = [] } = message as {
      readonly virtual_hosts?: readonly JsonObject[];
    };
    const whole = hosts.length === 0 ? message : { ...message, virtual_hosts: [...own, ...hosts] };
    const complete = { ...found, message: whole };
    return await this.#options.swap.bring([whole], () => this.#take(complete));
  }

  async #take(found: DiscoveredResource): Promise<string | undefined> {
    const { store, resolver, clock } = this.#options;
    if (this.isClosed) return undefined;
    const { vhds } = found.message as RouteConfiguration;
    const fault = found.fault ?? (vhds && resolver.hostsSource(vhds).error);
    const { resolved, error } =
      fault === undefined ? resolver.routes(found.message) : { error: fault };
    const lastUpdatedMs = clock.wallMs();
    if (error !== undefined) {
      store.refuse('route_configuration', this.#routes.key, {
        details: error,
        lastAttemptMs: lastUpdatedMs,
        failedMessage: found.message,
      });
      return error;
    }
    const { key } = this.#routes;
    const put = { op: 'put_route_configuration', key, routes: resolved } as const;
    const [refusal] = await this.#options.apply([put]);
    if (refusal !== undefined) return refusal;
    store.putActive('route_configuration', key, {
      message: found.message,
      versionInfo: found.versionInfo,
      lastUpdatedMs,
      resolved,
    });
    this.#stats.reloaded(lastUpdatedMs);
    return undefined;
  }

  protected override ended(): void {
    const { key } = this.#routes;
    this.#hosts?.close();
    if (this.#options.store.remove('route_configuration', key)) {
      void this.#options.apply([{ op: 'remove_route_configuration', name: key }]);
    }
  }
}
