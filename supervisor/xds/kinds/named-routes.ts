/** Route configurations that connection managers name instead of holding them. */
import { scopePrefix } from '../../../shared/stats/stat-scope.ts';
import { isDeepStrictEqual } from 'node:util';
import type { RouteConfiguration } from '../../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { ResourceVersion } from '../../store/resource-store.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { RouteConfigurationResource } from '../../../shared/resources/routes/route.ts';
import { RESOURCE_TYPES } from '../../resolved/resource-kinds.ts';
import { atOnce, type LoopTurns, type Steps } from '../../loop/loop-turns.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type { NamedRoutes } from '../../resolved/resolved-bootstrap.ts';
import type { ClusterSwap } from './cluster-swap.ts';
import { DiscoveryStats } from '../subscriptions/discovery-stats.ts';
import type { DiscoveredResource, DiscoveryUpdate } from '../subscriptions/discovery-update.ts';
import type { NamedOptions } from './discovery-options.ts';
import { NamedResources, SharedResource } from './named-resources.ts';
import type { Resolution } from './resource-resolver.ts';
import type { ResourceUse } from '../../store/resource-use.ts';
import { VirtualHosts } from './virtual-hosts.ts';
import { HeldSecrets } from './held-secrets.ts';
import { isSameInSteps } from './same-message.ts';

const { workers: WORKERS } = RESOURCE_TYPES.route_configuration;

export interface RouteDiscoveryOptions extends NamedOptions {
  readonly swap: ClusterSwap;
  /** In which configurations with many routes are compared, checked and resolved. */
  readonly turns: LoopTurns;
  readonly secrets: NamedResources<NamedSecret>;
  readonly log: (level: 'warning', text: string) => void;
}

export function discoverRoutes(options: RouteDiscoveryOptions): NamedResources<NamedRoutes> {
  return new NamedResources({
    open: (routes) => new SharedRoutes(routes, options),
    target: ({ name }) => `shared target RdsRouteConfigSubscription RDS init ${name}`,
  });
}

type Brought =
  | { readonly error: string; readonly brought?: undefined }
  | { readonly error?: undefined; readonly brought: Promise<string | undefined> };

class SharedRoutes extends SharedResource {
  readonly #routes: NamedRoutes;
  readonly #options: RouteDiscoveryOptions;
  readonly #stats: DiscoveryStats;
  readonly #emptyCounter: number;
  /** For filters of its routes. */
  readonly #secrets: HeldSecrets;
  /** As it came, without what completes it. */
  #base: DiscoveredResource | undefined;
  #hosts: VirtualHosts | undefined;
  /** What the version names that came last, until that is in force. */
  #clusters: ResourceUse | undefined;
  /** Versions are resolved one after the other: each builds on what came before it. */
  #resolving: Promise<unknown> = Promise.resolve();

  constructor(routes: NamedRoutes, options: RouteDiscoveryOptions) {
    super();
    this.#routes = routes;
    this.#options = options;
    this.#secrets = new HeldSecrets(options.secrets);
    const { sources, statStore } = options;
    const prefix = scopePrefix(`http.${routes.statPrefix}.rds.${routes.name}.`);
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
    if (resources.length > 1) {
      return this.#refuse(`Unexpected RDS resource length: ${resources.length}`);
    }
    if (found.name !== name) {
      return this.#refuse(`Unexpected RDS configuration (expecting ${name}): ${found.name}`);
    }
    const outcome = await this.#inOrder(isLarge(found.message), () => this.#takeAnswer(found));
    if (outcome === undefined) return undefined;
    const { error, brought } = outcome;
    if (error !== undefined) return error;
    if (!this.#isWaiting) return await brought;
    // It is accepted: another may take its place before its clusters are there.
    void brought.then((refusal) => {
      if (refusal !== undefined) this.#options.log('warning', `${name}: ${refusal}`);
    });
    return undefined;
  }

  /** Few routes at once. Nobody waits for the rest when nobody names the routes any more. */
  async #inOrder(
    isLong: boolean,
    begin: () => Steps<Brought | undefined>,
  ): Promise<Brought | undefined> {
    const resolved = this.#resolving.then(async () => {
      const steps = this.#whileOpen(begin());
      return isLong ? await this.#options.turns.run(steps) : atOnce(steps);
    });
    this.#resolving = resolved.catch(() => undefined);
    return await resolved;
  }

  *#whileOpen<Result>(steps: Steps<Result>): Steps<Result | undefined> {
    while (!this.isClosed) {
      const step = steps.next();
      if (step.done === true) return step.value;
      yield;
    }
    // What it holds so far is let go of.
    steps.return(undefined as Result);
    return undefined;
  }

  /** Undefined: it says what the one before it said. */
  *#takeAnswer(found: DiscoveredResource): Steps<Brought | undefined> {
    if (yield* this.#isSame(found)) return undefined;
    const outcome = yield* this.#bring(found);
    if (outcome.error === undefined) this.#follow(found);
    return outcome;
  }

  /** Envoy says by itself what is wrong with an answer as a whole, and returns it. */
  #refuse(reason: string): string {
    const { name } = this.#routes;
    this.#options.log('warning', `rds: route config '${name}' rejected: ${reason}`);
    return reason;
  }

  /** Routes are there when the virtual hosts are that the control plane sends by itself. */
  override settled(): void {
    if (this.#isWaiting) void this.#clusters?.ready.then(() => this.settled());
    else if (this.#hosts === undefined || this.#hosts.isReady) super.settled();
    else void this.#hosts.ready.then(() => super.settled());
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
      changed: async (versionInfo) => await this.#complete(versionInfo),
    });
  }

  /** Brings the present configuration with other virtual hosts. */
  async #complete(versionInfo: string): Promise<string | undefined> {
    const base = this.#base;
    if (base === undefined) return undefined;
    const isLong = isLarge(this.#withHosts(base).message);
    const outcome = await this.#inOrder(isLong, () =>
      this.#bring({ ...(this.#base ?? base), versionInfo }),
    );
    return outcome?.error ?? (await outcome?.brought);
  }

  /** What it is refused for may be gone from the message. */
  *#isSame({ message, fault }: DiscoveredResource): Steps<boolean> {
    if (fault !== undefined || this.#base === undefined) return false;
    return yield* isSameInSteps(this.#base.message, message);
  }

  get #isWaiting(): boolean {
    return this.#clusters?.isReady() === false;
  }

  /**
   * `brought` resolves with what a worker refused, or when it is in force or another took its
   * place.
   */
  *#bring(found: DiscoveredResource): Steps<Brought> {
    const { store, swap, clock } = this.#options;
    const whole = this.#withHosts(found);
    const resolution = yield* this.#resolve(whole);
    const { error } = resolution;
    if (error !== undefined) {
      store.refuse('route_configuration', this.#routes.key, {
        details: error,
        lastAttemptMs: clock.wallMs(),
        failedMessage: whole.message,
      });
      return { error };
    }
    const clusters = yield* swap.hold([whole.message], this.#isReplacing() ? [whole.message] : []);
    // What is on its way to the workers names its clusters until it is there.
    if (this.#isWaiting) this.#clusters?.release();
    this.#clusters = clusters;
    this.#secrets.hold(resolution.secrets);
    return { brought: this.#takeWith(clusters, whole, resolution.resolved) };
  }

  /** Whether they take the place of others: of the version before, or of a listener's routes. */
  #isReplacing(): boolean {
    if (this.#base !== undefined) return true;
    const names = (version: ResourceVersion<'listener'> | undefined): boolean =>
      version?.resolved.namedRoutes.some(({ key }) => key === this.#routes.key) === true;
    return [...this.#options.store.list('listener')].some(
      ({ active, warming }) => active !== undefined && names(warming),
    );
  }

  async #takeWith(
    clusters: ResourceUse,
    whole: DiscoveredResource,
    resolved: RouteConfigurationResource,
  ): Promise<string | undefined> {
    await clusters.ready;
    const isWanted = this.#clusters === clusters && !this.isClosed;
    const refusal = isWanted ? await this.#take(whole, resolved) : undefined;
    clusters.release();
    // Should it come again it is new.
    if (refusal !== undefined) this.#base = undefined;
    return refusal;
  }

  #withHosts(found: DiscoveredResource): DiscoveredResource {
    const hosts = this.#hosts?.messages ?? [];
    if (hosts.length === 0) return found;
    const { virtual_hosts: own = [] } = found.message as {
      readonly virtual_hosts?: readonly JsonObject[];
    };
    return { ...found, message: { ...found.message, virtual_hosts: [...own, ...hosts] } };
  }

  *#resolve({ message, fault }: DiscoveredResource): Steps<Resolution<RouteConfigurationResource>> {
    const { resolver } = this.#options;
    const { vhds } = message as RouteConfiguration;
    const error = fault ?? (vhds && resolver.hostsSource(vhds).error);
    return error === undefined ? yield* resolver.routesInSteps(message) : { error };
  }

  async #take(
    { message, versionInfo }: DiscoveredResource,
    resolved: RouteConfigurationResource,
  ): Promise<string | undefined> {
    const { store, clock } = this.#options;
    const { key } = this.#routes;
    const [refusal] = await this.#options.apply([WORKERS.put(key, resolved)]);
    // Nobody names them any more.
    if (refusal !== undefined || this.isClosed) return refusal;
    const lastUpdatedMs = clock.wallMs();
    store.putActive('route_configuration', key, { message, versionInfo, lastUpdatedMs, resolved });
    this.#stats.reloaded(lastUpdatedMs);
    return undefined;
  }

  protected override ended(): void {
    const { key } = this.#routes;
    this.#hosts?.close();
    this.#clusters?.release();
    this.#secrets.release();
    if (this.#options.store.remove('route_configuration', key)) {
      void this.#options.apply([WORKERS.remove(key)]);
    }
  }
}

/** More routes, or virtual hosts, take several turns. */
const MANY_ROUTES = 200;

function isLarge({ virtual_hosts: hosts = [] }: RouteConfiguration): boolean {
  let routes = hosts.length;
  for (const { routes: some = [] } of hosts) routes += some.length;
  return routes > MANY_ROUTES;
}
