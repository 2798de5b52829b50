/**
 * Reads values of the Redis protocol from a stream of bytes, in whatever pieces they come. A value
 * may nest; attributes are read and dropped. In front of a value a line without a kind is an inline
 * command, which reads as an array of bulk strings.
 *
 * Everything is bounded: how long a text may be, how many items an array may have, how deep they
 * nest, and how many there are in one value. Room is made as items arrive, never for what a length
 * promises.
 */
import type { HeldBytes } from '../../loop/held-bytes.ts';
import { InlineWords, startsInline } from './inline-words.ts';
import { RespError } from './resp-error.ts';
import {
  BULK_BYTES_MAX,
  endOfLine,
  integerText,
  isWellFormed,
  lengthOf,
  longestLine,
  TEXT_BYTES_MAX,
} from './resp-lines.ts';
import { NOTHING, RespKind, RespValue } from './resp-value.ts';

/** The limit of one array. */
const ITEMS_MAX = 2_000_000;
/** The limit of all arrays within one value. */
const TOTAL_ITEMS_MAX = 4 * 1024 * 1024;
const DEPTH_MAX = 128;
/** Attributes in a row, which carry nothing. */
const ATTRIBUTES_MAX = 32;
const CR = 13;
const LF = 10;
export interface RespOwner {
  onValue(value: RespValue): void;
  /** What is decoded is not wanted any more. */
  readonly isClosed: boolean;
}

/** An array, map, set, push or attribute whose items are being read. */
interface Open {
  readonly kind: RespKind | '|';
  readonly items: RespValue[];
  /** Items that are still to come. */
  left: number;
}

type State = 'start' | 'line' | 'line_end' | 'body' | 'body_end' | 'body_last' | 'inline';

const KINDS = new Map<number, RespKind | '|'>(
  [...Object.values(RespKind), '|' as const].map((kind) => [kind.charCodeAt(0), kind]),
);

export class RespDecoder {
  readonly #owner: RespOwner;
  readonly #held: HeldBytes;
  readonly #open: Open[] = [];
  readonly #inline = new InlineWords(ITEMS_MAX);
  #state: State = 'start';
  #kind: RespKind | '|' = RespKind.array;
  /** Text of earlier reads: copies. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  /** Bytes of the body that are still to come. */
  #bodyLeft = 0;
  #body = '';
  #totalItems = 0;
  #attributes = 0;
  #openAttributes = 0;

  constructor(owner: RespOwner, held: HeldBytes) {
    this.#owner = owner;
    this.#held = held;
  }

  /** Throws a RespError; values that were whole before it have been told. */
  decode(input: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end && !this.#owner.isClosed) at = this.#step(input, at, end);
  }

  /** What it keeps of an unfinished value is not wanted any more. */
  release(): void {
    this.#dropPieces();
  }

  #step(input: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case 'start':
        return this.#readKind(input, at);
      case 'line':
        return this.#readLine(input, at, end);
      case 'line_end':
        return this.#endLine(input, at);
      case 'body':
        return this.#readBody(input, at, end);
      case 'body_end':
        expectByte(input, at, CR);
        this.#state = 'body_last';
        return at + 1;
      case 'body_last':
        expectByte(input, at, LF);
        this.#endBody();
        return at + 1;
      case 'inline':
        return this.#readInline(input, at, end);
    }
  }

  #readKind(input: Buffer, at: number): number {
    const byte = input[at] as number;
    if (this.#open.length === 0) {
      this.#totalItems = 0;
      if (startsInline(byte)) {
        this.#state = 'inline';
        return at;
      }
    }
    const kind = KINDS.get(byte);
    if (kind === undefined) throw new RespError('a value of no kind');
    if (kind === '|' && ++this.#attributes > ATTRIBUTES_MAX) {
      throw new RespError('too many attributes');
    }
    this.#kind = kind;
    this.#state = 'line';
    return at + 1;
  }

  #readInline(input: Buffer, at: number, end: number): number {
    const next = this.#inline.read(input, at, end);
    const words = this.#inline.take();
    if (words === undefined) return next;
    this.#state = 'start';
    this.#complete(new RespValue(RespKind.array, '', words));
    return next;
  }

  #readLine(input: Buffer, at: number, end: number): number {
    const stop = endOfLine(this.#kind, input, at, end);
    if (this.#pieceBytes + stop - at > longestLine(this.#kind)) {
      throw new RespError('a line that is too long');
    }
    if (stop < end && stop + 1 < end && this.#pieceBytes === 0) {
      expectByte(input, stop + 1, LF);
      this.#completeLine(input.toString('latin1', at, stop));
      return stop + 2;
    }
    this.#keep(input, at, stop);
    if (stop === end) return end;
    this.#state = 'line_end';
    return stop + 1;
  }

  #endLine(input: Buffer, at: number): number {
    expectByte(input, at, LF);
    this.#completeLine(this.#takePieces());
    return at + 1;
  }

  #completeLine(line: string): void {
    switch (this.#kind) {
      case RespKind.simple:
      case RespKind.error:
        this.#complete(new RespValue(this.#kind, line));
        return;
      case RespKind.integer:
        this.#complete(new RespValue(RespKind.integer, integerText(line)));
        return;
      case RespKind.nothing:
        if (line !== '') throw new RespError('text in a null');
        this.#complete(NOTHING);
        return;
      case RespKind.boolean:
      case RespKind.double:
      case RespKind.bigNumber:
        if (!isWellFormed(this.#kind, line)) throw new RespError('a malformed value');
        this.#complete(new RespValue(this.#kind, line));
        return;
      case RespKind.bulk:
      case RespKind.blobError:
      case RespKind.verbatim:
        this.#beginBody(lengthOf(line));
        return;
      default:
        this.#beginItems(this.#kind, lengthOf(line));
    }
  }

  #beginBody(length: number): void {
    if (length < 0) {
      if (length < -1 || this.#kind !== RespKind.bulk) throw new RespError('a negative length');
      this.#complete(NOTHING);
      return;
    }
    if (length > BULK_BYTES_MAX) throw new RespError('a text that is too long');
    this.#bodyLeft = length;
    this.#body = '';
    this.#state = length === 0 ? 'body_end' : 'body';
  }

  #readBody(input: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#bodyLeft);
    this.#bodyLeft -= stop - at;
    if (this.#bodyLeft > 0) {
      this.#keep(input, at, stop);
      return stop;
    }
    if (this.#pieceBytes === 0) this.#body = input.toString('latin1', at, stop);
    else {
      this.#keep(input, at, stop);
      this.#body = this.#takePieces();
    }
    this.#state = 'body_end';
    return stop;
  }

  #endBody(): void {
    const body = this.#body;
    this.#body = '';
    if (this.#kind === RespKind.verbatim && body[3] !== ':') {
      throw new RespError('a text without its format');
    }
    this.#complete(new RespValue(this.#kind as RespKind, body));
  }

  #beginItems(kind: RespKind | '|', length: number): void {
    if (length < 0) {
      if (length < -1 || kind !== RespKind.array) throw new RespError('a negative count');
      this.#complete(NOTHING);
      return;
    }
    const count = kind === RespKind.map || kind === '|' ? length * 2 : length;
    if (count > ITEMS_MAX || count > TOTAL_ITEMS_MAX - this.#totalItems) {
      throw new RespError('too many items');
    }
    this.#totalItems += count;
    // The value that an item is in counts as a level.
    if (count > 0 && this.#open.length + 1 >= DEPTH_MAX) throw new RespError('too many levels');
    if (kind === '|') this.#openAttributes++;
    this.#open.push({ kind, items: [], left: count });
    this.#state = 'start';
    if (count === 0) this.#closeFinished();
  }

  #complete(value: RespValue): void {
    this.#state = 'start';
    if (this.#openAttributes === 0) this.#attributes = 0;
    const inner = this.#open.at(-1);
    if (inner === undefined) {
      this.#owner.onValue(value);
      return;
    }
    inner.items.push(value);
    if (--inner.left === 0) this.#closeFinished();
  }

  /** Ends the innermost array, which has all its items. */
  #closeFinished(): void {
    const finished = this.#open.pop();
    if (finished === undefined) return;
    const { kind, items } = finished;
    if (kind === '|') {
      // What it is about follows in its place.
      this.#openAttributes--;
      if (this.#open.length === 0) this.#totalItems = 0;
      return;
    }
    this.#complete(new RespValue(kind, '', items));
  }

  #keep(input: Buffer, start: number, end: number): void {
    if (end === start) return;
    this.#pieces.push(Buffer.from(input.subarray(start, end)));
    this.#pieceBytes += end - start;
    this.#held.add(end - start);
  }

  #takePieces(): string {
    if (this.#pieceBytes > TEXT_BYTES_MAX) throw new RespError('a text that is too long');
    const [only] = this.#pieces;
    const whole = this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces, this.#pieceBytes);
    const text = whole?.toString('latin1') ?? '';
    this.#dropPieces();
    return text;
  }

  #dropPieces(): void {
    this.#held.add(-this.#pieceBytes);
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#inline.drop();
  }
}

function expectByte(input: Buffer, at: number, byte: number): void {
  if (input[at] !== byte) throw new RespError('a value without its end');
}
