/**
 * Makes before it breaks where an update swaps clusters and the routes to them: routes that name
 * clusters which still warm wait for these, and clusters that go stay until nothing names them any
 * more. Both have a limit. Which clusters there are is the store's matter.
 */
import type { Clock, Timer } from '../../shared/clock.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { ResourceStore } from '../resources/resource-store.ts';

/** Routes wait no longer for the clusters that they name. */
const WARMING_LIMIT_MS = 10_000;
/** What routes still name after this time goes all the same. */
const LEAVING_LIMIT_MS = 15_000;
const CHECK_PAUSE_MS = 20;

export class ClusterSwap {
  readonly #store: ResourceStore;
  readonly #clock: Clock;
  /** By name of a cluster that goes: when it does in any case. */
  readonly #leaving = new Map<string, Timer | undefined>();
  /** What is on its way to the workers. */
  readonly #coming = new Set<readonly JsonObject[]>();
  readonly #waiting = new Set<() => void>();
  readonly #unsubscribe: () => void;
  #nextCheck: Timer | undefined;

  constructor(store: ResourceStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#unsubscribe = store.subscribe(({ kind, name }) => {
      if (kind === 'cluster') {
        if (store.get('cluster', name)?.draining === undefined) this.#forget(name);
        for (const look of this.#waiting) look();
      }
      if (this.#leaving.size > 0 && kind !== 'secret') this.#planCheck();
    });
  }

  /** Removes clusters from the configuration; what routes name stays in use for a while. */
  remove(names: readonly string[]): void {
    if (names.length === 0) return;
    const named = this.#named(names);
    for (const name of names) {
      if (named.has(name)) this.#retire(name);
      else this.#store.remove('cluster', name);
    }
  }

  /**
   * Brings messages that may name clusters into force with `take`, which is called when no cluster
   * that is named there waits for its first hosts, or after a limit.
   */
  async bring<Result>(
    messages: readonly JsonObject[],
    take: () => Promise<Result>,
  ): Promise<Result> {
    this.#coming.add(messages);
    try {
      await this.#warmed(messages);
      return await take();
    } finally {
      this.#coming.delete(messages);
    }
  }

  close(): void {
    this.#unsubscribe();
    this.#nextCheck?.cancel();
    for (const limit of this.#leaving.values()) limit?.cancel();
    this.#leaving.clear();
    for (const look of this.#waiting) look();
  }

  #retire(name: string): void {
    const limit = this.#clock.after(LEAVING_LIMIT_MS, () => {
      this.#leaving.set(name, undefined);
      this.#planCheck();
    });
    this.#leaving.set(name, limit);
    this.#store.retire('cluster', name);
  }

  async #warmed(messages: readonly JsonObject[]): Promise<void> {
    const waits = (name: string): boolean => {
      const entry = this.#store.get('cluster', name);
      return entry?.warming !== undefined && entry.active === undefined;
    };
    const isAnyWarming = [...this.#store.list('cluster')].some(({ name }) => waits(name));
    if (!isAnyWarming) return;
    const names = new Set<string>();
    for (const message of messages) collectTexts(message, waits, names);
    if (names.size === 0) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        limit.cancel();
        this.#waiting.delete(look);
        resolve();
      };
      const look = (): void => {
        if (![...names].some(waits)) done();
      };
      const limit = this.#clock.after(WARMING_LIMIT_MS, done);
      this.#waiting.add(look);
    });
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
    const named = this.#named([...this.#leaving.keys()]);
    const draining = new Set<string>();
    for (const { draining: version } of this.#store.list('listener')) {
      if (version !== undefined)
        collectTexts(version.message, (name) => this.#leaving.has(name), draining);
    }
    for (const [name, limit] of this.#leaving) {
      const isUsed = draining.has(name) || (limit !== undefined && named.has(name));
      if (!isUsed) this.#store.drained('cluster', name);
    }
  }

  /** Which of these names stand in what is in force. */
  #named(names: readonly string[]): ReadonlySet<string> {
    const wanted = new Set(names);
    const found = new Set<string>();
    const look = (message: JsonObject | undefined): void => {
      if (message !== undefined) collectTexts(message, (text) => wanted.has(text), found);
    };
    for (const messages of this.#coming) messages.forEach(look);
    for (const { active } of this.#store.list('route_configuration')) look(active?.message);
    for (const { active } of this.#store.list('listener')) look(active?.message);
    for (const { active } of this.#store.list('cluster')) {
      if (active?.resolved.discovery?.kind === 'aggregate') look(active.message);
    }
    return found;
  }
}

/** Adds all texts of a message that are wanted, wherever they stand. */
function collectTexts(
  value: unknown,
  isWanted: (text: string) => boolean,
  into: Set<string>,
): void {
  if (typeof value === 'string') {
    if (isWanted(value)) into.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) collectTexts(part, isWanted, into);
  }
}
