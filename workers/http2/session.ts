/**
 * One HTTP/2 connection without its messages (RFC 9113): the preface, the lives of its streams,
 * DATA with its windows, and the connection's end. Both codecs stand on it; what a header block
 * means is theirs. Blocks are put together in header-frames.ts, control frames are obeyed in
 * control-frames.ts.
 */
import type { Wire } from '../net/transport.ts';
import { ControlFrames, type ControlledSession } from './control-frames.ts';
import { ReceiveWindow } from './flow-control.ts';
import { FrameReader, type FrameHeader, type FrameReceiver } from './frame-reader.ts';
import {
  CLIENT_PREFACE,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW,
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  FrameType,
  LARGEST_STREAM_ID,
  pingFrame,
  resetFrame,
  settingsFrame,
  windowUpdateFrame,
} from './frames.ts';
import { FrameWriter } from './frame-writer.ts';
import type { HeaderBlock } from './header-block.ts';
import { type BlockReceiver, HeaderFrames } from './header-frames.ts';
import type { FieldSink } from './hpack/decoder.ts';
import { Http2Stream, type StreamUser } from './http2-stream.ts';
import { type Flood, InboundCounts, type InboundLimits } from './inbound-limits.ts';
import { PeerSettings } from './peer-settings.ts';
import { StreamTable } from './stream-table.ts';

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
  readonly maxOutboundFrames: number;
  readonly maxOutboundControlFrames: number;
  readonly streamBufferBytes: number;
}

/** What a session tells its codec. */
export interface SessionUser {
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
  /**
   * The connection has failed; nothing follows but the transport's end. `isRefused`: the peer was not
   * told why.
   */
  onSessionError(details: string, isRefused: boolean): void;
  /** The peer has begun its preface, of a server; the first moment to `start`. */
  onBegun?(): void;
  /** A stream was refused: there are too many. */
  onRefused?(): void;
  onFlood(flood: Flood): void;
  /** RST_STREAM went out or came in. */
  onResetSent(): void;
  onResetReceived(stream: Http2Stream, code: number): void;
}

/** What Envoy's codec library says of a block that another frame interrupts. */
const NOT_CONTINUED = 'unexpected non-CONTINUATION frame or stream_id is invalid';
/** And of a frame that its user does not want. */
const USER_REFUSED = 'The user callback function failed';

export class Http2Session implements FrameReceiver, ControlledSession, BlockReceiver {
  readonly writer: FrameWriter;
  readonly peer = new PeerSettings();
  readonly table: StreamTable;
  readonly counts: InboundCounts;
  readonly #user: SessionUser;
  readonly #options: SessionOptions;
  readonly #reader: FrameReader;
  readonly #headers: HeaderFrames;
  readonly #control: ControlFrames;
  readonly #window: ReceiveWindow;
  #prefaceLeft = '';
  /** Of a client that began with the preface. */
  hasBegun = false;
  sawSettings = false;
  areSettingsAcknowledged = false;
  #isOver = false;
  #dataFlags = 0;
  /** The present DATA frame belongs to a stream that may take it. */
  #isDataTaken = false;

  constructor(wire: Wire, user: SessionUser, options: SessionOptions) {
    this.#user = user;
    this.#options = options;
    this.#prefaceLeft = options.isServer ? CLIENT_PREFACE : '';
    this.table = new StreamTable(options.isServer);
    this.counts = new InboundCounts(options);
    this.#reader = new FrameReader(this, DEFAULT_MAX_FRAME_BYTES);
    this.#headers = new HeaderFrames(this, options.headerTableSize, options.maxBlockBytes);
    this.#control = new ControlFrames(this);
    this.#window = new ReceiveWindow(options.connectionWindow);
    this.writer = new FrameWriter(wire, {
      streamBufferBytes: options.streamBufferBytes,
      maxOutboundFrames: options.maxOutboundFrames,
      maxOutboundControlFrames: options.maxOutboundControlFrames,
      onFlood: (flood) => this.flood(flood),
      onLocalEnd: (stream) => this.#localEnded(stream),
      onDataFrame: () => this.counts.dataFrameSent(),
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Of a stream that the peer began to open, and whose header block has not come to its end. */
  get unfinishedStream(): number | undefined {
    return this.#headers.unfinishedStream;
  }

  get streams(): ReadonlyMap<number, Http2Stream> {
    return this.table.open;
  }

  /** Says what this side wants, before anything else. */
  start(): void {
    const { isServer, settings, connectionWindow } = this.#options;
    const preface = isServer ? '' : CLIENT_PREFACE;
    const more = connectionWindow - DEFAULT_WINDOW;
    const window = more > 0 ? windowUpdateFrame(0, more) : '';
    this.writer.plain(preface + settingsFrame(settings) + window);
  }

  onData(input: Buffer, start: number, end: number): void {
    const at = this.#prefaceLeft === '' ? start : this.#readPreface(input, start, end);
    if (at !== undefined && at <= end) this.#reader.read(input, at, end);
  }

  /** Opens a stream of this side; undefined when there are no numbers left. */
  openStream(user: StreamUser): Http2Stream | undefined {
    const id = this.#isOver ? undefined : this.table.nextOwn();
    return id === undefined ? undefined : this.#makeStream(id, user);
  }

  /** Ends a stream at once; its user hears nothing more. */
  reset(stream: Http2Stream, code: number): void {
    if (stream.isClosed) return;
    this.#close(stream, true);
    this.#user.onResetSent();
    this.writer.reset(stream, code);
  }

  /** Counted: data of the stream is not acknowledged while it is paused. */
  pause(stream: Http2Stream, paused: boolean): void {
    stream.pauses += paused ? 1 : -1;
    if (stream.pauses > 0 || stream.unacknowledged === 0 || this.#isOver) return;
    const bytes = stream.unacknowledged;
    stream.unacknowledged = 0;
    this.#consume(stream.isRemoteEnded ? undefined : stream, bytes);
  }

  ping(payload: string): void {
    this.writer.plain(pingFrame(payload, false));
  }

  /** The first step of a drain: streams that are on their way are still served. */
  announceGoaway(): void {
    this.writer.goaway(LARGEST_STREAM_ID, ErrorCode.noError, '');
  }

  /** The last word: streams that came later are not served. */
  finalGoaway(): void {
    this.table.takeNoMore();
    this.writer.goaway(this.table.lastPeerStream, ErrorCode.noError, '');
  }

  /** Nothing more is read. */
  stop(): void {
    this.#isOver = true;
    this.#reader.stop();
  }

  /** The transport is gone: open streams hear of it. */
  onTransportClosed(tell: (stream: Http2Stream) => void): void {
    this.stop();
    for (const stream of Array.from(this.table.open.values())) {
      this.#close(stream, true);
      tell(stream);
    }
  }

  /** Ends the connection for a fault of the peer, which is told. */
  fail(code: number, details: string): false {
    if (this.#isOver) return false;
    this.stop();
    this.writer.goaway(this.table.lastPeerStream, code, details);
    this.#user.onSessionError(details, false);
    return false;
  }

  /** Ends the connection without a word, as Envoy does for frames that have no sense. */
  refuseFrame(details = USER_REFUSED): false {
    if (this.#isOver) return false;
    this.stop();
    this.#user.onSessionError(details, true);
    return false;
  }

  flood(flood: Flood): false {
    if (this.#isOver) return false;
    this.stop();
    this.#user.onFlood(flood);
    return false;
  }

  onDataBegin(id: number, flags: number, flowBytes: number, dataBytes: number): boolean {
    if (this.#headers.isOpen) return this.fail(ErrorCode.protocolError, NOT_CONTINUED);
    if (!this.sawSettings) return this.fail(ErrorCode.protocolError, 'SETTINGS expected');
    if (!this.#window.take(flowBytes)) {
      return this.fail(ErrorCode.flowControlError, 'DATA: more than the window of the connection');
    }
    if (dataBytes > 0 || (flags & Flag.endStream) !== 0) this.counts.fullFrame();
    else {
      const flood = this.counts.emptyFrame();
      if (flood !== undefined) return this.flood(flood);
    }
    this.#dataFlags = flags;
    this.#isDataTaken = false;
    const stream = this.table.open.get(id);
    if (stream === undefined) return this.#dropData(id, flowBytes);
    if (stream.isRemoteEnded) {
      this.streamError(stream, ErrorCode.streamClosed);
      this.#consume(undefined, flowBytes);
      return true;
    }
    return this.#takeData(stream, flowBytes, dataBytes);
  }

  onDataPiece(id: number, input: Buffer, start: number, end: number, isLast: boolean): boolean {
    if (!this.#isDataTaken) return true;
    const stream = this.table.open.get(id);
    if (stream === undefined) {
      // It ended within the frame.
      this.#consume(undefined, end - start);
      return true;
    }
    const endStream = isLast && (this.#dataFlags & Flag.endStream) !== 0;
    const bytes = end - start;
    stream.wireBytesReceived += bytes;
    if (stream.pauses > 0) stream.unacknowledged += bytes;
    else this.#consume(endStream ? undefined : stream, bytes);
    if (endStream) stream.isRemoteEnded = true;
    if (bytes > 0 || endStream) stream.user.onData(input.subarray(start, end), endStream);
    if (endStream) this.#remoteEnded(stream);
    return !this.#isOver;
  }

  onFrame(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const { type } = header;
    if (this.#headers.isOpen && type !== FrameType.continuation) {
      return this.fail(ErrorCode.protocolError, NOT_CONTINUED);
    }
    if (!this.sawSettings && (type !== FrameType.settings || (header.flags & Flag.ack) !== 0)) {
      return this.fail(ErrorCode.protocolError, 'SETTINGS expected');
    }
    switch (type) {
      case FrameType.headers:
        return this.#headers.onHeaders(header, input, start, end);
      case FrameType.continuation:
        return this.#headers.onContinuation(header, input, start, end);
      case FrameType.priority:
        return this.#control.onPriority(header, input, start);
      case FrameType.rstStream:
        return this.#control.onReset(header, input, start);
      case FrameType.settings:
        return this.#control.onSettings(header, input, start, end);
      case FrameType.pushPromise:
        return this.refuseFrame();
      case FrameType.ping:
        return this.#control.onPing(header, input, start, end);
      case FrameType.goaway:
        return this.#control.onGoaway(header, input, start);
      case FrameType.windowUpdate:
        return this.#control.onWindowUpdate(header, input, start);
      default:
        return true;
    }
  }

  onBadLength(header: FrameHeader): void {
    const isPadding = header.length <= DEFAULT_MAX_FRAME_BYTES;
    if (isPadding) this.fail(ErrorCode.protocolError, 'DATA: too long padding');
    else this.fail(ErrorCode.frameSizeError, 'too large frame size');
  }

  onBlockBegin(id: number, stream: Http2Stream | undefined): FieldSink {
    return this.#user.onBlockBegin(id, stream);
  }

  openPeerStream(id: number, block: HeaderBlock): boolean {
    const { endStream, wireBytes } = block;
    if (this.table.open.size >= this.#options.maxConcurrentStreams) {
      // Until it knows the limit a peer may be above it.
      if (this.areSettingsAcknowledged) return this.refuseFrame();
      this.#user.onRefused?.();
      this.refuse(id, ErrorCode.refusedStream);
      return true;
    }
    const stream = this.#user.openStream(id, wireBytes);
    if (stream === undefined || this.#isOver) return !this.#isOver;
    return this.deliverHeaders(stream, endStream);
  }

  /** Takes a stream that the peer opens. */
  accept(id: number, user: StreamUser, wireBytes: number): Http2Stream {
    const stream = this.#makeStream(id, user);
    stream.headerBytesReceived = wireBytes;
    stream.wireBytesReceived = wireBytes;
    return stream;
  }

  /** The unfinished stream, which was opened only to be counted. */
  forget(id: number): void {
    this.table.open.delete(id);
    this.#headers.abandon();
  }

  /** Resets a stream that was never opened here. */
  refuse(id: number, code: number): void {
    this.table.remember(id, true);
    this.#user.onResetSent();
    this.writer.control(resetFrame(id, code));
  }

  deliverHeaders(stream: Http2Stream, endStream: boolean): boolean {
    if (endStream) stream.isRemoteEnded = true;
    stream.user.onHeaders(endStream);
    if (endStream) this.#remoteEnded(stream);
    return !this.#isOver;
  }

  /** A fault of one stream: its user hears of it, others go on. */
  streamError(stream: Http2Stream, code: number): void {
    this.reset(stream, code);
    stream.user.onReset(code, false);
  }

  onPeerReset(stream: Http2Stream, code: number): void {
    this.#close(stream, false);
    this.#user.onResetReceived(stream, code);
    stream.user.onReset(code, true);
  }

  onSettings(): void {
    this.#user.onSettings(this.peer);
  }

  onGoaway(lastStream: number, code: number): void {
    this.#user.onGoaway(lastStream, code);
  }

  onPingAck(payload: string): void {
    this.#user.onPingAck(payload);
  }

  /** DATA of a stream that is not open. */
  #dropData(id: number, flowBytes: number): boolean {
    switch (this.table.stateOf(id)) {
      case 'idle':
        return this.fail(
          ErrorCode.protocolError,
          id === 0 ? 'DATA: stream_id == 0' : 'DATA: stream in idle',
        );
      case 'closed':
        return this.fail(ErrorCode.streamClosed, 'DATA: stream is closed');
      default:
        this.#consume(undefined, flowBytes);
        return true;
    }
  }

  #takeData(stream: Http2Stream, flowBytes: number, dataBytes: number): boolean {
    stream.wireBytesReceived += FRAME_HEADER_BYTES + flowBytes - dataBytes;
    if (!stream.receiveWindow.take(flowBytes)) {
      this.streamError(stream, ErrorCode.flowControlError);
      this.#consume(undefined, flowBytes);
      return true;
    }
    this.#isDataTaken = true;
    // Padding is dealt with as soon as it is there.
    if (flowBytes > dataBytes) this.#consume(stream, flowBytes - dataBytes);
    return true;
  }

  /** Gives room back to the peer, of the connection and, where it goes on, of the stream. */
  #consume(stream: Http2Stream | undefined, bytes: number): void {
    const ofStream = stream?.receiveWindow.consume(bytes) ?? 0;
    if (stream !== undefined && ofStream > 0) {
      this.writer.plain(windowUpdateFrame(stream.id, ofStream));
    }
    const ofAll = this.#window.consume(bytes);
    if (ofAll > 0) this.writer.plain(windowUpdateFrame(0, ofAll));
  }

  #makeStream(id: number, user: StreamUser): Http2Stream {
    const { initialWindowSize } = this.peer;
    const stream = new Http2Stream(id, user, initialWindowSize, this.#options.streamWindow);
    this.table.open.set(id, stream);
    this.counts.streamOpened();
    return stream;
  }

  #localEnded(stream: Http2Stream): void {
    if (stream.isRemoteEnded && !stream.isClosed) this.#finish(stream);
    else stream.user.onLocalEnd?.();
  }

  #remoteEnded(stream: Http2Stream): void {
    if (stream.isLocalEnded && !stream.isClosed) this.#finish(stream);
  }

  #finish(stream: Http2Stream): void {
    this.#close(stream, false);
    stream.user.onClosed();
  }

  #close(stream: Http2Stream, wasResetHere: boolean): void {
    stream.isClosed = true;
    this.table.open.delete(stream.id);
    this.table.remember(stream.id, wasResetHere);
    this.writer.forget(stream);
    // What nobody will ask for any more counts as dealt with.
    if (stream.unacknowledged > 0) this.#consume(undefined, stream.unacknowledged);
    stream.unacknowledged = 0;
  }

  /** Returns where frames begin, undefined while the preface is not whole or was wrong. */
  #readPreface(input: Buffer, start: number, end: number): number | undefined {
    const length = Math.min(this.#prefaceLeft.length, end - start);
    const piece = input.toString('latin1', start, start + length);
    if (!this.#prefaceLeft.startsWith(piece)) {
      this.refuseFrame('Received bad client magic byte string');
      return undefined;
    }
    this.#prefaceLeft = this.#prefaceLeft.slice(length);
    if (!this.hasBegun) {
      this.hasBegun = true;
      this.#user.onBegun?.();
    }
    return this.#prefaceLeft === '' ? start + length : undefined;
  }
}
