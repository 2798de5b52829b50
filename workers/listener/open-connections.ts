/**
 * The open connections of one listener, each with the version of the listener that it belongs to.
 */
import type { ListenerConnections } from '../../shared/messages/worker-to-supervisor.ts';
import { type Member, Members } from '../loop/members.ts';
import type { ConnectionObserver, ServedConnection } from '../stream/chain-server.ts';
import type { CompiledChain } from './chain-selector.ts';
import type { CompiledListener } from './compiled-listener.ts';
import type { ListenerCounts } from './listener-counts.ts';

/** What a connection was opened by. */
export interface Belonging {
  readonly version: CompiledListener;
  readonly chain: CompiledChain;
  readonly counts: ListenerCounts;
}

/** Hears of a connection's end, once; of one that was never added too. */
export type EndListener = (connection: ServedConnection, place: OpenConnection) => void;

/** One connection's place here, which is told of its end. */
export class OpenConnection implements Belonging, ConnectionObserver, Member<OpenConnection> {
  readonly version: CompiledListener;
  readonly chain: CompiledChain;
  readonly counts: ListenerCounts;
  next: OpenConnection | undefined = undefined;
  previous: OpenConnection | undefined = undefined;
  /** There while the connection is among the open ones. */
  connection: ServedConnection | undefined = undefined;
  readonly #onEnd: EndListener;

  constructor({ version, chain, counts }: Belonging, onEnd: EndListener) {
    this.version = version;
    this.chain = chain;
    this.counts = counts;
    this.#onEnd = onEnd;
  }

  onConnectionEnd(connection: ServedConnection): void {
    this.#onEnd(connection, this);
  }
}

export class OpenConnections {
  readonly #places = new Members<OpenConnection>();

  add(place: OpenConnection, connection: ServedConnection): void {
    place.connection = connection;
    this.#places.add(place);
  }

  /** It has ended. False for one that was never added. */
  remove(place: OpenConnection): boolean {
    place.connection = undefined;
    return this.#places.remove(place);
  }

  /** Chains that somebody is connected by. */
  chains(): ReadonlySet<CompiledChain> {
    return new Set(this.#places.all().map(({ chain }) => chain));
  }

  get size(): number {
    return this.#places.size;
  }

  /** As they are now, the oldest first. */
  all(): readonly OpenConnection[] {
    return this.#places.all();
  }

  uses(version: CompiledListener): boolean {
    return this.#some((place) => place.version === version);
  }

  count(): Omit<ListenerConnections, 'name'> {
    let idle = 0;
    let streams = 0;
    for (let place = this.#places.first; place !== undefined; place = place.next) {
      const openStreams = place.connection?.openStreams;
      if (openStreams === 0) idle += 1;
      streams += openStreams ?? 0;
    }
    return { open: this.size, idle, streams };
  }

  /**
   * True where a request is open; it is not known of connections without requests whether they were
   * answered.
   */
  hasUnanswered(sinceMs: number): boolean {
    return this.#some(({ connection }) => {
      if (connection === undefined) return false;
      const { openedMs, openStreams, idleSinceMs } = connection;
      const isAnswered = openStreams === 0 && idleSinceMs !== undefined && idleSinceMs > openedMs;
      return openedMs >= sinceMs && !isAnswered;
    });
  }

  /** Ends those of these chains. */
  closeChains(chains: ReadonlySet<CompiledChain>): void {
    this.#each((connection, { chain }) => {
      if (chains.has(chain)) connection.close();
    });
  }

  /** Ends those that have had no stream since this moment or longer; monotonic milliseconds. */
  closeIdleSince(latestMs: number): void {
    this.#each((connection) => {
      const { idleSinceMs } = connection;
      if (idleSinceMs !== undefined && idleSinceMs <= latestMs) connection.closeIdle?.();
    });
  }

  closeAll(): void {
    this.#each((connection) => connection.close());
  }

  #some(isMeant: (place: OpenConnection) => boolean): boolean {
    for (let place = this.#places.first; place !== undefined; place = place.next) {
      if (isMeant(place)) return true;
    }
    return false;
  }

  /** Visits those that are open now, which may end meanwhile. */
  #each(visit: (connection: ServedConnection, place: OpenConnection) => void): void {
    for (const place of this.#places.all()) {
      if (place.connection !== undefined) visit(place.connection, place);
    }
  }
}
