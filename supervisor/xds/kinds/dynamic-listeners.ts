/**
 * Listeners while the server runs: each waits for the routes, secrets and clusters that it names
 * before it takes connections, and drains after it was changed or removed. The order on the way to
 * the workers is fixed here: a listener's configuration first, its sockets then.
 */
import type { Clock } from '../../../shared/process/clock.ts';
import type { ResourceUpdate } from '../../../shared/resources/resource-update.ts';
import type { UnreadyTargets } from '../../store/discovery-status.ts';
import type { PreparedListener } from '../../sockets/open-listener.ts';
import type { OpenListeners } from '../../sockets/open-listeners.ts';
import type { NamedSecret } from '../../resolved/named-secret.ts';
import type {
  NamedFilter,
  NamedRoutes,
  NamedScopes,
  ResolvedListener,
} from '../../resolved/resolved-bootstrap.ts';
import type { ResourceStore, ResourceVersion } from '../../store/resource-store.ts';
import type { ServerStats } from '../../life-cycle/server-stats.ts';
import type { LoopTurns } from '../../loop/loop-turns.ts';
import type { ClusterSwap } from './cluster-swap.ts';
import { DrainingListeners } from './draining-listeners.ts';
import { changesOnlyChains } from './listener-changes.ts';
import { versionHash } from '../subscriptions/version-hash.ts';
import type { NamedResources } from './named-resources.ts';
import { isSameMessage } from './same-message.ts';
import type { ResourceUse } from '../../store/resource-use.ts';

/** The workers, as far as listeners need them. */
export interface ListenerWorkers {
  readonly concurrency: number;
  /** Resolves with what a worker refused. */
  apply(updates: readonly ResourceUpdate[]): Promise<readonly string[]>;
  adoptListeners(): Promise<readonly string[]>;
  endListening(names: readonly string[]): Promise<void>;
}

export interface DynamicListenersOptions {
  readonly store: ResourceStore;
  readonly open: OpenListeners;
  readonly routes: NamedResources<NamedRoutes>;
  readonly scopes: NamedResources<NamedScopes>;
  readonly filters: NamedResources<NamedFilter>;
  readonly secrets: NamedResources<NamedSecret>;
  readonly workers: ListenerWorkers;
  readonly serverStats: ServerStats;
  readonly swap: ClusterSwap;
  /** In which a large listener is looked through for the clusters that it names. */
  readonly turns: LoopTurns;
  readonly clock: Clock;
  readonly drainTimeMs: number;
  readonly log: (level: 'debug' | 'info' | 'warning', text: string) => void;
}

type Version = ResourceVersion<'listener'>;

/** What one version of a listener holds. */
interface Holding {
  readonly uses: readonly ResourceUse[];
  /** What it waits for alone: released when it is ready, and nothing that drains needs it. */
  readonly clusters?: ResourceUse;
}

export class DynamicListeners {
  readonly #options: DynamicListenersOptions;
  /** The holding of the version in force, by listener. */
  readonly #active = new Map<string, Holding>();
  /** The holding of the version that waits, by listener. */
  readonly #warming = new Map<string, Holding>();
  readonly #draining: DrainingListeners;
  #isStarted = false;
  #isServing = false;
  #isClosed = false;

  constructor(options: DynamicListenersOptions) {
    this.#options = options;
    this.#draining = new DrainingListeners({ ...options, counted: () => this.#count() });
  }

  /** Begins to wait for what the listeners of the bootstrap need. */
  startStatic(): void {
    this.#isStarted = true;
    for (const { name, active } of this.#options.store.list('listener')) {
      if (active !== undefined) this.#active.set(name, this.#hold(active.resolved));
    }
  }

  /** Resolves when all listeners that are there now have what they need. */
  async ready(): Promise<void> {
    const uses = [...this.#active.values()].flatMap(awaited);
    await Promise.all(uses.map((use) => use.ready));
  }

  /** From here on listeners warm before they take connections. */
  serving(): void {
    this.#isServing = true;
  }

  /**
   * What listeners wait for: every listener before the server serves, those that warm from then on.
   */
  unreadyTargets(): readonly UnreadyTargets[] {
    const waiting = [...(this.#isServing ? this.#warming : this.#active)].map(([name, holding]) =>
      unready(
        name,
        awaited(holding)
          .filter((use) => !use.isReady())
          .map((use) => use.target),
      ),
    );
    return this.#isStarted ? waiting : [...this.#notStarted(), ...waiting];
  }

  /** Adds a listener or puts another version in its place. Resolves with why it cannot be. */
  async put(name: string, given: Version): Promise<string | undefined> {
    const { open, store, serverStats } = this.#options;
    const origin = this.#changedInPlace(name, given);
    // As in Envoy, the dump goes on to name the version that the listener began with.
    const version = origin === undefined ? given : { ...given, versionInfo: origin.versionInfo };
    const { active, warming } = store.get('listener', name) ?? {};
    if (active !== undefined && isSameMessage(active.message, given.message)) {
      this.#revert(name);
      return undefined;
    }
    const isNew = active === undefined && warming === undefined;
    const prepared = await open.prepare(version.resolved, this.#options.workers.concurrency);
    if ('refusal' in prepared) {
      if (prepared.isBinding) serverStats.listenerCreateFailed();
      return prepared.refusal;
    }
    if (isNew) serverStats.listenersAdded(1);
    else serverStats.listenerModified();
    if (origin !== undefined) serverStats.listenerUpdatedInPlace();
    this.#forgetWarming(name);
    const { turns, swap } = this.#options;
    const replacing = active === undefined ? [] : [version.message];
    const clusters = await turns.run(swap.hold([version.message], replacing));
    void clusters.ready.then(() => clusters.release());
    const holding = { ...this.#hold(version.resolved), clusters };
    if (!this.#isServing || awaited(holding).every((use) => use.isReady())) {
      return this.#activate(name, version, { holding, prepared });
    }
    store.putWarming('listener', name, version);
    this.#warming.set(name, holding);
    this.#count();
    void Promise.all(awaited(holding).map((use) => use.ready)).then(async () => {
      if (this.#warming.get(name) !== holding || this.#isClosed) {
        open.discard(prepared);
        return;
      }
      this.#warming.delete(name);
      const refusal = await this.#activate(name, version, { holding, prepared });
      if (refusal !== undefined) this.#options.log('warning', `listener '${name}': ${refusal}`);
    });
    return undefined;
  }

  /** Takes a listener away; its open connections drain. */
  async remove(name: string): Promise<void> {
    const { store, open, workers, serverStats } = this.#options;
    const holding = this.#active.get(name);
    const former = store.get('listener', name)?.active;
    if (holding !== undefined || this.#warming.has(name)) serverStats.listenerRemoved();
    this.#active.delete(name);
    this.#forgetWarming(name);
    if (holding === undefined) {
      store.dropWarming('listener', name);
      this.#count();
      return;
    }
    store.retire('listener', name);
    open.forget(name);
    this.#draining.drain(name, holding.uses, former);
    await workers.endListening([name]);
    await workers.apply([{ op: 'remove_listener', name }]);
  }

  close(): void {
    this.#isClosed = true;
    this.#draining.close();
  }

  #hold({ namedRoutes, namedScopes, namedFilters, secrets: named }: ResolvedListener): Holding {
    const { routes, scopes, secrets, filters } = this.#options;
    return {
      uses: [
        ...namedRoutes.map((each) => routes.use(each)),
        ...namedScopes.map((each) => scopes.use(each)),
        ...named.map((each) => secrets.use(each)),
        ...namedFilters.map((each) => filters.use(each)),
      ],
    };
  }

  /**
   * While clusters are waited for, nothing that listeners of the bootstrap name is asked for yet.
   */
  *#notStarted(): Generator<UnreadyTargets> {
    const { routes, scopes, secrets, filters, store } = this.#options;
    for (const { name, active } of store.list('listener')) {
      if (active === undefined) continue;
      const { namedRoutes, namedScopes, namedFilters, secrets: named } = active.resolved;
      yield unready(name, [
        ...namedRoutes.map((each) => routes.targetOf(each)),
        ...namedScopes.map((each) => scopes.targetOf(each)),
        ...named.map((each) => secrets.targetOf(each)),
        ...namedFilters.map((each) => filters.targetOf(each)),
      ]);
    }
  }

  /** The version in force is wanted again: what was to take its place is not. */
  #revert(name: string): void {
    const { store, serverStats } = this.#options;
    if (!this.#warming.has(name)) return;
    serverStats.listenerModified();
    this.#forgetWarming(name);
    store.dropWarming('listener', name);
    this.#count();
  }

  #forgetWarming(name: string): void {
    const holding = this.#warming.get(name);
    if (holding === undefined) return;
    this.#warming.delete(name);
    for (const use of awaited(holding)) use.release();
  }

  async #activate(
    name: string,
    version: Version,
    { holding, prepared }: { readonly holding: Holding; readonly prepared: PreparedListener },
  ): Promise<string | undefined> {
    const { open, store, workers, serverStats } = this.#options;
    const former = this.#active.get(name);
    const known = store.get('listener', name)?.active;
    const installation = open.install(prepared);
    const listener = prepared.resource;
    const [refusal] = await workers.apply([{ op: 'put_listener', listener }]);
    if (refusal !== undefined) {
      serverStats.listenerCreateFailed();
      installation.undo();
      store.dropWarming('listener', name);
      for (const use of holding.uses) use.release();
      this.#count();
      return refusal;
    }
    // Old sockets of another address go only now that the new version is everywhere.
    installation.retireFormer();
    if (former !== undefined && !prepared.keepsSockets) await workers.endListening([name]);
    installation.done();
    this.#active.set(name, holding);
    store.putWarming('listener', name, version);
    const isInPlace = known !== undefined && changesOnlyChains(known.message, version.message);
    store.promote('listener', name);
    this.#draining.show(name);
    if (former !== undefined) {
      if (isInPlace) this.#draining.drainChains(former.uses, known, version);
      else this.#draining.drain(name, former.uses, known);
    }
    if (this.#isServing) {
      open.listen(name);
      const failures = await workers.adoptListeners();
      failures.forEach((failure) => this.#options.log('warning', failure));
      serverStats.listenersCreated(workers.concurrency);
    }
    this.#count();
    return undefined;
  }

  /** The version of which only filter chains become others. */
  #changedInPlace(name: string, { message }: Version): Version | undefined {
    const present = this.#options.store.get('listener', name)?.active;
    if (!this.#isServing || present === undefined) return undefined;
    return changesOnlyChains(present.message, message) ? present : undefined;
  }

  #count(): void {
    const { serverStats } = this.#options;
    serverStats.setListenerCount(this.#active.size);
    const { versions, chains } = this.#draining;
    serverStats.setListenersInBetween(this.#warming.size, versions, chains);
  }
}

function awaited({ uses, clusters }: Holding): readonly ResourceUse[] {
  return clusters === undefined ? uses : [...uses, clusters];
}

function unready(name: string, targetNames: readonly string[]): UnreadyTargets {
  const manager = `init manager Listener-local-init-manager ${name} ${versionHash(name)}`;
  return { component: 'listener', name: manager, targetNames };
}
