/**
 * How many downstream connections there may be, of the whole server and of each listener. Both are
 * counted over all workers in shared memory, so that neither limit is ever exceeded.
 */
import { type BreakerPage, DOWNSTREAM_SLOT } from '../../shared/limits/breaker-page.ts';
import type { ListenerResource } from '../../shared/resources/listener.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../loop/runtime.ts';
import { SharedCount, type SharedPages } from '../loop/shared-count.ts';

export interface ConnectionLimitsOptions extends SharedPages {
  /** The limit of the overload manager, for all workers. */
  readonly maxConnections: number | undefined;
  readonly runtime: Runtime;
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

  /** The limits for one listener. */
  ofListener(name: string): ListenerLimits {
    return new ListenerLimits(name, this.#options, this);
  }

  /** Counts one more connection until `closed`; false: there are as many as there may be. */
  tryOpen(): boolean {
    const { runtime, maxConnections } = this.#options;
    const limit = maxConnections ?? readInteger(runtime.snapshot, GLOBAL_KEY, NONE);
    if (limit !== NONE) this.#page ??= this.#mapPage();
    this.#count(1);
    if (this.#page === undefined || this.#page.count(DOWNSTREAM_SLOT, 'connections') <= limit) {
      return true;
    }
    this.#count(-1);
    return false;
  }

  closed(): void {
    this.#count(-1);
  }

  #count(change: number): void {
    this.#open += change;
    this.#page?.add(this.#options.workerIndex, DOWNSTREAM_SLOT, 'connections', change);
  }

  /** What was opened before there was a limit counts, too. */
  #mapPage(): BreakerPage {
    const page = this.#options.breakerPage();
    page.add(this.#options.workerIndex, DOWNSTREAM_SLOT, 'connections', this.#open);
    return page;
  }
}

/** One listener's connections in this worker, whichever version of it they came by. */
export class ListenerLimits {
  readonly #key: string;
  readonly #name: string;
  readonly #options: ConnectionLimitsOptions;
  readonly #all: ConnectionLimits;
  #open = 0;
  #shared: SharedCount | undefined;

  constructor(name: string, options: ConnectionLimitsOptions, all: ConnectionLimits) {
    this.#name = name;
    this.#key = `envoy.resource_limits.listener.${name}.connection_limit`;
    this.#options = options;
    this.#all = all;
  }

  /** Counts one more connection until `closed`. Which limit refuses it instead; undefined: none. */
  tryOpen(listener: ListenerResource): 'listener' | 'global' | undefined {
    const { snapshot } = this.#options.runtime;
    const limit = snapshot.size === 0 ? NONE : readInteger(snapshot, this.#key, NONE);
    if (limit !== NONE) this.#shared ??= this.#share();
    if (this.#shared?.tryOpen(limit) === false) return 'listener';
    if (!listener.ignoreGlobalConnLimit && !this.#all.tryOpen()) {
      this.#shared?.add(-1);
      return 'global';
    }
    this.#open += 1;
    return undefined;
  }

  closed(listener: ListenerResource): void {
    this.#open -= 1;
    this.#shared?.add(-1);
    if (!listener.ignoreGlobalConnLimit) this.#all.closed();
  }

  /** What was opened before there was a limit counts, too. */
  #share(): SharedCount {
    const shared = new SharedCount(`listener ${this.#name}`, this.#options);
    shared.add(this.#open);
    return shared;
  }
}
