/**
 * A session's way to its host through a stream of HTTP: asks for it, as often as is wanted, and
 * passes bytes once the host has agreed. What waits until then is limited.
 */
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import type { RequestEncoder, ResetReason } from '../stream/codec.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { HttpPool, PoolClient, UpstreamConnectionInfo } from '../upstream/pools/http-pool.ts';
import type { TunnelRequests } from './tunnel-requests.ts';

export interface TunnelOwner {
  onTunnelOpened(): void;
  /** The data is nobody else's. */
  onTunnelData(data: Buffer): void;
  /** What came from the client is dropped: too much waits. */
  onTunnelOverflow(): void;
  /** Nothing follows. `isFailed`: it never was open. */
  onTunnelEnd(isFailed: boolean): void;
}

export interface TunnelParts {
  readonly loop: WorkerLoop;
  readonly requests: TunnelRequests;
  readonly cluster: UpstreamCluster;
  readonly info: StreamInfo;
  /** The host of another attempt. */
  readonly chooseHost: () => UpstreamHost | undefined;
}

export class TunnelWay implements PoolClient, TimerOwner {
  readonly #parts: TunnelParts;
  readonly #owner: TunnelOwner;
  #pool: HttpPool | undefined = undefined;
  #host: UpstreamHost;
  #encoder: RequestEncoder | undefined = undefined;
  #connection: UpstreamConnectionInfo | undefined = undefined;
  #retryTimer: LoopTimer | undefined = undefined;
  #state: 'asking' | 'open' | 'closed' = 'asking';
  #attempts = 0;
  #isBlocked = false;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  next: PoolClient | undefined = undefined;
  previous: PoolClient | undefined = undefined;

  constructor(parts: TunnelParts, host: UpstreamHost, owner: TunnelOwner) {
    this.#parts = parts;
    this.#host = host;
    this.#owner = owner;
  }

  /** May end before it returns. */
  start(): void {
    const { cluster, info } = this.#parts;
    this.#attempts += 1;
    info.upstreamHost = this.#host;
    this.#pool = cluster.poolOf(this.#host, 'DEFAULT', {
      client: info.connection,
      names: undefined,
    });
    this.#pool.newStream(this);
  }

  send(data: Buffer): void {
    if (this.#state === 'open' && !this.#isBlocked) this.#encoder?.encodeData(data, false);
    else this.#keep(data);
  }

  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#waiting = [];
    this.#retryTimer?.disarm();
    this.#giveUp();
  }

  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionInfo): void {
    const { requests, info } = this.#parts;
    this.#encoder = encoder;
    this.#connection = connection;
    this.#host.outlier?.established();
    const headers = requests.make(info, connection.tls !== undefined);
    if (encoder.encodeHeaders(headers, false) === undefined) return;
    this.#encoder = undefined;
    this.#retry();
  }

  onPoolFailure(reason: ResetReason, _detail: string, triedHost: boolean): void {
    if (this.#state === 'closed') return;
    if (triedHost) this.#host.outlier?.connectFailed(reason === 'connection_timeout');
    this.#pool = undefined;
    this.#retry();
  }

  decode1xx(): void {
    // The host's final answer decides.
  }

  decodeHeaders({ status }: HeaderMap, endStream: boolean): void {
    if (this.#state !== 'asking') return;
    const isPost = this.#parts.requests.tunnel.postPath !== undefined;
    const isHttp1 = this.#connection?.protocol?.startsWith('HTTP/1') === true;
    const isAgreed = status === 101 ? !isPost : (isPost || !isHttp1) && isSuccess(status);
    if (!isAgreed || endStream) {
      this.#giveUp();
      this.#retry();
      return;
    }
    this.#state = 'open';
    this.#owner.onTunnelOpened();
    this.#flush();
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (this.#state !== 'open') return;
    if (data.length > 0) this.#owner.onTunnelData(Buffer.from(data));
    if (endStream) this.#end(false);
  }

  decodeTrailers(): void {
    if (this.#state === 'open') this.#end(false);
  }

  onReset(): void {
    this.#encoder = undefined;
    if (this.#state === 'asking') this.#retry();
    else if (this.#state === 'open') this.#end(false);
  }

  onWriteBlocked(blocked: boolean): void {
    this.#isBlocked = blocked;
    if (!blocked && this.#state === 'open') this.#flush();
  }

  onTimer(): void {
    const host = this.#parts.chooseHost();
    if (host === undefined) return this.#end(true);
    this.#host = host;
    this.start();
  }

  onException(): void {
    this.#end(true);
  }

  #keep(data: Buffer): void {
    const { buffer } = this.#parts.requests.tunnel;
    if (buffer === undefined || this.#state === 'closed') return;
    const bytes = this.#waitingBytes + data.length;
    if (this.#waiting.length >= buffer.maxDatagrams || bytes > buffer.maxBytes) {
      this.#owner.onTunnelOverflow();
      return;
    }
    this.#waiting.push(data);
    this.#waitingBytes = bytes;
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (const data of waiting) this.send(data);
  }

  #retry(): void {
    const { requests, loop } = this.#parts;
    if (this.#attempts >= requests.tunnel.maxConnectAttempts) return this.#end(true);
    const delayMs = requests.backOffMs(this.#attempts);
    this.#retryTimer ??= new LoopTimer(this, 0);
    // Never within the call that has failed.
    loop.timers.list(delayMs ?? 1).arm(this.#retryTimer);
  }

  /** The attempt is nobody's any more. */
  #giveUp(): void {
    const encoder = this.#encoder;
    this.#encoder = undefined;
    if (encoder === undefined) this.#pool?.cancel(this);
    else encoder.resetStream();
    this.#pool = undefined;
  }

  #end(isFailed: boolean): void {
    if (this.#state === 'closed') return;
    this.close();
    this.#owner.onTunnelEnd(isFailed);
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
