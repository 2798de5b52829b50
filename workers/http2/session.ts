/**
 * One HTTP/2 connection without its messages (RFC 9113): the preface, SETTINGS, the states of
 * streams, flow control and the errors of the connection. Both codecs stand on it; what a header
 * block means is theirs. A peer that breaks the protocol ends the connection with a GOAWAY that
 * names the reason.
 */
import type { Wire } from '../net/transport.ts';
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
  readNumber31,
  resetFrame,
  SETTINGS_ACK,
  settingsFrame,
  windowUpdateFrame,
} from './frames.ts';
import { FrameWriter } from './frame-writer.ts';
import { HeaderBlock } from './header-block.ts';
import { type FieldSink, HpackDecoder, HpackError } from './hpack/decoder.ts';
import { Http2Stream, type StreamUser } from './http2-stream.ts';
import { type Flood, InboundCounts, type InboundLimits } from './inbound-limits.ts';
import { PeerSettings } from './peer-settings.ts';

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
  readonly maxOutboundControlFrames: number;
  readonly streamBufferBytes: number;
}

/** What a session tells its codec. */
export interface SessionUser {
  /**
   * A header block comes for a stream: one that is open, or one that the peer opens. Its fields go
   * to the sink, then `onBlockEnd` follows.
   */
  onBlockBegin(id: number, stream: Http2Stream | undefined): FieldSink;
  /**
   * The block of a stream that the peer opens is whole; undefined refuses the stream, which was
   * reset.
   */
  openStream(id: number): StreamUser | undefined;
  onSettings(settings: PeerSettings): void;
  onGoaway(lastStream: number, code: number): void;
  onPingAck(payload: string): void;
  /** The connection has failed; GOAWAY was sent, and nothing follows but the transport's end. */
  onSessionError(details: string): void;
  onFlood(flood: Flood | 'outbound_control'): void;
  /** RST_STREAM went out or came in. */
  onResetSent(): void;
  onResetReceived(stream: Http2Stream, code: number): void;
}

/** Streams that ended lately, of which late frames may come. */
const CLOSED_REMEMBERED = 128;

export class Http2Session implements FrameReceiver {
  readonly writer: FrameWriter;
  readonly peer = new PeerSettings();
  readonly streams = new Map<number, Http2Stream>();
  readonly #user: SessionUser;
  readonly #options: SessionOptions;
  readonly #reader: FrameReader;
  readonly #decoder: HpackDecoder;
  readonly #block: HeaderBlock;
  readonly #counts: InboundCounts;
  readonly #window: ReceiveWindow;
  /** Streams that ended lately, by id: whether this side reset them. */
  readonly #closed = new Map<number, boolean>();
  #prefaceLeft = '';
  #sawSettings = false;
  #isOver = false;
  /** The highest stream that the peer has opened. */
  #lastPeerStream = 0;
  /** The next one that this side opens. */
  #nextOwnStream: number;
  /** Streams above are not taken any more; a drain's last GOAWAY said so. */
  #lastTaken = LARGEST_STREAM_ID;
  #dataFlags = 0;

  constructor(wire: Wire, user: SessionUser, options: SessionOptions) {
    this.#user = user;
    this.#options = options;
    this.#nextOwnStream = options.isServer ? 2 : 1;
    this.#prefaceLeft = options.isServer ? CLIENT_PREFACE : '';
    this.#reader = new FrameReader(this, DEFAULT_MAX_FRAME_BYTES);
    this.#decoder = new HpackDecoder(options.headerTableSize);
    this.#block = new HeaderBlock(options.maxBlockBytes);
    this.#counts = new InboundCounts(options);
    this.#window = new ReceiveWindow(options.connectionWindow);
    this.writer = new FrameWriter(wire, {
      streamBufferBytes: options.streamBufferBytes,
      maxOutboundControlFrames: options.maxOutboundControlFrames,
      onControlFlood: () => this.#flood('outbound_control'),
      onLocalEnd: (stream) => this.#localEnded(stream),
      onDataFrame: () => this.#counts.dataFrameSent(),
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get lastPeerStream(): number {
    return this.#lastPeerStream;
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

  /** Opens a stream of this side; undefined when the peer takes none any more. */
  openStream(user: StreamUser): Http2Stream | undefined {
    if (this.#isOver || this.#nextOwnStream > LARGEST_STREAM_ID) return undefined;
    const stream = this.#makeStream(this.#nextOwnStream, user);
    this.#nextOwnStream += 2;
    return stream;
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
    if (stream.pauses > 0 || stream.unacknowledged === 0) return;
    const bytes = stream.unacknowledged;
    stream.unacknowledged = 0;
    this.#consume(stream, bytes);
  }

  /** The peer's GOAWAY: it does nothing of own streams above. They end here without a word. */
  dropAbove(lastStream: number): readonly Http2Stream[] {
    const dropped = Array.from(this.streams.values()).filter(({ id }) => id > lastStream);
    for (const stream of dropped) this.#close(stream, true);
    return dropped;
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
    this.#lastTaken = this.#lastPeerStream;
    this.writer.goaway(this.#lastPeerStream, ErrorCode.noError, '');
  }

  /** The transport is gone: open streams hear of it. */
  onTransportClosed(tell: (stream: Http2Stream) => void): void {
    this.#isOver = true;
    this.#reader.stop();
    for (const stream of Array.from(this.streams.values())) {
      this.#close(stream, true);
      tell(stream);
    }
  }

  /** Ends the connection for a fault of the peer. */
  fail(code: number, details: string): false {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#reader.stop();
    this.writer.goaway(this.#lastPeerStream, code, details);
    this.#user.onSessionError(details);
    return false;
  }

  onDataBegin(id: number, flags: number, flowBytes: number, dataBytes: number): boolean {
    if (this.#block.isOpen) return this.fail(ErrorCode.protocolError, 'CONTINUATION: expected');
    if (!this.#sawSettings) return this.fail(ErrorCode.protocolError, 'SETTINGS expected');
    if (!this.#window.take(flowBytes)) {
      return this.fail(ErrorCode.flowControlError, 'DATA: more than the window of the connection');
    }
    this.#dataFlags = flags;
    const stream = this.streams.get(id);
    if (stream === undefined) {
      if (!this.#wasOpen(id)) return this.fail(ErrorCode.protocolError, 'DATA: stream in idle');
      if (this.#closed.get(id) === false) {
        return this.fail(ErrorCode.streamClosed, 'DATA: stream is closed');
      }
      this.#consume(undefined, flowBytes);
      return true;
    }
    if (stream.isRemoteEnded) {
      this.#streamError(stream, ErrorCode.streamClosed);
      this.#consume(undefined, flowBytes);
      return true;
    }
    return this.#takeData(stream, flags, flowBytes, dataBytes);
  }

  onDataPiece(id: number, input: Buffer, start: number, end: number, isLast: boolean): boolean {
    const stream = this.streams.get(id);
    if (stream === undefined || stream.isRemoteEnded) return true;
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
    if (this.#block.isOpen && type !== FrameType.continuation) {
      return this.fail(ErrorCode.protocolError, 'CONTINUATION: expected');
    }
    if (!this.#sawSettings && (type !== FrameType.settings || (header.flags & Flag.ack) !== 0)) {
      return this.fail(ErrorCode.protocolError, 'SETTINGS expected');
    }
    switch (type) {
      case FrameType.headers:
        return this.#onHeaders(header, input, start, end);
      case FrameType.continuation:
        return this.#onContinuation(header, input, start, end);
      case FrameType.priority:
        return this.#onPriority(header, input, start);
      case FrameType.rstStream:
        return this.#onReset(header, input, start);
      case FrameType.settings:
        return this.#onSettings(header, input, start, end);
      case FrameType.pushPromise:
        return this.fail(ErrorCode.protocolError, 'PUSH_PROMISE: push is disabled');
      case FrameType.ping:
        return this.#onPing(header, input, start, end);
      case FrameType.goaway:
        return this.#onGoaway(header, input, start);
      case FrameType.windowUpdate:
        return this.#onWindowUpdate(header, input, start);
      default:
        return true;
    }
  }

  onBadLength(header: FrameHeader): void {
    const isPadding = header.length <= DEFAULT_MAX_FRAME_BYTES;
    if (isPadding) this.fail(ErrorCode.protocolError, 'DATA: too long padding');
    else this.fail(ErrorCode.frameSizeError, 'too large frame size');
  }

  #onHeaders(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const { flags, stream: id } = header;
    if (id === 0) return this.fail(ErrorCode.protocolError, 'HEADERS: stream 0');
    const padding = (flags & Flag.padded) === 0 ? 0 : (input[start] ?? 0) + 1;
    const from = start + (padding > 0 ? 1 : 0) + ((flags & Flag.priority) === 0 ? 0 : 5);
    const to = end - Math.max(0, padding - 1);
    if (from > to) return this.fail(ErrorCode.protocolError, 'HEADERS: too long padding');
    if ((flags & Flag.priority) !== 0 && readNumber31(input, from - 5) === id) {
      return this.fail(ErrorCode.protocolError, 'HEADERS: depends on itself');
    }
    if (!this.#mayHaveHeaders(id)) return false;
    const stream = this.streams.get(id);
    if (stream !== undefined) {
      stream.wireBytesReceived += end - start + FRAME_HEADER_BYTES;
      stream.headerBytesReceived += end - start + FRAME_HEADER_BYTES;
    }
    this.#block.begin(id, (flags & Flag.endStream) !== 0);
    return this.#addToBlock(header, input, from, to);
  }

  /** Whether a stream may get a header block, or may be opened by one. */
  #mayHaveHeaders(id: number): boolean {
    if (this.streams.has(id) || this.#closed.get(id) === true) return true;
    // An answer may still come to a request that was given up long ago.
    if (this.#isOwn(id) && !this.#closed.has(id) && this.#wasOpen(id)) return true;
    if (this.#closed.has(id)) return this.fail(ErrorCode.streamClosed, 'HEADERS: stream closed');
    const isPeers = this.#options.isServer && (id & 1) === 1;
    if (!isPeers || id <= this.#lastPeerStream) {
      return this.fail(ErrorCode.protocolError, 'HEADERS: invalid stream_id');
    }
    this.#lastPeerStream = id;
    return true;
  }

  #onContinuation(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    if (!this.#block.isOpen || header.stream !== this.#block.stream) {
      return this.fail(ErrorCode.protocolError, 'CONTINUATION: unexpected');
    }
    return this.#addToBlock(header, input, start, end);
  }

  #addToBlock(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const isWhole = (header.flags & Flag.endHeaders) !== 0;
    if (end > start || isWhole) this.#counts.fullFrame();
    else {
      const flood = this.#counts.emptyFrame();
      if (flood !== undefined) return this.#flood(flood);
    }
    if (!this.#block.add(input, start, end, isWhole)) {
      return this.fail(ErrorCode.enhanceYourCalm, 'HEADERS: too large header block');
    }
    return isWhole ? this.#endBlock() : true;
  }

  #endBlock(): boolean {
    const { stream: id, endStream } = this.#block;
    const stream = this.streams.get(id);
    const sink = this.#isIgnored(id) ? IGNORE : this.#user.onBlockBegin(id, stream);
    try {
      const { bytes, start, end } = this.#block.take();
      this.#decoder.decode(bytes, start, end, sink);
    } catch (error) {
      if (!(error instanceof HpackError)) throw error;
      return this.fail(ErrorCode.compressionError, error.message);
    }
    if (sink === IGNORE || this.#isOver) return !this.#isOver;
    if (stream === undefined) return this.#openPeerStream(id, endStream);
    if (stream.isRemoteEnded) {
      this.#streamError(stream, ErrorCode.streamClosed);
      return true;
    }
    return this.#deliverHeaders(stream, endStream);
  }

  /** Decoded for the table's sake alone: a stream that was reset here, or beyond a drain's last. */
  #isIgnored(id: number): boolean {
    if (this.#closed.get(id) === true) return true;
    return (id > this.#lastTaken || this.#isOwn(id)) && !this.streams.has(id);
  }

  #openPeerStream(id: number, endStream: boolean): boolean {
    if (this.streams.size >= this.#options.maxConcurrentStreams) {
      this.refuse(id, ErrorCode.refusedStream);
      return true;
    }
    const user = this.#user.openStream(id);
    if (this.#isOver) return false;
    if (user === undefined) return true;
    const stream = this.#makeStream(id, user);
    return this.#deliverHeaders(stream, endStream);
  }

  /** Resets a stream that was never opened here. */
  refuse(id: number, code: number): void {
    this.#remember(id, true);
    this.#user.onResetSent();
    this.writer.control(resetFrame(id, code));
  }

  #deliverHeaders(stream: Http2Stream, endStream: boolean): boolean {
    if (endStream) stream.isRemoteEnded = true;
    stream.user.onHeaders(endStream);
    if (endStream) this.#remoteEnded(stream);
    return !this.#isOver;
  }

  #onPriority(header: FrameHeader, input: Buffer, start: number): boolean {
    const { stream: id, length } = header;
    if (id === 0) return this.fail(ErrorCode.protocolError, 'PRIORITY: stream 0');
    const flood = this.#counts.priorityFrame();
    if (flood !== undefined) return this.#flood(flood);
    if (length !== 5) return this.fail(ErrorCode.frameSizeError, 'PRIORITY: invalid length');
    if (readNumber31(input, start) === id) {
      return this.fail(ErrorCode.protocolError, 'PRIORITY: depends on itself');
    }
    return true;
  }

  #onReset(header: FrameHeader, input: Buffer, start: number): boolean {
    const { stream: id, length } = header;
    if (id === 0) return this.fail(ErrorCode.protocolError, 'RST_STREAM: stream 0');
    if (length !== 4) return this.fail(ErrorCode.frameSizeError, 'RST_STREAM: invalid length');
    const stream = this.streams.get(id);
    if (stream === undefined) {
      return this.#wasOpen(id) || this.fail(ErrorCode.protocolError, 'RST_STREAM: stream in idle');
    }
    const code = input.readUInt32BE(start);
    this.#close(stream, false);
    this.#user.onResetReceived(stream, code);
    stream.user.onReset(code, true);
    return !this.#isOver;
  }

  #onSettings(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const { stream: id, length, flags } = header;
    if (id !== 0) return this.fail(ErrorCode.protocolError, 'SETTINGS: stream is not 0');
    if ((flags & Flag.ack) !== 0) {
      return length === 0 || this.fail(ErrorCode.frameSizeError, 'SETTINGS: ACK with a payload');
    }
    if (length % 6 !== 0) return this.fail(ErrorCode.frameSizeError, 'SETTINGS: invalid length');
    this.#sawSettings = true;
    const refused = this.peer.read(input, start, end);
    if (refused !== undefined) return this.fail(refused.code, refused.details);
    const { windowChange } = this.peer;
    for (const stream of this.streams.values()) {
      if (windowChange !== 0 && !stream.sendWindow.add(windowChange)) {
        return this.fail(ErrorCode.flowControlError, 'SETTINGS: a window becomes too large');
      }
    }
    this.writer.maxFrameBytes = this.peer.maxFrameSize;
    this.writer.encoder.limitTable(this.peer.headerTableSize);
    this.writer.control(SETTINGS_ACK);
    if (this.#isOver) return false;
    this.#user.onSettings(this.peer);
    this.writer.drain();
    return !this.#isOver;
  }

  #onPing(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    if (header.stream !== 0) return this.fail(ErrorCode.protocolError, 'PING: stream is not 0');
    if (header.length !== 8) return this.fail(ErrorCode.frameSizeError, 'PING: invalid length');
    const payload = input.toString('latin1', start, end);
    if ((header.flags & Flag.ack) !== 0) this.#user.onPingAck(payload);
    else this.writer.control(pingFrame(payload, true));
    return !this.#isOver;
  }

  #onGoaway(header: FrameHeader, input: Buffer, start: number): boolean {
    if (header.stream !== 0) return this.fail(ErrorCode.protocolError, 'GOAWAY: stream is not 0');
    if (header.length < 8) return this.fail(ErrorCode.frameSizeError, 'GOAWAY: invalid length');
    this.#user.onGoaway(readNumber31(input, start), input.readUInt32BE(start + 4));
    return !this.#isOver;
  }

  #onWindowUpdate(header: FrameHeader, input: Buffer, start: number): boolean {
    const { stream: id, length } = header;
    if (length !== 4) return this.fail(ErrorCode.frameSizeError, 'WINDOW_UPDATE: invalid length');
    const flood = this.#counts.windowUpdateFrame();
    if (flood !== undefined) return this.#flood(flood);
    const increment = readNumber31(input, start);
    if (id === 0) {
      if (increment === 0) return this.fail(ErrorCode.protocolError, 'WINDOW_UPDATE: of 0');
      if (!this.writer.window.add(increment)) {
        return this.fail(ErrorCode.flowControlError, 'WINDOW_UPDATE: the window is too large');
      }
      this.writer.drain();
      return !this.#isOver;
    }
    const stream = this.streams.get(id);
    if (stream === undefined) {
      return this.#wasOpen(id) || this.fail(ErrorCode.protocolError, 'WINDOW_UPDATE: idle stream');
    }
    if (increment === 0) this.#streamError(stream, ErrorCode.protocolError);
    else if (!stream.sendWindow.add(increment)) {
      this.#streamError(stream, ErrorCode.flowControlError);
    } else this.writer.drain();
    return !this.#isOver;
  }

  #takeData(stream: Http2Stream, flags: number, flowBytes: number, dataBytes: number): boolean {
    stream.wireBytesReceived += FRAME_HEADER_BYTES + flowBytes - dataBytes;
    if (!stream.receiveWindow.take(flowBytes)) {
      this.#streamError(stream, ErrorCode.flowControlError);
      this.#consume(undefined, flowBytes);
      return true;
    }
    if (dataBytes > 0 || (flags & Flag.endStream) !== 0) this.#counts.fullFrame();
    else {
      const flood = this.#counts.emptyFrame();
      if (flood !== undefined) return this.#flood(flood);
    }
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
    const stream = new Http2Stream(
      id,
      user,
      this.peer.initialWindowSize,
      this.#options.streamWindow,
    );
    this.streams.set(id, stream);
    this.#counts.streamOpened();
    return stream;
  }

  /** A fault of one stream: its user hears of it, others go on. */
  #streamError(stream: Http2Stream, code: number): void {
    this.reset(stream, code);
    stream.user.onReset(code, false);
  }

  #localEnded(stream: Http2Stream): void {
    if (stream.isRemoteEnded && !stream.isClosed) this.#finish(stream);
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
    this.streams.delete(stream.id);
    this.#remember(stream.id, wasResetHere);
    this.writer.forget(stream);
    // What nobody will ask for any more counts as dealt with.
    if (stream.unacknowledged > 0) this.#consume(undefined, stream.unacknowledged);
    stream.unacknowledged = 0;
  }

  #remember(id: number, wasResetHere: boolean): void {
    this.#closed.set(id, wasResetHere);
    if (this.#closed.size <= CLOSED_REMEMBERED) return;
    for (const oldest of this.#closed.keys()) {
      this.#closed.delete(oldest);
      return;
    }
  }

  #wasOpen(id: number): boolean {
    if (id === 0) return false;
    return this.#isOwn(id) ? id < this.#nextOwnStream : id <= this.#lastPeerStream;
  }

  /** Whether such a stream is one that this side opens. */
  #isOwn(id: number): boolean {
    return ((id & 1) === 1) !== this.#options.isServer;
  }

  #flood(flood: Flood | 'outbound_control'): false {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#reader.stop();
    this.#user.onFlood(flood);
    return false;
  }

  /** Returns where frames begin, undefined while the preface is not whole or was wrong. */
  #readPreface(input: Buffer, start: number, end: number): number | undefined {
    const length = Math.min(this.#prefaceLeft.length, end - start);
    const piece = input.toString('latin1', start, start + length);
    if (!this.#prefaceLeft.startsWith(piece)) {
      this.fail(ErrorCode.protocolError, 'Received bad client magic byte string');
      return undefined;
    }
    this.#prefaceLeft = this.#prefaceLeft.slice(length);
    return this.#prefaceLeft === '' ? start + length : undefined;
  }
}

const IGNORE: FieldSink = { onField: () => undefined };
