/**
 * The sending half of an HTTP/2 session: header blocks, control frames, and DATA within the windows
 * of streams and connection. What may not be sent yet waits with its stream, in turns of one frame
 * each when there is room again. Bounds what waits: a stream is told to pause above its limit, and
 * a peer that makes this side write control frames without reading them ends the connection.
 */
import { Members } from '../loop/members.ts';
import type { Wire } from '../net/wire.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { SendWindow } from './flow-control.ts';
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW,
  Flag,
  FRAME_HEADER_BYTES,
  frameHeader,
  FrameType,
  goawayFrame,
  headersFrames,
  pingFrame,
  resetFrame,
} from './frames.ts';
import { HpackEncoder } from './hpack/encoder.ts';
import { type Http2Stream, SendTurn } from './http2-stream.ts';
import type { Flood } from './limits/inbound-limits.ts';
import {
  OutboundCounts,
  type OutboundGauges,
  type OutboundLimits,
  type OutboundUser,
} from './limits/outbound-counts.ts';

/** Puts a message's fields into a block, pseudo headers first. */
export type WriteFields = (encoder: HpackEncoder, headers: HeaderMap) => void;

export interface FrameWriterOptions extends OutboundLimits {
  /** Bytes of one stream that may wait before its user is told. */
  readonly streamBufferBytes: number;
  readonly usesHuffman: boolean;
}

/** Whose frames are written. */
export interface FrameWriterUser {
  /** The peer reads nothing and asks on: the connection must end. */
  flood(flood: Flood): void;
  /** A stream has nothing left to send and its end was written. */
  localEnded(stream: Http2Stream): void;
  onDataFrame(): void;
}

export class FrameWriter implements OutboundUser {
  readonly encoder: HpackEncoder;
  /** The window of the connection. */
  readonly window = new SendWindow(DEFAULT_WINDOW);
  /** The peer's SETTINGS_MAX_FRAME_SIZE. */
  maxFrameBytes: number = DEFAULT_MAX_FRAME_BYTES;
  readonly counts: OutboundCounts;
  readonly #wire: Wire;
  readonly #user: FrameWriterUser;
  readonly #options: FrameWriterOptions;
  readonly #gauges: OutboundGauges;
  /**
   * Streams whose window is open and whose data waits for the connection's or the wire, in turns.
   * Absent until one does.
   */
  #ready: Members<SendTurn> | undefined = undefined;

  constructor(
    wire: Wire,
    user: FrameWriterUser,
    options: FrameWriterOptions,
    gauges: OutboundGauges,
  ) {
    this.#wire = wire;
    this.#user = user;
    this.#options = options;
    this.encoder = new HpackEncoder(options.usesHuffman);
    this.#gauges = gauges;
    this.counts = new OutboundCounts(options, this, gauges);
  }

  /** What the connection begins with. From now on frames of one turn leave in one write. */
  begin(frames: string): void {
    this.counts.begin(this.#wire);
    this.plain(frames);
  }

  /** A frame of the connection that answers the peer. */
  control(frame: string): void {
    this.#wire.writeText(frame);
    this.counts.written(true);
  }

  /** A frame that answers nothing. */
  plain(frame: string): void {
    this.#write(frame);
  }

  ping(payload: string): void {
    this.#write(pingFrame(payload, false));
  }

  goaway(lastStream: number, code: number, debug: string): void {
    this.#write(goawayFrame(lastStream, code, debug));
  }

  headers(stream: Http2Stream, headers: HeaderMap, write: WriteFields, endStream: boolean): void {
    this.encoder.begin();
    write(this.encoder, headers);
    const block = this.encoder.finish();
    const frames = headersFrames(stream.id, block, endStream, this.maxFrameBytes);
    stream.headerBytesSent += block.length;
    stream.wireBytesSent += frames.length;
    this.#write(frames);
    if (endStream) this.#endLocal(stream);
  }

  /** Behind the stream's data, whenever that has left. */
  trailers(stream: Http2Stream, trailers: HeaderMap, write: WriteFields): void {
    const send = (): void => this.headers(stream, trailers, write, true);
    if (stream.waiting.bytes === 0) {
      send();
      return;
    }
    stream.waitingEnd = 'trailers';
    stream.writeTrailers = send;
  }

  /** `data` is a view; what cannot leave now is copied. */
  data(stream: Http2Stream, data: Buffer, endStream: boolean): void {
    if (data.length === 0 && !endStream) return;
    let at = 0;
    if (stream.waiting.bytes === 0) at = this.#writeFrames(stream, data, endStream);
    if (stream.isLocalEnded) return;
    if (at < data.length) {
      stream.waiting.push(data.subarray(at));
      this.#gauges.change('pending_send_bytes', data.length - at);
      this.streamWindowOpened(stream);
      if (endStream) stream.waitingEnd = 'data';
      this.#tell(stream);
    } else if (endStream && stream.waiting.bytes > 0) {
      stream.waitingEnd = 'data';
    }
  }

  reset(stream: Http2Stream, code: number): void {
    this.forget(stream);
    this.control(resetFrame(stream.id, code));
  }

  /** Nothing more of the stream is sent. */
  forget(stream: Http2Stream): void {
    if (stream.sendTurn !== undefined) this.#ready?.remove(stream.sendTurn);
    if (stream.waiting.bytes > 0) this.#gauges.change('pending_send_bytes', -stream.waiting.bytes);
    stream.waiting.clear();
    stream.waitingEnd = 'none';
    stream.writeTrailers = undefined;
  }

  flood(flood: Flood): void {
    this.#user.flood(flood);
  }

  onWireBlocked(blocked: boolean): void {
    this.counts.isBlocked = blocked;
    if (!blocked) this.drain();
  }

  /** The stream's window is larger; `drain` follows. */
  streamWindowOpened(stream: Http2Stream): void {
    if (stream.waiting.bytes === 0 || stream.sendWindow.left <= 0) return;
    const ready = (this.#ready ??= new Members());
    const turn = (stream.sendTurn ??= new SendTurn(stream));
    if (!ready.has(turn)) ready.add(turn);
  }

  /**
   * There is room again, on the wire or in a window: those that wait go on, a frame each in turn.
   * Streams whose own window is shut cost nothing here, however many there are.
   */
  drain(): void {
    // Who is added again comes behind the others in the same loop.
    const ready = this.#ready;
    if (ready === undefined) return;
    for (let turn = ready.first; turn !== undefined; turn = ready.first) {
      if (this.counts.isFull || this.window.left <= 0) return;
      ready.remove(turn);
      this.#sendWaiting(turn.stream);
      this.streamWindowOpened(turn.stream);
    }
  }

  /** Sends one frame of what waits. */
  #sendWaiting(stream: Http2Stream): void {
    const { waiting } = stream;
    const room = Math.min(stream.sendWindow.left, this.window.left, this.maxFrameBytes);
    if (room <= 0) return;
    const piece = waiting.take(room);
    this.#gauges.change('pending_send_bytes', -piece.length);
    const isEnd = waiting.bytes === 0 && stream.waitingEnd === 'data';
    this.#writeFrame(stream, piece, isEnd);
    if (waiting.bytes === 0) {
      if (isEnd) this.#endLocal(stream);
      else if (stream.waitingEnd === 'trailers') stream.writeTrailers?.();
    }
    this.#tell(stream);
  }

  /** Writes what the windows and the wire permit; returns where the rest begins. */
  #writeFrames(stream: Http2Stream, data: Buffer, endStream: boolean): number {
    let at = 0;
    do {
      const room = Math.min(stream.sendWindow.left, this.window.left, this.maxFrameBytes);
      const isEmpty = data.length === 0;
      if (!isEmpty && (room <= 0 || this.counts.isFull)) return at;
      const end = Math.min(at + Math.max(room, 0), data.length);
      const isEnd = endStream && end === data.length;
      this.#writeFrame(
        stream,
        at === 0 && end === data.length ? data : data.subarray(at, end),
        isEnd,
      );
      at = end;
      if (isEnd) this.#endLocal(stream);
    } while (at < data.length);
    return at;
  }

  #writeFrame(stream: Http2Stream, data: Buffer, isEnd: boolean): void {
    const flags = isEnd ? Flag.endStream : 0;
    this.#wire.writeText(frameHeader(data.length, FrameType.data, flags, stream.id));
    if (data.length > 0) this.#wire.writeData(data);
    this.#user.onDataFrame();
    this.counts.written(false);
    stream.sendWindow.take(data.length);
    this.window.take(data.length);
    stream.wireBytesSent += data.length + FRAME_HEADER_BYTES;
  }

  /** Frames that do not wait for the wire: bounded in number while the peer does not read. */
  #write(frame: string): void {
    this.#wire.writeText(frame);
    this.counts.written(false);
  }

  #endLocal(stream: Http2Stream): void {
    stream.isLocalEnded = true;
    this.#user.localEnded(stream);
  }

  #tell(stream: Http2Stream): void {
    const limit = this.#options.streamBufferBytes;
    const isBlocked = stream.isBlocked
      ? stream.waiting.bytes * 2 > limit
      : stream.waiting.bytes > limit;
    if (isBlocked === stream.isBlocked || stream.isClosed) return;
    stream.isBlocked = isBlocked;
    stream.user.onWriteBlocked(isBlocked);
  }
}
