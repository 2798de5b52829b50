/** What an HTTP/2 session is told and what it tells: the seam between a connection and its codec. */
import type { Http2Stats } from './codec-stats.ts';
import type { FieldSink } from './hpack/decoder.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { Flood, InboundLimits } from './limits/inbound-limits.ts';
import type { PeerSettings } from './peer-settings.ts';

export interface SessionOptions extends InboundLimits {
  readonly isServer: boolean;
  /** Sent in this order; the windows and the header table follow from them. */
  readonly settings: readonly (readonly [id: number, value: number])[];
  readonly headerTableSize: number;
  readonly maxConcurrentStreams: number;
  readonly streamWindow: number;
  readonly connectionWindow: number;
  /** Bytes of one header block on the wire. */
  readonly maxBlockBytes: number;
  /** Bytes of one name or value on the wire. */
  readonly maxHeaderTextBytes: number;
  readonly usesHuffman: boolean;
  readonly maxOutboundFrames: number;
  readonly maxOutboundControlFrames: number;
  readonly streamBufferBytes: number;
  /** The limit of one block of METADATA; 0: its frames are unknown ones. */
  readonly maxMetadataBytes: number;
}

/** What a session tells its codec. */
export interface SessionUser {
  readonly stats: Http2Stats;
  /**
   * A header block comes for a stream: one that is open, or one that the peer opens. Its fields go
   * to the sink, then `openStream` or the stream's `onHeaders` follows.
   */
  onBlockBegin(id: number, stream: Http2Stream | undefined): FieldSink;
  /**
   * The block of a stream that the peer opens is whole: gives what `accept` made of it, or undefined
   * where the stream was refused or has ended. `wireBytes`: of the block.
   */
  openStream(id: number, wireBytes: number): Http2Stream | undefined;
  onSettings(settings: PeerSettings): void;
  onGoaway(lastStream: number, code: number): void;
  onPingAck(payload: string): void;
  /** Data is about to be given to its stream; before a block `onBlockBegin` is called. */
  beforeDelivery?(): void;
  /** Code that worked for one stream threw: that stream ends, and no other. */
  onException(error: unknown, stream: Http2Stream): void;
  onEmptyMetadata(): void;
  /**
   * The connection has failed; nothing follows but the transport's end. `culprit`: the stream of the
   * frame that Envoy's codec refuses, where it is open.
   */
  onSessionError(details: string, culprit?: Http2Stream): void;
  /** The peer has begun its preface, of a server; the first moment to `start`. */
  onBegun?(): void;
  /** A stream was refused: there are too many. */
  onRefused?(): void;
  onFlood(flood: Flood): void;
  /** A header block exceeds what one may have on the wire; the connection fails next. */
  onBlockTooLarge(): void;
  /** RST_STREAM went out or came in. */
  onResetSent(): void;
  onResetReceived(stream: Http2Stream, code: number): void;
}
