/**
 * A TCP proxy's way to a host that takes bytes as they are: waits for a connection of the pool, has
 * it alone, and ends with it. What passes through is the proxy's business.
 */
import { sharedState, type SharedValue } from '../net/mesh/shared-state.ts';
import type { ResetReason } from '../stream/codec.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type {
  TcpPool,
  TcpPoolClient,
  TcpPoolConnection,
} from '../upstream/pools/tcp-pool-connection.ts';
import type { ProxiedUpstream, UpstreamOwner } from './proxied-upstream.ts';

export class TcpUpstream implements ProxiedUpstream, TcpPoolClient {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly #owner: UpstreamOwner;
  readonly #pool: TcpPool;
  connection: TcpPoolConnection | undefined = undefined;
  next: TcpPoolClient | undefined = undefined;
  previous: TcpPoolClient | undefined = undefined;
  #isOver = false;

  constructor(cluster: UpstreamCluster, host: UpstreamHost, owner: UpstreamOwner) {
    this.cluster = host.home ?? cluster;
    this.host = host;
    this.#owner = owner;
    this.#pool = cluster.tcpPoolOf(host, owner.downstreamInfo, sharedOf(owner));
  }

  /** May end before it returns. */
  start(): void {
    this.#pool.newStream(this);
  }

  get pendingBytes(): number {
    return this.connection?.transport.pendingBytes ?? 0;
  }

  writeData(data: Buffer): void {
    this.connection?.transport.writeData(data);
  }

  pauseReading(paused: boolean): void {
    this.connection?.transport.pauseReading(paused);
  }

  endWriting(): void {
    this.connection?.endWriting();
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.connection === undefined) this.#pool.cancel(this);
    else this.connection.leave();
  }

  reset(): void {
    this.connection?.transport.reset();
    this.close();
  }

  onPoolReady(connection: TcpPoolConnection): void {
    this.connection = connection;
    this.host.outlier?.established();
    this.#owner.onUpstreamReady();
  }

  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void {
    this.#isOver = true;
    if (!triedHost) {
      this.#owner.onUpstreamEnd({ kind: 'refused' });
      return;
    }
    const isTimeout = reason === 'connection_timeout';
    this.host.outlier?.connectFailed(isTimeout);
    this.#owner.onUpstreamEnd({ kind: 'connect_failed', detail, isTimeout });
  }

  onData(input: Buffer, start: number, end: number): void {
    this.#owner.onUpstreamData(input, start, end);
  }

  onRemoteEnd(): void {
    this.#owner.onUpstreamHalfClose();
  }

  onWriteBlocked(blocked: boolean): void {
    this.#owner.onUpstreamWriteBlocked(blocked);
  }

  onConnectionEnd(error: NodeJS.ErrnoException | undefined, isAbandoned: boolean): void {
    this.#isOver = true;
    this.#owner.onUpstreamEnd(
      error === undefined && !isAbandoned
        ? { kind: 'finished' }
        : { kind: 'broken', isReset: error?.code === 'ECONNRESET' },
    );
  }
}

function sharedOf(owner: UpstreamOwner): readonly SharedValue[] | undefined {
  const { filterState } = owner.downstreamInfo;
  return owner.sharedState === undefined ? sharedState(filterState) : owner.sharedState();
}
