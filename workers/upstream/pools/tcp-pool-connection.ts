/**
 * A pooled connection that carries the bytes of one client and then ends. What the host sends
 * before anybody has the connection is kept for the client that gets it.
 */
import type { ClosingSide } from './connection-account.ts';
import type { ConnectionPool, PoolProtocol } from './connection-pool.ts';
import { PooledConnection } from './pooled-connection.ts';
import type { PoolWaiter } from './request-queue.ts';

/** What a connection keeps of what its host sends first; the rest waits in the kernel. */
const KEPT_BYTES_MAX = 16 * 1024;

/** Who has a connection, or waits for one. */
export interface TcpPoolClient extends PoolWaiter<TcpPoolClient> {
  /** May be called before `newStream` returns. */
  onPoolReady(connection: TcpPoolConnection): void;
  /** Valid during the call only. */
  onData(input: Buffer, start: number, end: number): void;
  /** The host sends nothing more. */
  onRemoteEnd(): void;
  onWriteBlocked(blocked: boolean): void;
  /** Nothing follows; `error` when it broke, `isAbandoned` when this side gave it up. */
  onConnectionEnd(error: NodeJS.ErrnoException | undefined, isAbandoned: boolean): void;
}

export type TcpPool = ConnectionPool<TcpPoolClient>;

export const TCP_POOLS: PoolProtocol<TcpPoolClient> = {
  connect: (pool) => new TcpPoolConnection(pool),
  limitsRequests: false,
  closesExcess: true,
};

export class TcpPoolConnection extends PooledConnection<TcpPoolClient> {
  #client: TcpPoolClient | undefined = undefined;
  /** Which side's end came last: it is who closed the connection. */
  #lastEnd: ClosingSide = 'remote';
  #kept: Buffer = EMPTY;
  #keepsNoMore = false;

  constructor(pool: TcpPool) {
    const { tcpIdleTimeoutMs } = pool.cluster.resource;
    super(pool, { capacity: 1, idleTimeoutMs: tcpIdleTimeoutMs, maxDurationMs: 0 });
    this.transport.keepHalfOpen();
  }

  begin(client: TcpPoolClient): void {
    this.#client = client;
    client.onPoolReady(this);
    this.#handOverKept();
  }

  /** Sends what is left and then the end of this direction. */
  endWriting(): void {
    this.#lastEnd = 'local';
    this.transport.endWriting();
  }

  /** The client wants it no more, and hears no more. */
  leave(): void {
    this.#client = undefined;
    this.end('local', 'local_reset');
  }

  override close(): void {
    const client = this.#client;
    this.leave();
    client?.onConnectionEnd(undefined, true);
  }

  onData(input: Buffer, start: number, end: number): void {
    if (this.#client !== undefined) this.#client.onData(input, start, end);
    else this.#keep(input.subarray(start, end));
  }

  onRemoteEnd(): void {
    this.#lastEnd = 'remote';
    if (this.#client !== undefined) this.#client.onRemoteEnd();
    else this.end('remote', 'connection_termination');
  }

  onWriteBlocked(blocked: boolean): void {
    this.#client?.onWriteBlocked(blocked);
  }

  protected override endRemotely(error: NodeJS.ErrnoException | undefined): void {
    const client = this.#client;
    this.end(error === undefined ? this.#lastEnd : 'remote', 'connection_termination');
    client?.onConnectionEnd(error, false);
  }

  protected override onEnd(): void {
    this.#letGoOfKept();
  }

  /** A host that speaks first: its greeting is for the connection's next user. */
  #keep(piece: Buffer): void {
    this.#kept = Buffer.concat([this.#kept, piece]);
    this.pool.cluster.loop.held.add(piece.length);
    if (this.#keepsNoMore || this.#kept.length < KEPT_BYTES_MAX) return;
    this.#keepsNoMore = true;
    this.transport.pauseReading(true);
  }

  #handOverKept(): void {
    const kept = this.#letGoOfKept();
    if (kept.length > 0) this.#client?.onData(kept, 0, kept.length);
    if (!this.#keepsNoMore) return;
    this.#keepsNoMore = false;
    this.transport.pauseReading(false);
  }

  #letGoOfKept(): Buffer {
    const kept = this.#kept;
    this.#kept = EMPTY;
    this.pool.cluster.loop.held.add(-kept.length);
    return kept;
  }
}

const EMPTY = Buffer.alloc(0);
