/**
 * What is known of a connection to a host, whatever it carries, and how a client's facts name it.
 */
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { Address, TlsInfo } from '../../net/connection-info.ts';

export interface ConnectionFacts {
  /** Unique within the worker. */
  readonly id: number;
  readonly localAddress: Address | undefined;
  /** Undefined: plain bytes. */
  readonly tls: TlsInfo | undefined;
  /** Monotonic milliseconds. A connection made ahead was opened before its client came. */
  readonly openedMs: number;
  /** Monotonic milliseconds; -1 until then. */
  readonly connectedMs: number;
}

/** A client got a connection at `nowMs`, in monotonic milliseconds. */
export function noteConnection(info: StreamInfo, connection: ConnectionFacts, nowMs: number): void {
  info.upstreamPoolReadyMs = nowMs;
  info.upstreamConnectStartMs = connection.openedMs;
  info.upstreamConnectEndMs = connection.connectedMs;
  info.upstreamConnectionId = connection.id;
  info.upstreamLocalAddress = connection.localAddress;
  info.upstreamTls = connection.tls;
}
