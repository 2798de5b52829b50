/**
 * One HTTP/2 connection without its messages (RFC 9113): the preface, the lives of its streams,
 * DATA with its windows, and the connection's end. Both codecs stand on it; what a header block
 * means is theirs. Blocks are put together in header-frames.ts, control frames are obeyed in
 * control-frames.ts.
 */
import type { Wire } from '../net/wire.ts';
import { ControlFrames, type ControlledSession } from './control-frames.ts';
import { DataFrames, type DataReceiver } from './data-frames.ts';
import type { FrameHeader, FrameReceiver } from './frame-reader.ts';
import { ErrorCode, Flag, firstFrames, FrameType, resetFrame } from './frames.ts';
import { FrameWriter, type FrameWriterUser } from './frame-writer.ts';
import type { HeaderBlock } from './header-block.ts';
import { type BlockReceiver, HeaderFrames, NOT_CONTINUED } from './header-frames.ts';
import { Http2Stream, type StreamUser } from './http2-stream.ts';
import { type Flood, InboundCounts } from './limits/inbound-limits.ts';
import { MetadataFrames } from './metadata/metadata-frames.ts';
import { PeerSettings } from './peer-settings.ts';
import { ReadTurn } from './input/read-turn.ts';
import { SessionInput } from './input/session-input.ts';
import type { SessionOptions, SessionUser } from './session-user.ts';
import { StreamTable } from './stream-table.ts';

/** What Envoy's codec library says of a frame that its user does not want. */
const USER_REFUSED = 'The user callback function failed';

export class Http2Session
  implements FrameReceiver, ControlledSession, BlockReceiver, DataReceiver, FrameWriterUser
{
  readonly writer: FrameWriter;
  readonly peer: PeerSettings;
  readonly table: StreamTable;
  readonly counts: InboundCounts;
  readonly user: SessionUser;
  readonly options: SessionOptions;
  readonly #input: SessionInput;
  readonly headers: HeaderFrames;
  readonly #control: ControlFrames;
  readonly #data: DataFrames;
  /** Absent where METADATA is an unknown frame. */
  readonly metadata: MetadataFrames | undefined;
  /** True of a client that began with the preface. */
  hasBegun = false;
  sawSettings = false;
  areSettingsAcknowledged = false;
  isOver = false;
  readonly turn: ReadTurn;

  constructor(wire: Wire, user: SessionUser, options: SessionOptions) {
    this.user = user;
    this.options = options;
    this.peer = new PeerSettings(options.isServer);
    this.table = new StreamTable(options.isServer);
    this.counts = new InboundCounts(options);
    this.headers = new HeaderFrames(this, options);
    this.#control = new ControlFrames(this);
    this.#data = new DataFrames(this, options.connectionWindow);
    this.metadata =
      options.maxMetadataBytes > 0 ? new MetadataFrames(this, options.maxMetadataBytes) : undefined;
    this.writer = new FrameWriter(wire, this, options, user.stats);
    this.turn = new ReadTurn(wire, this.writer.counts);
    this.#input = new SessionInput(wire, this);
  }

  /** Says what this side wants, before anything else. */
  start(): void {
    this.writer.begin(firstFrames(this.options));
  }

  onData(input: Buffer, start: number, end: number): void {
    this.#input.onData(input, start, end);
  }

  onBadPreface(): void {
    this.refuseFrame(undefined, 'Received bad client magic byte string');
  }

  /** The preface, or its beginning, is right. */
  onPreface(): void {
    if (!this.hasBegun && this.options.isServer) this.user.onBegun?.();
    this.hasBegun = true;
  }

  /** Opens a stream of this side; undefined when there are no numbers left. */
  openStream(user: StreamUser): Http2Stream | undefined {
    const id = this.isOver ? undefined : this.table.nextOwn();
    return id === undefined ? undefined : this.#makeStream(id, user);
  }

  /** Ends a stream at once; its user hears nothing more. */
  reset(stream: Http2Stream, code: number): void {
    if (stream.isClosed) return;
    this.#close(stream, true);
    this.turn.streamEnded();
    this.user.onResetSent();
    this.writer.reset(stream, code);
  }

  /** Counted: data of the stream is not acknowledged while it is paused. */
  pause(stream: Http2Stream, paused: boolean): void {
    stream.pauses += paused ? 1 : -1;
    if (stream.pauses > 0 || stream.unacknowledged === 0 || this.isOver) return;
    const bytes = stream.unacknowledged;
    stream.unacknowledged = 0;
    this.#data.consume(stream.isRemoteEnded ? undefined : stream, bytes);
  }

  /** The peer's GOAWAY: it does nothing of own streams above. They end here without a word. */
  dropAbove(lastStream: number): readonly Http2Stream[] {
    const dropped = this.table.open.all().filter(({ id }) => id > lastStream);
    for (const stream of dropped) this.#close(stream, true);
    return dropped;
  }

  /** The last word: streams that came later are not served. */
  finalGoaway(): void {
    this.table.takeNoMore();
    this.writer.goaway(this.table.lastPeerStream, ErrorCode.noError, '');
  }

  /** Reads no more. */
  stop(): void {
    this.isOver = true;
    this.#input.stop();
  }

  /** The transport is gone: open streams hear of it. */
  onTransportClosed(tell: (stream: Http2Stream) => void): void {
    this.stop();
    for (const stream of this.table.open.all()) {
      this.#close(stream, true);
      tell(stream);
    }
  }

  /** Ends the connection for a fault of the peer, which is told. */
  fail(code: number, details: string): false {
    if (this.isOver) return false;
    this.stop();
    this.writer.goaway(this.table.lastPeerStream, code, details);
    this.user.onSessionError(details);
    return false;
  }

  /** Ends the connection without a word, as Envoy does for frames that have no sense. */
  refuseFrame(culprit?: Http2Stream, details = USER_REFUSED): false {
    if (this.isOver) return false;
    this.stop();
    this.user.onSessionError(details, culprit);
    return false;
  }

  flood(flood: Flood): false {
    if (this.isOver) return false;
    this.stop();
    this.user.onFlood(flood);
    return false;
  }

  onDataBegin(frame: FrameHeader, dataBytes: number): boolean {
    return this.#mayCome(frame) && this.#data.onBegin(frame, dataBytes);
  }

  onDataPiece(input: Buffer, start: number, end: number, isLast: boolean): boolean {
    return this.#data.onPiece(input, start, end, isLast);
  }

  /** What may interrupt a header block, or come before SETTINGS: nothing. */
  #mayCome({ type, flags }: FrameHeader): boolean {
    if (this.headers.isOpen && type !== FrameType.continuation) {
      return this.fail(ErrorCode.protocolError, NOT_CONTINUED);
    }
    if (this.sawSettings || (type === FrameType.settings && (flags & Flag.ack) === 0)) return true;
    return this.fail(ErrorCode.protocolError, 'SETTINGS expected');
  }

  onFrame(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    if (!this.#mayCome(header)) return false;
    switch (header.type) {
      case FrameType.headers:
        return this.headers.onHeaders(header, input, start, end);
      case FrameType.continuation:
        return this.headers.onContinuation(header, input, start, end);
      case FrameType.priority:
        return this.#control.onPriority(header);
      case FrameType.rstStream:
        return this.#control.onReset(header, input, start);
      case FrameType.settings:
        return this.#control.onSettings(header, input, start, end);
      case FrameType.metadata:
        return this.metadata?.onFrame(header, input, start, end) ?? true;
      case FrameType.pushPromise:
        return this.refuseFrame(this.table.open.get(header.stream));
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

  openPeerStream(id: number, block: HeaderBlock): boolean {
    if (this.table.open.size + this.turn.endedStreams >= this.options.maxConcurrentStreams) {
      // Until it knows the limit a peer may be above it.
      if (this.areSettingsAcknowledged) return this.refuseFrame();
      this.user.onRefused?.();
      this.user.onResetSent();
      this.table.remember(id, true);
      this.writer.control(resetFrame(id, ErrorCode.refusedStream));
      return true;
    }
    const stream = this.user.openStream(id, block.wireBytes);
    if (stream === undefined || this.isOver) return !this.isOver;
    return this.deliverHeaders(stream, block.endStream);
  }

  /** Takes a stream that the peer opens. */
  accept(id: number, user: StreamUser, wireBytes: number): Http2Stream {
    const stream = this.#makeStream(id, user);
    stream.headerBytesReceived = stream.wireBytesReceived = wireBytes;
    return stream;
  }

  deliverHeaders(stream: Http2Stream, endStream: boolean): boolean {
    stream.hasHeaders = true;
    if (endStream) stream.isRemoteEnded = true;
    try {
      stream.user.onHeaders(endStream);
    } catch (error) {
      this.user.onException(error, stream);
    }
    if (endStream) this.onRemoteEnd(stream);
    return !this.isOver;
  }

  /** A fault of one stream: its user hears of it, others go on. */
  streamError(stream: Http2Stream, code: number): void {
    this.reset(stream, code);
    stream.user.onReset(code, false);
  }

  onPeerReset(stream: Http2Stream, code: number): void {
    this.#close(stream, false);
    this.user.onResetReceived(stream, code);
    stream.user.onReset(code, true);
  }

  #makeStream(id: number, user: StreamUser): Http2Stream {
    const { initialWindowSize } = this.peer;
    const stream = new Http2Stream(id, user, initialWindowSize, this.options.streamWindow);
    this.table.open.add(stream);
    this.counts.streamOpened();
    return stream;
  }

  onDataFrame(): void {
    this.counts.dataFrameSent();
  }

  localEnded(stream: Http2Stream): void {
    if (stream.isRemoteEnded && !stream.isClosed) {
      this.#finish(stream);
      this.turn.streamEnded();
    } else this.turn.localEnded(stream);
  }

  onRemoteEnd(stream: Http2Stream): void {
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
    if (stream.unacknowledged > 0) this.#data.consume(undefined, stream.unacknowledged);
    stream.unacknowledged = 0;
  }
}
