/**
 * The seam between the router and connection pools, whichever protocol they speak: the router asks
 * for a stream and hears when there is one, or why there will be none.
 */
import type { RequestEncoder, ResponseDecoder } from '../../stream/codec.ts';
import type { Protocol } from '../../stream/stream-info.ts';
import type { ConnectionFacts } from './connection-facts.ts';
import type { PoolWaiter } from './request-queue.ts';
import type { PreconnectedPool } from './pool-load.ts';

/** Facts of the connection that a request got. */
export interface UpstreamConnectionInfo extends ConnectionFacts {
  /** Undefined: bytes without a protocol. */
  readonly protocol: Protocol | undefined;
  /** Requests that the connection carried, this one included. */
  readonly requests: number;
  /** What its present answer said beside the headers that are passed on; absent: it did not. */
  readonly isAnswerChunked?: boolean;
  /** METADATA of a request cannot be sent: the protocol has none. */
  onUnsupportedMetadata?(): void;
  /** Wire bytes of the present exchange. */
  readonly headerBytesSent: number;
  readonly wireBytesSent: number;
  readonly headerBytesReceived: number;
  readonly wireBytesReceived: number;
}

/** One request on its way to a host: hears of the pool, then of the response. */
export interface PoolClient extends ResponseDecoder, PoolWaiter<PoolClient> {
  /** May be called before `newStream` returns. */
  onPoolReady(encoder: RequestEncoder, connection: UpstreamConnectionInfo): void;
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

export interface HttpPool extends StreamSource, PreconnectedPool {}
