/**
 * The open streams of one connection, by number and in the order in which they were opened: a
 * table of its own, since they come and go with every request (`loop/members.ts` says why no Map).
 */
import { randomInt } from 'node:crypto';
import { Members } from '../loop/members.ts';
import type { Http2Stream } from './http2-stream.ts';

type Slots = (Http2Stream | undefined)[];

const SLOTS_MIN = 8;
/** A table with fewer streams than one in so many slots becomes smaller, */
const SPARSE = 32;
/** unless it is so small: a connection's streams often come and go together. */
const SLOTS_KEPT = 64;
/** Peers choose the numbers, but not where they lie. */
const SEED = randomInt(2 ** 32);
const NO_SLOTS: Slots = [];

export class OpenStreams {
  readonly #streams = new Members<Http2Stream>();
  /** A power of two, at most half of them used; absent until there is a stream. */
  #slots = NO_SLOTS;

  get size(): number {
    return this.#streams.size;
  }

  /** The stream that was opened first; the others follow by `next`. */
  get first(): Http2Stream | undefined {
    return this.#streams.first;
  }

  get(id: number): Http2Stream | undefined {
    return this.size === 0 ? undefined : this.#slots[this.#find(id)];
  }

  has(id: number): boolean {
    return this.get(id) !== undefined;
  }

  /** The stream's number is not among them. */
  add(stream: Http2Stream): void {
    const { length } = this.#slots;
    if ((this.size + 1) * 2 > length) this.#resize(Math.max(SLOTS_MIN, length * 2));
    this.#slots[this.#find(stream.id)] = stream;
    this.#streams.add(stream);
  }

  delete(id: number): void {
    if (this.size === 0) return;
    const at = this.#find(id);
    const stream = this.#slots[at];
    if (stream === undefined) return;
    this.#streams.remove(stream);
    this.#empty(at);
    const { length } = this.#slots;
    if (length > SLOTS_KEPT && this.size * SPARSE < length) this.#resize(length / 2);
  }

  /** As they are now, in their order. */
  all(): Http2Stream[] {
    return this.#streams.all();
  }

  /** Where the stream is, or would be. */
  #find(id: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = placeOf(id) & mask;
    for (;;) {
      const stream = slots[at];
      if (stream === undefined || stream.id === id) return at;
      at = (at + 1) & mask;
    }
  }

  /** Those behind move up where they may, so that no mark has to stay where one was. */
  #empty(from: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let hole = from;
    for (let at = (from + 1) & mask; ; at = (at + 1) & mask) {
      const stream = slots[at];
      if (stream === undefined) break;
      const wayToHole = (at - hole) & mask;
      const wayToPlace = (at - placeOf(stream.id)) & mask;
      if (wayToPlace < wayToHole) continue;
      slots[hole] = stream;
      hole = at;
    }
    slots[hole] = undefined;
  }

  #resize(length: number): void {
    this.#slots = Array.from({ length }, (): Http2Stream | undefined => undefined);
    for (let each = this.first; each !== undefined; each = each.next) {
      this.#slots[this.#find(each.id)] = each;
    }
  }
}

/** A number whose lowest bits depend on all bits of `id`. */
function placeOf(id: number): number {
  let hash = id ^ SEED;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
