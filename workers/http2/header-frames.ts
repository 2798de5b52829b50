/**
 * HEADERS and CONTINUATION (RFC 9113 sections 6.2 and 6.10): gathers a block, decides whose it is,
 * decodes it. Every whole block is decoded, whatever becomes of its stream, because the table of
 * the connection follows from all of them. Each method gives false when the connection is over.
 */
import type { FrameHeader } from './frame-reader.ts';
import {
  DEFAULT_TABLE_BYTES,
  ErrorCode,
  Flag,
  FRAME_HEADER_BYTES,
  readNumber31,
} from './frames.ts';
import { HeaderBlock } from './header-block.ts';
import { type FieldSink, HpackDecoder, HpackError } from './hpack/decoder.ts';
import type { Http2Stream } from './http2-stream.ts';
import type { Flood, InboundCounts } from './limits/inbound-limits.ts';
import type { SessionOptions, SessionUser } from './session-user.ts';
import type { StreamTable } from './stream-table.ts';

/** What Envoy's codec library says of a block that another frame interrupts. */
export const NOT_CONTINUED = 'unexpected non-CONTINUATION frame or stream_id is invalid';

/** What becomes of a block; implemented by the session. */
export interface BlockReceiver {
  readonly user: Pick<SessionUser, 'onBlockBegin' | 'onBlockTooLarge'>;
  readonly table: StreamTable;
  readonly counts: InboundCounts;
  readonly isOver: boolean;
  fail(code: number, details: string): false;
  refuseFrame(culprit?: Http2Stream): false;
  flood(flood: Flood): false;
  openPeerStream(id: number, block: HeaderBlock): boolean;
  deliverHeaders(stream: Http2Stream, endStream: boolean): boolean;
}

type BlockLimits = Pick<SessionOptions, 'maxBlockBytes' | 'maxHeaderTextBytes'>;

export class HeaderFrames {
  readonly #session: BlockReceiver;
  readonly #block: HeaderBlock;
  readonly #decoder: HpackDecoder;
  /** The block opens its stream. */
  #isNew = false;

  constructor(session: BlockReceiver, options: BlockLimits) {
    this.#session = session;
    this.#block = new HeaderBlock(options.maxBlockBytes);
    this.#decoder = new HpackDecoder(DEFAULT_TABLE_BYTES, options.maxHeaderTextBytes);
  }

  /** The peer has confirmed this side's limit on the table; until then the default is in force. */
  limitTable(bytes: number): void {
    this.#decoder.limitTable(bytes);
  }

  /** A block has begun: nothing but its CONTINUATION may come. */
  get isOpen(): boolean {
    return this.#block.isOpen;
  }

  /** The stream that the peer began to open, and whose header block has not come to its end. */
  get unfinishedStream(): number | undefined {
    return this.#block.isOpen && this.#isNew ? this.#block.stream : undefined;
  }

  /** The unfinished stream is nobody's any more. */
  abandon(): void {
    this.#isNew = false;
  }

  onHeaders(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    const { flags, stream: id } = header;
    if (id === 0) return session.refuseFrame();
    const isPadded = (flags & Flag.padded) !== 0;
    const hasPriority = (flags & Flag.priority) !== 0;
    const from = start + (isPadded ? 1 : 0) + (hasPriority ? 5 : 0);
    const to = end - (isPadded ? (input[start] ?? 0) : 0);
    if (from > end) return session.fail(ErrorCode.frameSizeError, '');
    if (from > to) return session.fail(ErrorCode.protocolError, 'HEADERS: invalid padding');
    if (hasPriority && readNumber31(input, from - 5) === id) {
      return session.refuseFrame(session.table.open.get(id));
    }
    if (!this.#mayHaveHeaders(id)) return false;
    this.#block.begin(id, (flags & Flag.endStream) !== 0);
    return this.#add(header, input, from, to);
  }

  onContinuation(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    if (!this.#block.isOpen) {
      return session.fail(ErrorCode.protocolError, 'CONTINUATION: unexpected');
    }
    if (header.stream !== this.#block.stream) {
      return session.fail(ErrorCode.protocolError, NOT_CONTINUED);
    }
    return this.#add(header, input, start, end);
  }

  /** Whether a stream may get a header block, or may be opened by one. */
  #mayHaveHeaders(id: number): boolean {
    const session = this.#session;
    const { table } = session;
    this.#isNew = false;
    switch (table.stateOf(id)) {
      case 'open':
      case 'left':
      case 'forgotten':
      // As Envoy: a number below one that was used is not used any more, and its block is ignored.
      case 'skipped':
        return true;
      case 'closed':
        return session.fail(ErrorCode.streamClosed, 'HEADERS: stream closed');
      case 'idle':
        if (!table.isPeers(id)) return session.refuseFrame();
        if (table.isPeerLeaving && table.open.size === 0) table.takeNoMore();
        table.lastPeerStream = id;
        this.#isNew = true;
        return true;
    }
  }

  #add(header: FrameHeader, input: Buffer, start: number, end: number): boolean {
    const session = this.#session;
    const isWhole = (header.flags & Flag.endHeaders) !== 0;
    // As in Envoy: what matters is the end of the stream, not that of the block.
    if (header.length > 0 || (header.flags & Flag.endStream) !== 0) session.counts.fullFrame();
    else {
      const flood = session.counts.emptyFrame();
      if (flood !== undefined) return session.flood(flood);
    }
    this.#block.wireBytes += header.length + FRAME_HEADER_BYTES;
    if (!this.#block.add(input, start, end, isWhole)) {
      session.user.onBlockTooLarge();
      return session.fail(ErrorCode.enhanceYourCalm, 'HEADERS: too large header block');
    }
    return isWhole ? this.#end() : true;
  }

  #end(): boolean {
    const session = this.#session;
    const block = this.#block;
    const { stream: id, endStream } = block;
    const stream = session.table.open.get(id);
    const isIgnored = stream === undefined && !(this.#isNew && session.table.isTaken(id));
    const sink = isIgnored ? IGNORE : session.user.onBlockBegin(id, stream);
    try {
      const { bytes, start, end } = block.take();
      this.#decoder.decode(bytes, start, end, sink);
    } catch (error) {
      if (!(error instanceof HpackError)) throw error;
      // A request that nobody can read counts as one that has no end.
      block.isOpen = true;
      return session.fail(ErrorCode.compressionError, '');
    }
    if (isIgnored || session.isOver) return !session.isOver;
    if (stream === undefined) return session.openPeerStream(id, block);
    stream.headerBytesReceived += block.wireBytes;
    stream.wireBytesReceived += block.wireBytes;
    if (stream.isRemoteEnded) {
      return session.refuseFrame(stream);
    }
    return session.deliverHeaders(stream, endStream);
  }
}

/** Decoded for the table's sake alone: a stream that was reset here, or beyond a drain's last. */
const IGNORE: FieldSink = { onField: () => undefined };
