/**
 * How many downstream connections this worker takes: its share of the server's limit, and each
 * listener's own limit, which the runtime sets. Counts are the worker's own: a share keeps the whole
 * within the limit whatever the kernel's balance is.
 */
import type { ListenerResource } from '../../shared/resources/listener.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../runtime.ts';

export interface ConnectionLimitsOptions {
  /** Of the overload manager, for all workers. */
  readonly maxConnections: number | undefined;
  readonly concurrency: number;
  readonly runtime: Runtime;
}

const GLOBAL_KEY = 'overload.global_downstream_max_connections';
const NONE = Number.MAX_SAFE_INTEGER;

export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  /** Connections of all listeners of this worker that do not ignore the global limit. */
  #open = 0;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
  }

  /** Which limit refuses one more connection of a listener that has `open`; undefined: none. */
  refusal(listener: ListenerResource, open: number): 'listener' | 'global' | undefined {
    const { runtime, maxConnections } = this.#options;
    const { snapshot } = runtime;
    if (snapshot.size > 0) {
      const key = `envoy.resource_limits.listener.${listener.name}.connection_limit`;
      if (open >= this.#share(readInteger(snapshot, key, NONE))) return 'listener';
    }
    if (listener.ignoreGlobalConnLimit) return undefined;
    const limit = maxConnections ?? readInteger(snapshot, GLOBAL_KEY, NONE);
    return this.#open >= this.#share(limit) ? 'global' : undefined;
  }

  opened(listener: ListenerResource): void {
    if (!listener.ignoreGlobalConnLimit) this.#open += 1;
  }

  closed(listener: ListenerResource): void {
    if (!listener.ignoreGlobalConnLimit) this.#open -= 1;
  }

  #share(limit: number): number {
    return Math.max(limit === 0 ? 0 : 1, Math.floor(limit / this.#options.concurrency));
  }
}
