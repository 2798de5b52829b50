/**
 * What a direction keeps of its message: pieces that were not sent yet, and those whose answer is
 * awaited. The sender is told to wait as soon as that is more than a stream may keep; what was read
 * before it could be told is kept too.
 */
import { CollectedBytes } from '../../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../../loop/held-bytes.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';

/** The chain on one side of an exchange. */
export interface MessageTarget {
  resume(): void;
  addBody(data: Buffer): void;
  inject(data: Buffer, endStream: boolean): void;
  injectTrailers(trailers: HeaderMap): void;
  pause(paused: boolean): void;
  /** The receiver of the message cannot take more of it now. */
  isBlocked(): boolean;
}

/** What a processor may make of a body while nobody can take it. */
const BLOCKED_BYTES_MAX = 16 * 1024 * 1024;

export interface SentPiece {
  readonly data: Buffer;
  readonly isLast: boolean;
}

export class MessageBuffer {
  readonly #target: MessageTarget;
  readonly #held: HeldBytes;
  readonly #limit: number;
  readonly #kept = new CollectedBytes();
  #sent: SentPiece[] = [];
  #sentBytes = 0;
  #isCongested = false;
  #isPaused = false;
  #mayGrow = false;
  #hasEnded = false;
  #blockedBytes = 0;

  constructor(target: MessageTarget, held: HeldBytes, limit: number) {
    this.#target = target;
    this.#held = held;
    this.#limit = limit;
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0 && this.#sent.length === 0;
  }

  get hasKept(): boolean {
    return this.#kept.length > 0;
  }

  get hasSent(): boolean {
    return this.#sent.length > 0;
  }

  get isFull(): boolean {
    return this.#kept.length >= this.#limit;
  }

  get exceeds(): boolean {
    return this.#kept.length > this.#limit;
  }

  /** The whole body is wanted: one that is too large is refused, not paused. */
  grow(): void {
    this.#mayGrow = true;
    this.#balance();
  }

  keep(data: Buffer): void {
    if (data.length === 0) return;
    this.#kept.addCopy(data);
    this.#held.add(data.length);
    this.#balance();
  }

  /** All that is kept, which waits for its answer from now on. */
  send(isLast: boolean): SentPiece {
    const data = this.#kept.joined();
    const piece = { data, isLast };
    this.#kept.clear();
    this.#sent.push(piece);
    this.#sentBytes += data.length;
    return piece;
  }

  /** The piece that was sent first; undefined where none waits. */
  answered(): SentPiece | undefined {
    const piece = this.#sent.shift();
    if (piece === undefined) return undefined;
    this.#sentBytes -= piece.data.length;
    this.#held.add(-piece.data.length);
    this.#balance();
    return piece;
  }

  setCongested(isCongested: boolean): void {
    this.#isCongested = isCongested;
    this.#balance();
  }

  /** A processor gives more back than can be kept for its receiver. */
  get isFlooded(): boolean {
    return this.#blockedBytes > BLOCKED_BYTES_MAX;
  }

  pass(data: Buffer, endStream: boolean): void {
    if (this.#hasEnded || (data.length === 0 && !endStream)) return;
    this.#hasEnded = endStream;
    this.#blockedBytes = this.#target.isBlocked() ? this.#blockedBytes + data.length : 0;
    this.#target.inject(data, endStream);
  }

  passTrailers(trailers: HeaderMap): void {
    this.#target.injectTrailers(trailers);
  }

  /** Whatever is kept, in its order. */
  passAll(hasEnd: boolean): void {
    const pieces = [...this.#sent.map(({ data }) => data), ...this.#kept.blocks()];
    this.drop();
    if (pieces.length > 0 || hasEnd) this.pass(Buffer.concat(pieces), hasEnd);
  }

  addBody(data: Buffer): void {
    this.#target.addBody(data);
  }

  resume(): void {
    this.#target.resume();
  }

  drop(): void {
    this.#held.add(-this.#kept.length - this.#sentBytes);
    this.#kept.clear();
    this.#sent = [];
    this.#sentBytes = 0;
    this.#isCongested = false;
    this.#balance();
  }

  #balance(): void {
    const isFull = !this.#mayGrow && this.#kept.length + this.#sentBytes >= this.#limit;
    const pauses = this.#isCongested || isFull;
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    this.#target.pause(pauses);
  }
}
