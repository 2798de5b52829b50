/**
 * Cuts what a connection reads into frames (RFC 9113 section 4.1). The payload of DATA passes piece
 * by piece as views of the input, without its padding; every other frame is handed over whole, from
 * the input where it lies there whole, else from a copy. Knows lengths, not states: what a frame
 * means is its receiver's.
 */
import {
  DEFAULT_MAX_FRAME_BYTES,
  ErrorCode,
  FRAME_HEADER_BYTES,
  Flag,
  FrameType,
  readNumber31,
} from './frames.ts';

export interface FrameReceiver {
  /**
   * A DATA frame begins, with so many bytes of data, its padding not counted. False stops the
   * reader. The header is valid during the call, here and in `onFrame`.
   */
  onDataBegin(header: FrameHeader, dataBytes: number): boolean;
  /** A piece of its data; `isLast`: the frame is over. Empty only for an empty frame. */
  onDataPiece(input: Buffer, start: number, end: number, isLast: boolean): boolean;
  /** Any other frame; `input` from `start` to `end` is its payload, valid during the call. */
  onFrame(header: FrameHeader, input: Buffer, start: number, end: number): boolean;
  /** A frame that is longer than this side allows, or whose padding is. */
  fail(code: ErrorCode, details: string): void;
}

export interface FrameHeader {
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** In the words of Envoy's codec library. */
function refuseLength(receiver: FrameReceiver, { length }: FrameHeader): void {
  if (length > DEFAULT_MAX_FRAME_BYTES) {
    receiver.fail(ErrorCode.frameSizeError, 'too large frame size');
    return;
  }
  const details = length === 0 ? 'DATA: insufficient padding space' : 'DATA: invalid padding';
  receiver.fail(ErrorCode.protocolError, details);
}

type State = 'header' | 'payload' | 'pad_length' | 'data' | 'padding' | 'stopped';

export class FrameReader {
  readonly #receiver: FrameReceiver;
  readonly #maxFrameBytes: number;
  #state: State = 'header';
  /** Bytes of a header or of a payload that came in pieces; made when it is needed. */
  #kept: Buffer = EMPTY;
  #keptLength = 0;
  /** Of the present frame; one object for all. */
  readonly #header = { length: 0, type: 0, flags: 0, stream: 0 };
  /** What is left of the present portion. */
  #workLeft = 0;
  /** What is left of the data of a DATA frame and of its padding. */
  #dataLeft = 0;
  #paddingLeft = 0;

  constructor(receiver: FrameReceiver, maxFrameBytes: number) {
    this.#receiver = receiver;
    this.#maxFrameBytes = maxFrameBytes;
  }

  /** Nothing more is read. */
  stop(): void {
    this.#state = 'stopped';
    this.#kept = EMPTY;
  }

  /**
   * Reads as many frames as one connection may have of a turn of the loop. Gives where it stopped;
   * undefined when nothing is left to do.
   */
  readPortion(input: Buffer, start: number, end: number): number | undefined {
    let at = start;
    this.#workLeft = PORTION;
    while (this.#state !== 'stopped') {
      if (this.#workLeft <= 0) return at;
      const next = this.#step(input, at, end);
      if (next === undefined) return undefined;
      at = next;
    }
    return undefined;
  }

  /** Reads one part of a frame; undefined when the input does not reach. */
  #step(input: Buffer, at: number, end: number): number | undefined {
    switch (this.#state) {
      case 'header':
        return this.#readHeader(input, at, end);
      case 'payload':
        return this.#readPayload(input, at, end);
      case 'pad_length':
        return this.#readPadLength(input, at, end);
      case 'data':
        return this.#readData(input, at, end);
      case 'padding':
        return this.#readPadding(at, end);
      case 'stopped':
        return undefined;
    }
  }

  #readHeader(input: Buffer, at: number, end: number): number | undefined {
    if (at === end) return undefined;
    if (this.#keptLength === 0 && end - at >= FRAME_HEADER_BYTES) {
      this.#begin(input, at);
      return at + FRAME_HEADER_BYTES;
    }
    const next = this.#keep(input, at, end, FRAME_HEADER_BYTES);
    if (this.#keptLength < FRAME_HEADER_BYTES) return undefined;
    this.#keptLength = 0;
    this.#begin(this.#kept, 0);
    return next;
  }

  #begin(input: Buffer, at: number): void {
    const header = this.#header;
    const length = input.readUIntBE(at, 3);
    const type = input[at + 3] ?? 0;
    const flags = input[at + 4] ?? 0;
    header.length = length;
    header.type = type;
    header.flags = flags;
    header.stream = readNumber31(input, at + 5);
    this.#workLeft -= workOf(header);
    if (length > this.#maxFrameBytes) {
      this.stop();
      refuseLength(this.#receiver, header);
    } else if (type !== FrameType.data) {
      this.#state = 'payload';
    } else if ((flags & Flag.padded) !== 0) {
      this.#state = 'pad_length';
    } else this.#beginData(length, 0);
  }

  #readPadLength(input: Buffer, at: number, end: number): number | undefined {
    const { length } = this.#header;
    if (length === 0) {
      this.#refuseLength();
      return undefined;
    }
    if (at >= end) return undefined;
    const padding = input[at] ?? 0;
    if (padding >= length) {
      this.#refuseLength();
      return undefined;
    }
    this.#beginData(length - 1 - padding, padding);
    return at + 1;
  }

  #refuseLength(): void {
    this.stop();
    refuseLength(this.#receiver, this.#header);
  }

  #beginData(dataBytes: number, padding: number): void {
    this.#dataLeft = dataBytes;
    this.#paddingLeft = padding;
    this.#state = 'data';
    if (!this.#receiver.onDataBegin(this.#header, dataBytes)) this.stop();
  }

  #readData(input: Buffer, at: number, end: number): number | undefined {
    const take = Math.min(this.#dataLeft, end - at);
    if (take === 0 && this.#dataLeft > 0) return undefined;
    this.#dataLeft -= take;
    const isLast = this.#dataLeft === 0;
    if (isLast) this.#state = this.#paddingLeft > 0 ? 'padding' : 'header';
    const goesOn = this.#receiver.onDataPiece(input, at, at + take, isLast);
    if (!goesOn) this.stop();
    return at + take;
  }

  #readPadding(at: number, end: number): number | undefined {
    const take = Math.min(this.#paddingLeft, end - at);
    if (take === 0) return undefined;
    this.#paddingLeft -= take;
    if (this.#paddingLeft === 0) this.#state = 'header';
    return at + take;
  }

  #readPayload(input: Buffer, at: number, end: number): number | undefined {
    const { length } = this.#header;
    if (this.#keptLength === 0 && end - at >= length) {
      this.#deliver(input, at, at + length);
      return at + length;
    }
    const next = this.#keep(input, at, end, length);
    if (this.#keptLength < length) return undefined;
    const whole = this.#kept;
    this.#keptLength = 0;
    this.#deliver(whole, 0, length);
    // A large copy is not held between frames.
    if (whole.length > SMALL_COPY) this.#kept = EMPTY;
    return next;
  }

  #deliver(input: Buffer, start: number, end: number): void {
    this.#state = 'header';
    if (!this.#receiver.onFrame(this.#header, input, start, end)) this.stop();
  }

  /** Copies what is there until `wanted` bytes are kept; returns where the rest begins. */
  #keep(input: Buffer, at: number, end: number, wanted: number): number {
    if (this.#kept.length < wanted) {
      const larger = Buffer.allocUnsafe(Math.max(wanted, SMALL_COPY));
      this.#kept.copy(larger, 0, 0, this.#keptLength);
      this.#kept = larger;
    }
    const take = Math.min(wanted - this.#keptLength, end - at);
    input.copy(this.#kept, this.#keptLength, at, at + take);
    this.#keptLength += take;
    return at + take;
  }
}

/** What a client says before its frames (RFC 9113 section 3.4), in whatever pieces it comes. */
export class Preface {
  #left: string;

  /** `text`: all that is expected; empty of a server. */
  constructor(text: string) {
    this.#left = text;
  }

  get isWhole(): boolean {
    return this.#left === '';
  }

  /** Returns where the rest of the input begins; undefined: it is something else. */
  read(input: Buffer, start: number, end: number): number | undefined {
    if (this.#left === '') return start;
    const length = Math.min(this.#left.length, end - start);
    const piece = input.toString('latin1', start, start + length);
    if (!this.#left.startsWith(piece)) return undefined;
    this.#left = this.#left.slice(length);
    return start + length;
  }
}

/** A peer has several messages of header blocks or hundreds of other frames of one turn. */
const PORTION = 512;
const WORK_PER_BLOCK = 16;
const WORK_PER_SETTINGS = 4;
/** A block's fields cost by their number; the least that one has on the wire is a byte. */
const BLOCK_BYTES_PER_WORK = 64;

/** What a frame costs, in units of the cheapest. */
function workOf({ type, length }: FrameHeader): number {
  switch (type) {
    case FrameType.headers:
    case FrameType.continuation:
      return WORK_PER_BLOCK + Math.floor(length / BLOCK_BYTES_PER_WORK);
    case FrameType.settings:
      return WORK_PER_SETTINGS;
    default:
      return 1;
  }
}

const SMALL_COPY = 64;
const EMPTY = Buffer.alloc(0);
