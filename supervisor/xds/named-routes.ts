/**
 * Route configurations that listeners name instead of holding them: one subscription for each source
 * and name, however many listeners use it, from its first user to its last.
 */
import type { Clock } from '../../shared/clock.ts';
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import type { NamedRoutes } from '../resources/resolved-bootstrap.ts';
import type { ResourceStore } from '../resources/resource-store.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { DiscoveryStats } from './discovery-stats.ts';
import type { DiscoveryConsumer, DiscoveryUpdate } from './discovery-update.ts';
import type { DiscoverySources, OpenSubscription } from './discovery-sources.ts';
import type { ResourceResolver } from './resource-resolver.ts';
import type { ResourceUse } from './resource-use.ts';
import { isSameMessage } from './same-message.ts';

export interface RouteDiscoveryOptions {
  readonly store: ResourceStore;
  readonly resolver: ResourceResolver;
  readonly sources: DiscoverySources;
  readonly statStore: StatStore;
  readonly clock: Clock;
  /** Resolves with what a worker refused. */
  apply(updates: readonly ResourceUpdate[]): Promise<readonly string[]>;
}

export class RouteDiscovery {
  readonly #options: RouteDiscoveryOptions;
  readonly #routes = new Map<string, SharedRoutes>();

  constructor(options: RouteDiscoveryOptions) {
    this.#options = options;
  }

  use(routes: NamedRoutes): ResourceUse {
    let shared = this.#routes.get(routes.key);
    if (shared === undefined) {
      shared = new SharedRoutes(routes, this.#options);
      this.#routes.set(routes.key, shared);
    }
    const used = shared;
    used.users++;
    let isReleased = false;
    return {
      target: `shared target RdsRouteConfigSubscription RDS init ${routes.name}`,
      ready: used.ready,
      isReady: () => used.isReady,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        used.users--;
        if (used.users > 0) return;
        this.#routes.delete(routes.key);
        used.close();
      },
    };
  }

  close(): void {
    for (const shared of this.#routes.values()) shared.close();
    this.#routes.clear();
  }
}

class SharedRoutes implements DiscoveryConsumer {
  readonly ready: Promise<void>;
  users = 0;
  isReady = false;
  readonly #routes: NamedRoutes;
  readonly #options: RouteDiscoveryOptions;
  readonly #stats: DiscoveryStats;
  readonly #subscription: OpenSubscription;
  readonly #emptyCounter: number;
  #resolveReady: (() => void) | undefined;

  constructor(routes: NamedRoutes, options: RouteDiscoveryOptions) {
    this.#routes = routes;
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    const prefix = `http.${routes.statPrefix}.rds.${routes.name}.`;
    this.#stats = DiscoveryStats.at(options.statStore, prefix, {
      reloads: true,
      countsEmpty: true,
    });
    this.#emptyCounter = options.statStore.defineCounter(`${prefix}update_empty`);
    this.#subscription = options.sources.open({
      kind: 'route_configuration',
      source: routes.source,
      names: [routes.name],
      stats: this.#stats,
      consumer: this,
    });
    this.#subscription.start();
  }

  async update({ resources, versionInfo }: DiscoveryUpdate): Promise<string | undefined> {
    const { name } = this.#routes;
    const [other] = resources;
    if (other === undefined) {
      this.#options.statStore.increment(this.#emptyCounter);
      return undefined;
    }
    const found = resources.find((resource) => resource.name === name);
    if (found === undefined) {
      return `Unexpected RDS configuration (expecting ${name}): ${other.name}`;
    }
    const { store, resolver, clock } = this.#options;
    const present = store.get('route_configuration', this.#routes.key)?.active;
    if (present !== undefined && isSameMessage(present.message, found.message)) return undefined;
    const { resolved, error } = resolver.routes(found.message);
    const lastUpdatedMs = clock.wallMs();
    if (error !== undefined) {
      store.refuse('route_configuration', this.#routes.key, {
        details: error,
        versionInfo,
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

  refused(): void {}

  settled(): void {
    this.isReady = true;
    this.#resolveReady?.();
  }

  close(): void {
    const { key } = this.#routes;
    this.#subscription.close();
    this.settled();
    if (this.#options.store.remove('route_configuration', key)) {
      void this.#options.apply([{ op: 'remove_route_configuration', name: key }]);
    }
  }
}
