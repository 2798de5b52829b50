/**
 * How many downstream connections there may be: of the whole server, counted over all workers in a
 * shared page, and of each listener, of which every worker has an equal share.
 */
import { type BreakerPage, DOWNSTREAM_SLOT } from '../../shared/limits/breaker-page.ts';
import type { ListenerResource } from '../../shared/resources/listener.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../runtime.ts';

export interface ConnectionLimitsOptions {
  /** Of the overload manager, for all workers. */
  readonly maxConnections: number | undefined;
  readonly concurrency: number;
  readonly workerIndex: number;
  readonly runtime: Runtime;
  /** Mapped with the first limit. */
  page(): BreakerPage;
}

const GLOBAL_KEY = 'overload.global_downstream_max_connections';
const NONE = Number.MAX_SAFE_INTEGER;

export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  #page: BreakerPage | undefined;
  /** Connections of all listeners of this worker that do not ignore the global limit. */
  #open = 0;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
  }

  /**
   * Counts one more connection of a listener that has `open`, until `closed`. Which limit refuses it
   * instead; undefined: none.
   */
  tryOpen(listener: ListenerResource, open: number): 'listener' | 'global' | undefined {
    const { runtime, maxConnections } = this.#options;
    const { snapshot } = runtime;
    if (snapshot.size > 0) {
      const key = `envoy.resource_limits.listener.${listener.name}.connection_limit`;
      if (open >= this.#share(readInteger(snapshot, key, NONE))) return 'listener';
    }
    if (listener.ignoreGlobalConnLimit) return undefined;
    const limit = maxConnections ?? readInteger(snapshot, GLOBAL_KEY, NONE);
    if (limit !== NONE) this.#page ??= this.#mapPage();
    this.#count(1);
    if (this.#page === undefined || this.#page.count(DOWNSTREAM_SLOT, 'connections') <= limit) {
      return undefined;
    }
    this.#count(-1);
    return 'global';
  }

  closed(listener: ListenerResource): void {
    if (!listener.ignoreGlobalConnLimit) this.#count(-1);
  }

  #count(change: number): void {
    this.#open += change;
    this.#page?.add(this.#options.workerIndex, DOWNSTREAM_SLOT, 'connections', change);
  }

  /** What was opened before there was a limit counts, too. */
  #mapPage(): BreakerPage {
    const page = this.#options.page();
    page.add(this.#options.workerIndex, DOWNSTREAM_SLOT, 'connections', this.#open);
    return page;
  }

  #share(limit: number): number {
    return Math.max(limit === 0 ? 0 : 1, Math.floor(limit / this.#options.concurrency));
  }
}
