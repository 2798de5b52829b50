/**
 * DATA (RFC 9113 section 6.1): whether a stream may take it, its windows, and what the peer is told
 * that it may send again. A slow reader of one stream holds that stream's window alone, as long as
 * the connection's is not used up.
 */
import { ReceiveWindow } from './flow-control.ts';
import type { FrameHeader } from './frame-reader.ts';
import type { FrameWriter } from './frame-writer.ts';
import { ErrorCode, Flag, FRAME_HEADER_BYTES, windowUpdateFrame } from './frames.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { Flood, InboundCounts } from './limits/inbound-limits.ts';
import type { SessionUser } from './session-user.ts';
import type { StreamTable } from './stream-table.ts';

/** Implemented by the session. */
export interface DataReceiver {
  readonly user: Pick<SessionUser, 'beforeDelivery' | 'onException'>;
  readonly table: StreamTable;
  readonly counts: InboundCounts;
  readonly writer: FrameWriter;
  readonly isOver: boolean;
  fail(code: number, details: string): false;
  flood(flood: Flood): false;
  streamError(stream: Http2Stream, code: number): void;
  onRemoteEnd(stream: Http2Stream): void;
}

export class DataFrames {
  readonly #session: DataReceiver;
  readonly #window: ReceiveWindow;
  #stream = 0;
  #flags = 0;
  /** The present frame belongs to a stream that may take it. */
  #isTaken = false;

  constructor(session: DataReceiver, connectionWindow: number) {
    this.#session = session;
    this.#window = new ReceiveWindow(connectionWindow);
  }

  /** Its length is what flow control counts, padding included. False: the connection is over. */
  onBegin({ stream: id, flags, length }: FrameHeader, dataBytes: number): boolean {
    const session = this.#session;
    if (!this.#window.take(length)) {
      return session.fail(ErrorCode.flowControlError, 'DATA: more than the connection may have');
    }
    if (dataBytes > 0 || (flags & Flag.endStream) !== 0) session.counts.fullFrame();
    else {
      const flood = session.counts.emptyFrame();
      if (flood !== undefined) return session.flood(flood);
    }
    this.#stream = id;
    this.#flags = flags;
    this.#isTaken = false;
    const stream = session.table.open.get(id);
    if (stream === undefined) return this.#drop(id, length);
    if (!stream.hasHeaders) return session.fail(ErrorCode.protocolError, 'DATA: stream not opened');
    if (stream.isRemoteEnded) {
      return session.fail(ErrorCode.streamClosed, 'DATA: stream in half-closed(remote)');
    }
    return this.#take(stream, length, dataBytes);
  }

  onPiece(input: Buffer, start: number, end: number, isLast: boolean): boolean {
    if (!this.#isTaken) return true;
    const session = this.#session;
    const stream = session.table.open.get(this.#stream);
    const bytes = end - start;
    if (stream === undefined) {
      // It ended within the frame.
      this.consume(undefined, bytes);
      return true;
    }
    const endStream = isLast && (this.#flags & Flag.endStream) !== 0;
    stream.wireBytesReceived += bytes;
    if (stream.pauses > 0) stream.unacknowledged += bytes;
    else this.consume(endStream ? undefined : stream, bytes);
    if (endStream) stream.isRemoteEnded = true;
    session.user.beforeDelivery?.();
    try {
      if (bytes > 0 || endStream) stream.user.onData(input.subarray(start, end), endStream);
    } catch (error) {
      session.user.onException(error, stream);
    }
    if (endStream) session.onRemoteEnd(stream);
    return !session.isOver;
  }

  /** Gives room back to the peer, of the connection and, where it goes on, of the stream. */
  consume(stream: Http2Stream | undefined, bytes: number): void {
    const { writer } = this.#session;
    const ofStream = stream?.receiveWindow.consume(bytes) ?? 0;
    if (stream !== undefined && ofStream > 0) writer.plain(windowUpdateFrame(stream.id, ofStream));
    const ofAll = this.#window.consume(bytes);
    if (ofAll > 0) writer.plain(windowUpdateFrame(0, ofAll));
  }

  /** Drops data of a stream that is not open. */
  #drop(id: number, length: number): boolean {
    const session = this.#session;
    switch (session.table.stateOf(id)) {
      case 'idle': {
        const details = id === 0 ? 'DATA: stream_id == 0' : 'DATA: stream in idle';
        return session.fail(ErrorCode.protocolError, details);
      }
      case 'closed':
        return session.fail(ErrorCode.streamClosed, 'DATA: stream is closed');
      default:
        this.consume(undefined, length);
        return true;
    }
  }

  #take(stream: Http2Stream, length: number, dataBytes: number): boolean {
    stream.wireBytesReceived += FRAME_HEADER_BYTES + length - dataBytes;
    if (!stream.receiveWindow.take(length)) {
      this.#session.streamError(stream, ErrorCode.flowControlError);
      this.consume(undefined, length);
      return true;
    }
    this.#isTaken = true;
    // Padding is dealt with as soon as it is there.
    if (length > dataBytes) this.consume(stream, length - dataBytes);
    return true;
  }
}
