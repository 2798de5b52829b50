/**
 * The seam between listeners and what a filter chain ends in: an HTTP connection manager, a TCP
 * proxy, a small filter. The listener accepts, opens the transport and keeps account; the server
 * does the rest.
 */
import type { StreamInfo } from './stream-info.ts';
import type { ByteCounters, TransportHandler } from '../net/byte-stream.ts';
import type { Transport } from '../net/transport.ts';
import type { ConnectionFacts } from './connection-facts.ts';

export interface OpenedConnection {
  readonly transport: Transport;
  readonly info: ConnectionFacts;
}

/** Makes the transport with `handler` to hear of it. */
export type OpenConnection = (handler: TransportHandler) => OpenedConnection;

export interface ServedConnection {
  /** Monotonic milliseconds. */
  readonly openedMs: number;
  /** Called once, right after the listener has taken the connection into its books. */
  start?(): void;
  /** Closes at once from this side. */
  close(): void;
  /** What the listener's access logs say of the connection when it is over. */
  describe?(): StreamInfo | undefined;
  /**
   * Requests that are open; absent where bytes have no requests: such a connection is never idle.
   */
  readonly openStreams?: number | undefined;
  /** Monotonic milliseconds since which nothing was asked; undefined with a stream open. */
  readonly idleSinceMs?: number | undefined;
  /** Ends a connection without a stream, as soon as what was written has left. */
  closeIdle?(): void;
  /** Lets the client finish, as far as the protocol can ask it to; absent: it cannot. */
  closeGracefully?(): void;
  /** Requests that are open, or else the last one; absent where there are none. */
  streams?(): Iterable<StreamInfo>;
}

/** Hears of a connection's end, once; the listener's accounting. */
export interface ConnectionObserver {
  onConnectionEnd(connection: ServedConnection): void;
}

export interface ChainServer {
  /** Where the transports of its connections count, if anywhere. */
  readonly counters: ByteCounters | undefined;
  readonly bufferLimitBytes: number;
  /** Never ends the connection before `start` or `close` is called. */
  create(observer: ConnectionObserver, open: OpenConnection): ServedConnection;
}
