/**
 * Makes before it breaks where an update swaps clusters and the routes to them: routes that name
 * clusters which still warm wait for these, and clusters that go stay until nothing names them any
 * more. Both have a limit. Where clusters go before they were warm, the control plane is a snapshot
 * ahead: routes to them wait for those that follow. Which clusters there are is the store's matter.
 */
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { atOnce, type Steps } from '../../loop/loop-turns.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { ResourceUse } from '../../store/resource-use.ts';

/** Routes wait no longer for the clusters that they name. */
const WARMING_LIMIT_MS = 10_000;
/** What routes still name after this time goes all the same. */
const LEAVING_LIMIT_MS = 15_000;
const CHECK_PAUSE_MS = 20;
/** Parts of messages that are looked at in one step. */
const PARTS_PER_STEP = 2048;

/** Messages on their way. */
interface Hold {
  readonly messages: readonly JsonObject[];
  /** Clusters that they wait for. */
  names: ReadonlySet<string>;
  limit: Timer | undefined;
  readonly resolve: () => void;
}

export class ClusterSwap {
  readonly #store: ResourceStore;
  readonly #clock: Clock;
  /** By name of a cluster that goes: when it does in any case. */
  readonly #leaving = new Map<string, Timer | undefined>();
  /** What is on its way to the workers. */
  readonly #holds = new Set<Hold>();
  readonly #unsubscribe: () => void;
  #nextCheck: Timer | undefined;

  constructor(store: ResourceStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#unsubscribe = store.subscribe(({ kind, name }) => {
      if (kind === 'cluster') {
        if (store.get('cluster', name)?.draining === undefined) this.#forget(name);
        for (const hold of this.#holds) this.#look(hold);
      }
      if (this.#leaving.size > 0 && kind !== 'secret') this.#planCheck();
    });
  }

  /** Removes clusters from the configuration; what routes name stays in use for a while. */
  *remove(names: readonly string[]): Steps<void> {
    if (names.length === 0) return;
    const named = yield* this.#named(names);
    for (const name of names) {
      if (named.has(name)) this.#retire(name);
      else this.#store.remove('cluster', name);
      yield;
    }
  }

  /**
   * Begins to bring messages that may name clusters into force: until the release, clusters that
   * they name stay. It is ready when no cluster that is named in `replacing` waits for its first
   * hosts, after a limit, and when it is released. What takes nobody's place does not wait: whoever
   * comes meanwhile is answered that the cluster is not there, as in Envoy.
   */
  *hold(messages: readonly JsonObject[], replacing = messages): Steps<ResourceUse> {
    let resolve = (): void => undefined;
    const ready = new Promise<void>((done) => (resolve = done));
    const hold: Hold = { messages, names: new Set(), limit: undefined, resolve };
    this.#holds.add(hold);
    let names: ReadonlySet<string> | undefined;
    try {
      names = yield* this.#warmingIn(replacing);
    } finally {
      if (names === undefined) this.#holds.delete(hold);
    }
    if (names.size > 0) {
      hold.names = names;
      hold.limit = this.#clock.after(WARMING_LIMIT_MS, () => this.#end(hold));
      // Some may have been promoted while the rest of the messages was looked at.
      this.#look(hold);
    } else resolve();
    return {
      target: 'target clusters that wait for their hosts',
      ready,
      isReady: () => hold.names.size === 0,
      release: () => {
        this.#end(hold);
        if (this.#holds.delete(hold) && this.#leaving.size > 0) this.#planCheck();
      },
    };
  }

  close(): void {
    this.#unsubscribe();
    this.#nextCheck?.cancel();
    for (const limit of this.#leaving.values()) limit?.cancel();
    this.#leaving.clear();
    for (const hold of this.#holds) this.#end(hold);
  }

  #retire(name: string): void {
    const limit = this.#clock.after(LEAVING_LIMIT_MS, () => {
      this.#leaving.set(name, undefined);
      this.#planCheck();
    });
    this.#leaving.set(name, limit);
    this.#store.retire('cluster', name);
  }

  #waits(name: string): boolean {
    const entry = this.#store.get('cluster', name);
    return entry?.warming !== undefined && entry.active === undefined;
  }

  *#warmingIn(messages: readonly JsonObject[]): Steps<ReadonlySet<string>> {
    const names = new Set<string>();
    const waits = (name: string): boolean => this.#waits(name);
    const isAnyWarming = [...this.#store.list('cluster')].some(({ name }) => waits(name));
    if (isAnyWarming) yield* collectTexts(messages, waits, names);
    return names;
  }

  /**
   * A cluster that went while it was waited for is waited for still: other routes are on their way.
   */
  #look(hold: Hold): void {
    const waits = (name: string): boolean =>
      this.#waits(name) || this.#store.get('cluster', name) === undefined;
    if (hold.names.size > 0 && ![...hold.names].some(waits)) this.#end(hold);
  }

  #end(hold: Hold): void {
    hold.limit?.cancel();
    hold.names = new Set();
    hold.resolve();
  }

  #forget(name: string): void {
    this.#leaving.get(name)?.cancel();
    this.#leaving.delete(name);
  }

  /** A check reads all routes, so that changes of some turns of the loop are looked at together. */
  #planCheck(): void {
    this.#nextCheck ??= this.#clock.after(CHECK_PAUSE_MS, () => {
      this.#nextCheck = undefined;
      this.#check();
    });
  }

  #check(): void {
    if (this.#leaving.size === 0) return;
    const named = atOnce(this.#named([...this.#leaving.keys()]));
    const draining = new Set<string>();
    for (const { draining: version } of this.#store.list('listener')) {
      if (version !== undefined)
        atOnce(collectTexts(version.message, (name) => this.#leaving.has(name), draining));
    }
    // What waits takes the place of what names them.
    const isAnyWaiting = [...this.#holds].some(({ names }) => names.size > 0);
    for (const [name, limit] of this.#leaving) {
      const isInTime = limit !== undefined || isAnyWaiting;
      const isUsed = draining.has(name) || (isInTime && named.has(name));
      if (!isUsed) this.#store.drained('cluster', name);
    }
  }

  /** Which of these names stand in what is in force. */
  *#named(names: readonly string[]): Steps<ReadonlySet<string>> {
    const wanted = new Set(names);
    const found = new Set<string>();
    const messages = [...this.#holds].flatMap((hold) => hold.messages);
    const add = (message: JsonObject | undefined): void => {
      if (message !== undefined) messages.push(message);
    };
    for (const { active } of this.#store.list('route_configuration')) add(active?.message);
    for (const { active, warming } of this.#store.list('listener')) {
      add(active?.message);
      add(warming?.message);
    }
    for (const { active } of this.#store.list('cluster')) {
      if (active?.resolved.discovery?.kind === 'aggregate') add(active.message);
    }
    yield* collectTexts(messages, (text) => wanted.has(text), found);
    return found;
  }
}

/** Adds all texts of a message that are wanted, wherever they stand. */
function* collectTexts(
  message: unknown,
  isWanted: (text: string) => boolean,
  into: Set<string>,
): Steps<void> {
  const left: unknown[] = [message];
  for (let seen = 1; left.length > 0; seen++) {
    const value = left.pop();
    if (typeof value === 'string') {
      if (isWanted(value)) into.add(value);
    } else if (typeof value === 'object' && value !== null) {
      for (const part of Object.values(value)) left.push(part);
    }
    if (seen % PARTS_PER_STEP === 0) yield;
  }
}
