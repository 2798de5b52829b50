/**
 * The seam between the router and connection pools, whichever protocol they speak: the router asks for
 * a stream and hears when there is one, or why there will be none.
 */
import type { RequestEncoder, ResetReason, ResponseDecoder } from '../http/codec.ts';
import type { Address, TlsInfo } from '../net/connection-info.ts';
import type { Protocol } from '../http/stream-info.ts';

/** Facts of the connection that a request got. */
export interface UpstreamConnectionFacts {
  readonly id: number;
  /** Undefined: bytes without a protocol. */
  readonly protocol: Protocol | undefined;
  readonly localAddress: Address | undefined;
  /** Undefined: plain bytes. */
  readonly tls: TlsInfo | undefined;
  /** Monotonic milliseconds; `connectedMs` is -1 until then. */
  readonly openedMs: number;
  readonly connectedMs: number;
  /** Requests that the connection carried, this one included. */
  readonly requests: number;
  /** What its present answer said beside the headers that are passed on; absent: it did not. */
  readonly isAnswerChunked?: boolean;
  /** Wire bytes of the present exchange. */
  readonly headerBytesSent: number;
  readonly wireBytesSent: number;
  readonly headerBytesReceived: number;
  readonly wireBytesReceived: number;
}

/** One request on its way to a host: hears of the pool, then of the response. */
export interface PoolClient extends ResponseDecoder {
  /** May be called before `newStream` returns. */
  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionFacts): void;
  /**
   * `detail` is the operating system's word, empty when there is none. `triedHost` is false when a
   * limit refused the request before the host was involved.
   */
  onPoolFailure(reason: ResetReason, detail: string, triedHost: boolean): void;
}

/** What a pool carries and could carry. */
export interface PoolLoad {
  readonly pending: number;
  readonly active: number;
  /** Requests that its connections could take, those included that are being made. */
  readonly capacity: number;
}

/** Where a request gets its stream. */
export interface StreamSource {
  newStream(client: PoolClient): void;
  /** Takes back a request that still waits. */
  cancel(client: PoolClient): void;
  /** No more connections for new requests; idle ones close. */
  drain(): void;
  close(): void;
}

export interface HttpPool extends StreamSource {
  readonly load: PoolLoad;
  /**
   * Makes one more connection when there are fewer than `ratio` times its requests and the next one
   * need; false when not.
   */
  preconnect(ratio: number): boolean;
}

/** Whether requests, with those that are expected, times the ratio need more than there is. */
export function needsConnection(
  { pending, active, capacity }: PoolLoad,
  ratio: number,
  expected: number,
): boolean {
  return (pending + active + expected) * ratio > capacity + active;
}
