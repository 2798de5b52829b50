/** Route configurations that connection managers name instead of holding them. */
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

  constructor(routes: NamedRoutes, options: RouteDiscoveryOptions) {
    super();
    this.#routes = routes;
    this.#options = options;
    const { sources, statStore } = options;
    const prefix = `http.${routes.statPrefix}.rds.${routes.name}.`;
    this.#stats = DiscoveryStats.at(statStore, prefix, { reloads: true, countsEmpty: true });
    this.#emptyCounter = statStore.defineCounter(`${prefix}update_empty`);
    this.subscribe((interest) => sources.open(interest), {
      kind: 'route_configuration',
      source: routes.source,
      names: [routes.name],
      stats: this.#stats,
    });
  }

  override async update({ resources }: DiscoveryUpdate): Promise<string | undefined> {
    const { name } = this.#routes;
    const [found] = resources;
    if (found === undefined) {
      this.#options.statStore.increment(this.#emptyCounter);
      return undefined;
    }
    if (resources.length > 1) return `Unexpected RDS resource length: ${resources.length}`;
    if (found.name !== name) {
      return `Unexpected RDS configuration (expecting ${name}): ${found.name}`;
    }
    const { store, swap } = this.#options;
    const present = store.get('route_configuration', this.#routes.key)?.active;
    if (present !== undefined && isSameMessage(present.message, found.message)) return undefined;
    return await swap.bring([found.message], () => this.#take(found));
  }

  async #take(found: DiscoveredResource): Promise<string | undefined> {
    const { store, resolver, clock } = this.#options;
    if (this.isClosed) return undefined;
    const { resolved, error } =
      found.fault === undefined ? resolver.routes(found.message) : { error: found.fault };
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
    if (this.#options.store.remove('route_configuration', key)) {
      void this.#options.apply([{ op: 'remove_route_configuration', name: key }]);
    }
  }
}
