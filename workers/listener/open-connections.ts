/**
 * The open connections of one listener, each with the version of the listener that it belongs to.
 */
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { ServedConnection } from '../stream/chain-server.ts';
import type { ListenerCounts } from './listener-counts.ts';
import type { CompiledListener } from './compiled-listener.ts';

/** What a connection was opened by. */
export interface Belonging {
  readonly version: CompiledListener;
  readonly chain: CompiledChain;
  readonly counts: ListenerCounts;
}

export class OpenConnections {
  readonly #connections = new Map<ServedConnection, Belonging>();

  add(connection: ServedConnection, belonging: Belonging): void {
    this.#connections.set(connection, belonging);
  }

  /** It has ended. Undefined for one that was never added. */
  remove(connection: ServedConnection): Belonging | undefined {
    const belonging = this.#connections.get(connection);
    this.#connections.delete(connection);
    return belonging;
  }

  /** Chains that somebody is connected by. */
  chains(): ReadonlySet<CompiledChain> {
    return new Set([...this.#connections.values()].map(({ chain }) => chain));
  }

  get size(): number {
    return this.#connections.size;
  }

  uses(version: CompiledListener): boolean {
    for (const each of this.#connections.values()) if (each.version === version) return true;
    return false;
  }

  count(): Omit<ListenerConnections, 'name'> {
    let idle = 0;
    let streams = 0;
    for (const { openStreams } of this.#connections.keys()) {
      if (openStreams === 0) idle += 1;
      streams += openStreams ?? 0;
    }
    return { open: this.#connections.size, idle, streams };
  }

  /** Of connections without requests it is not known whether they were answered. */
  hasUnanswered(sinceMs: number): boolean {
    for (const { openedMs, openStreams, idleSinceMs } of this.#connections.keys()) {
      const isAnswered = openStreams === 0 && idleSinceMs !== undefined && idleSinceMs > openedMs;
      if (openedMs >= sinceMs && !isAnswered) return true;
    }
    return false;
  }

  /** Ends those of these chains. */
  closeChains(chains: ReadonlySet<CompiledChain>): void {
    for (const [connection, { chain }] of this.#connections) {
      if (chains.has(chain)) connection.close();
    }
  }

  /** Ends those that have had no stream since this moment or longer; monotonic milliseconds. */
  closeIdleSince(latestMs: number): void {
    for (const connection of this.#connections.keys()) {
      const { idleSinceMs } = connection;
      if (idleSinceMs !== undefined && idleSinceMs <= latestMs) connection.closeIdle?.();
    }
  }

  closeAll(): void {
    for (const connection of this.#connections.keys()) connection.close();
  }
}
