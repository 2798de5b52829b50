/**
 * Scopes of routes that connection managers name instead of holding them. Each scope's route
 * configuration stands in it or is subscribed to by its name; workers get all scopes at once.
 */
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import type { ScopedRouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/scoped_route.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { atOnce } from '../../loop/loop-turns.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import type { NamedScope } from '../../../shared/resources/routes/scoped-routes.ts';
import { SCOPED_RDS } from '../../../shared/stats/templates/subscriptions.ts';
import { scopeKeyParts } from '../../resources/http/scoped-routes.ts';
import { RESOURCE_TYPES } from '../../resolved/resource-kinds.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type { NamedRoutes, NamedScopes } from '../../resolved/resolved-bootstrap.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import {
  removalsOf,
  withoutDuplicates,
  type DiscoveredResource,
  type DiscoveryUpdate,
} from '../subscriptions/discovery-update.ts';
import { NamedResources, SharedResource } from './named-resources.ts';
import type { NamedOptions } from './discovery-options.ts';
import type { ResourceUse } from '../../store/resource-use.ts';
import { HeldSecrets } from './held-secrets.ts';
import { isSameMessage } from './same-message.ts';

export interface ScopeDiscoveryOptions extends NamedOptions {
  readonly routes: NamedResources<NamedRoutes>;
  readonly secrets: NamedResources<NamedSecret>;
}

export function discoverScopes(options: ScopeDiscoveryOptions): NamedResources<NamedScopes> {
  return new NamedResources({
    open: (scopes) => new SharedScopes(scopes, options),
    target: () => "target ConfigSubscriptionCommonBase init target 'SRDS'",
  });
}

const NAMELESS = 'route_configuration_name is empty.';

/** One scope in force, with what it holds. */
interface LiveScope {
  readonly resource: DiscoveredResource;
  readonly message: ScopedRouteConfiguration;
  /** What workers know its routes by. */
  readonly routes: string;
  /** The use of the routes that it names, once they are wanted. */
  use: ResourceUse | undefined;
}

class SharedScopes extends SharedResource {
  readonly #named: NamedScopes;
  readonly #options: ScopeDiscoveryOptions;
  /** For filters of routes that stand in scopes. */
  readonly #secrets: HeldSecrets;
  readonly #stats: DiscoveryStats;
  readonly #gauges: number;
  #live = new Map<string, LiveScope>();

  constructor(named: NamedScopes, options: ScopeDiscoveryOptions) {
    super();
    this.#named = named;
    this.#options = options;
    this.#secrets = new HeldSecrets(options.secrets);
    const { sources, statStore } = options;
    const prefix = scopePrefix(`http.${named.statPrefix}.scoped_rds.${named.name}.`);
    this.#stats = DiscoveryStats.at(statStore, prefix, { reloads: true, countsEmpty: true });
    this.#gauges = statStore.defineBlock(SCOPED_RDS, prefix);
    this.subscribe((interest) => sources.open(interest), {
      kind: 'scoped_routes',
      source: named.source,
      names: [],
      stats: this.#stats,
    });
  }

  async update(update: DiscoveryUpdate): Promise<string | undefined> {
    const [duplicate] = withoutDuplicates(update.resources).duplicates;
    if (duplicate !== undefined) {
      return `Error adding/updating scoped route(s): duplicate scoped route configuration '${duplicate.name}' found`;
    }
    const kept = new Map(this.#live);
    for (const name of removalsOf(update, this.#live.keys())) kept.delete(name);
    const next = new Map(kept);
    for (const resource of update.resources) {
      const known = this.#live.get(resource.name);
      const isSame = known !== undefined && isSameMessage(known.resource.message, resource.message);
      if (!isSame) next.set(resource.name, this.#make(resource));
    }
    const conflict = conflictIn(next);
    if (conflict !== undefined) return conflict;
    const refusal = this.#check(next);
    // What is gone is gone all the same, as in Envoy.
    const isAnyGone = kept.size < this.#live.size;
    if (refusal === undefined || isAnyGone) {
      await this.#take(refusal === undefined ? next : kept, update.versionInfo);
    }
    return refusal;
  }

  /** The routes of a scope that is fetched on demand. */
  override wanted(routes: string, answered: () => void): void {
    const scope = [...this.#live.values()].find((each) => each.routes === routes);
    const named = scope && this.#routesOf(scope.message);
    if (scope === undefined || named === undefined) return answered();
    scope.use ??= this.#options.routes.use(named);
    this.#count();
    void scope.use.ready.then(answered);
  }

  /** The scopes are answered when they are taken; who uses them waits for their routes too. */
  override settled(): void {
    const waits = [...this.#live.values()].flatMap(({ use }) => use ?? []);
    if (this.isClosed || waits.length === 0) super.settled();
    else void Promise.all(waits.map(({ ready }) => ready)).then(() => super.settled());
  }

  protected override ended(): void {
    const { store, statStore } = this.#options;
    const { key } = this.#named;
    const gone = [...this.#live.values()];
    this.#secrets.release();
    this.#live.clear();
    statStore.releaseBlock(this.#gauges);
    for (const { use } of gone) use?.release();
    store.remove('scoped_routes', key);
    void this.#options.apply([
      RESOURCE_TYPES.scoped_routes.workers.remove(key),
      ...gone.flatMap(removalOf),
    ]);
  }

  #make(resource: DiscoveredResource): LiveScope {
    const message = resource.message as unknown as ScopedRouteConfiguration;
    const own = `${this.#named.key} ${resource.name}`;
    const routes = this.#routesOf(message)?.key ?? own;
    return { resource, message, routes, use: undefined };
  }

  /** Undefined for a scope that holds its routes itself. */
  #routesOf(message: ScopedRouteConfiguration): NamedRoutes | undefined {
    const { routesSource: source, source: own, statPrefix } = this.#named;
    if (message.route_configuration !== undefined) return undefined;
    const { route_configuration_name: name = '' } = message;
    const from = source ?? own;
    return { key: `${name} ${JSON.stringify(from)}`, name, source: from, statPrefix };
  }

  #check(next: ReadonlyMap<string, LiveScope>): string | undefined {
    for (const { resource, message } of next.values()) {
      if (resource.fault !== undefined) return resource.fault;
      if (message.route_configuration === undefined) {
        if (message.route_configuration_name === undefined) return NAMELESS;
        continue;
      }
      const inline = message.route_configuration as unknown as JsonObject;
      const { error } = atOnce(this.#options.resolver.routesInSteps(inline));
      if (error !== undefined) return error;
    }
    return undefined;
  }

  async #take(next: Map<string, LiveScope>, versionInfo: string): Promise<void> {
    const { store, clock, routes, resolver } = this.#options;
    const { key, name } = this.#named;
    const before = this.#live;
    this.#live = next;
    const updates: ResourceUpdate[] = [];
    const secretsOfAll: NamedSecret[] = [];
    for (const scope of next.values()) {
      const named = this.#routesOf(scope.message);
      if (named === undefined) {
        const inline = scope.message.route_configuration as unknown as JsonObject;
        const resolution = atOnce(resolver.routesInSteps(inline));
        if (resolution.error !== undefined) continue;
        secretsOfAll.push(...resolution.secrets);
        if (before.get(scope.resource.name) === scope) continue;
        const { put } = RESOURCE_TYPES.route_configuration.workers;
        updates.push(put(scope.routes, resolution.resolved));
      } else if (scope.message.on_demand !== true) {
        scope.use ??= routes.use(named);
      }
    }
    this.#secrets.hold(secretsOfAll);
    const scopes = [...next.values()].map(({ message, routes: of }): NamedScope => ({
      key: scopeKeyParts(message),
      routes: of,
    }));
    const kept = new Set([...next.values()].map((scope) => scope.routes));
    const gone = [...before.values()].filter((scope) => next.get(scope.resource.name) !== scope);
    const lastUpdatedMs = clock.wallMs();
    await this.#options.apply([
      ...updates,
      RESOURCE_TYPES.scoped_routes.workers.put(key, scopes),
      ...gone.filter((scope) => !kept.has(scope.routes)).flatMap(removalOf),
    ]);
    for (const { use } of gone) use?.release();
    const messages = [...next.values()].map(({ resource }) => resource.message);
    const message = { name, scoped_route_configs: messages };
    store.putActive('scoped_routes', key, {
      message,
      versionInfo,
      lastUpdatedMs,
      resolved: scopes,
    });
    this.#stats.reloaded(lastUpdatedMs);
    this.#count();
  }

  #count(): void {
    const { statStore } = this.#options;
    const { index } = SCOPED_RDS;
    const live = [...this.#live.values()];
    const onDemand = live.filter((scope) => scope.message.on_demand === true).length;
    const active = live.filter(({ use }) => use !== undefined).length;
    statStore.setGauge(this.#gauges + index.all_scopes, live.length);
    statStore.setGauge(this.#gauges + index.on_demand_scopes, onDemand);
    statStore.setGauge(this.#gauges + index.active_scopes, active);
  }
}

/** The routes that a scope holds itself; those that it names go with their last user. */
function removalOf({ routes, message }: LiveScope): readonly ResourceUpdate[] {
  if (message.route_configuration === undefined) return [];
  return [RESOURCE_TYPES.route_configuration.workers.remove(routes)];
}

function conflictIn(scopes: ReadonlyMap<string, LiveScope>): string | undefined {
  const seen = new Map<string, string>();
  for (const [name, { message }] of scopes) {
    const key = JSON.stringify(scopeKeyParts(message));
    const other = seen.get(key);
    if (other !== undefined) {
      const keys = `first scope is '${other}', second scope is '${name}'`;
      return `Error adding/updating scoped route(s): scope key conflict found, ${keys}`;
    }
    seen.set(key, name);
  }
  return undefined;
}
