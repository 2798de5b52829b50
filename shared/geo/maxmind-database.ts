/**
 * Reads databases in MaxMind's format (version 2.0 of its specification): a tree over the bits of
 * addresses, whose leaves point to values. Nothing is decoded but what is asked for, and nothing
 * that a file holds makes a look-up long, deep or wrong but for its own answer.
 */
import { ipv6Groups } from '../addresses/ip-groups.ts';
import { isIPv4, isIPv6 } from '../addresses/ip-text.ts';

/** The size of the largest databases there are, with room to grow. */
export const GEO_DATABASE_BYTES_MAX = 512 * 1024 * 1024;

const MARKER = Buffer.from('\u00ab\u00cd\u00efMaxMind.com', 'latin1');
/** The metadata stands within so many bytes of the end. */
const METADATA_BYTES_MAX = 128 * 1024;
const SEPARATOR_BYTES = 16;
/** IPv4 stands below these groups of IPv6. */
const IPV4_PREFIX = [0, 0, 0, 0, 0, 0];
/** Values that one look-up passes over, pointers that it follows, and how deep they nest. */
const STEPS_MAX = 10_000;
const POINTERS_MAX = 16;
const DEPTH_MAX = 64;

const POINTER = 1;
const TEXT = 2;
const MAP = 7;
const LIST = 11;
const FLAG = 14;
/** Numbers without a sign: 16, 32 and 64 bits. */
const UNSIGNED = new Set([5, 6, 9]);
const SIZE_BASES = [29, 285, 65_821] as const;
const POINTER_BASES = [0, 2048, 526_336, 0] as const;

/** Text has a byte of its UTF-8 in each character. */
export type GeoValue = string | number | boolean;
export type GeoPath = readonly (string | number)[];

interface Item {
  readonly type: number;
  readonly size: number;
  /** Where its content begins. */
  readonly start: number;
}

export class MaxmindDatabase {
  /** Seconds since 1970. */
  readonly builtAt: number;
  readonly #bytes: Buffer;
  readonly #nodeCount: number;
  readonly #recordBits: number;
  readonly #isIPv6: boolean;
  /** Where values begin. */
  readonly #data: number;
  /** The node below which IPv4 stands, or a leaf above it. */
  readonly #ipv4Root: number;

  /** Throws when these bytes are no such database. */
  constructor(bytes: Buffer) {
    const found = bytes.subarray(-METADATA_BYTES_MAX).lastIndexOf(MARKER);
    if (found < 0) throw invalid();
    this.#bytes = bytes;
    const start = Math.max(0, bytes.length - METADATA_BYTES_MAX) + found + MARKER.length;
    const metadata = new Values(bytes, start);
    const read = (name: string): number => {
      const value = metadata.at(0, [name]);
      if (typeof value !== 'number') throw invalid();
      return value;
    };
    this.builtAt = read('build_epoch');
    this.#nodeCount = read('node_count');
    this.#recordBits = read('record_size');
    this.#isIPv6 = read('ip_version') === 6;
    this.#data = (this.#nodeCount * this.#recordBits) / 4 + SEPARATOR_BYTES;
    const isKnown = [24, 28, 32].includes(this.#recordBits) && this.#nodeCount > 0;
    if (!isKnown || this.#data > bytes.length) throw invalid();
    this.#ipv4Root = this.#isIPv6 ? this.#walk(0, IPV4_PREFIX, 16) : 0;
  }

  /** The value at the end of each path; undefined: the address is not in the database. */
  find(address: string, paths: readonly GeoPath[]): readonly (GeoValue | undefined)[] | undefined {
    const leaf = this.#leafOf(address);
    if (leaf === undefined || leaf <= this.#nodeCount) return undefined;
    const values = new Values(this.#bytes, this.#data);
    const offset = leaf - this.#nodeCount - SEPARATOR_BYTES;
    return paths.map((path) => values.at(offset, path));
  }

  #leafOf(address: string): number | undefined {
    if (isIPv4(address)) {
      const parts = address.split('.').map(Number);
      return this.#walk(this.#ipv4Root, parts, 8);
    }
    if (!this.#isIPv6 || !isIPv6(address)) return undefined;
    return this.#walk(0, ipv6Groups(address), 16);
  }

  #walk(from: number, groups: readonly number[], bits: number): number {
    let node = from;
    for (const group of groups) {
      for (let bit = bits - 1; bit >= 0; bit--) {
        if (node >= this.#nodeCount) return node;
        node = this.#record(node, (group >> bit) & 1);
      }
    }
    return node;
  }

  #record(node: number, side: number): number {
    const bytes = this.#bytes;
    const start = (node * this.#recordBits) / 4;
    if (this.#recordBits === 32) return bytes.readUInt32BE(start + side * 4);
    if (this.#recordBits === 24) return bytes.readUIntBE(start + side * 3, 3);
    const middle = bytes.readUInt8(start + 3);
    const high = side === 0 ? middle >> 4 : middle & 15;
    return high * 0x100_0000 + bytes.readUIntBE(start + side * 4, 3);
  }
}

/** Values of one section of a database. */
class Values {
  readonly #bytes: Buffer;
  readonly #base: number;
  #steps = 0;

  constructor(bytes: Buffer, base: number) {
    this.#bytes = bytes;
    this.#base = base;
  }

  /** Undefined also where the file contradicts itself. */
  at(offset: number, path: GeoPath): GeoValue | undefined {
    this.#steps = 0;
    try {
      let item: Item | undefined = this.#item(this.#base + offset);
      for (const step of path) {
        item = typeof step === 'string' ? this.#member(item, step) : this.#element(item, step);
        if (item === undefined) return undefined;
      }
      return this.#value(item);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #value({ type, size, start }: Item): GeoValue | undefined {
    if (type === TEXT) return this.#text(start, size);
    if (type === FLAG) return size !== 0;
    if (!UNSIGNED.has(type)) return undefined;
    let value = 0;
    for (let index = 0; index < size; index++) {
      value = value * 256 + this.#bytes.readUInt8(start + index);
    }
    return value;
  }

  #text(start: number, size: number): string {
    if (start + size > this.#bytes.length) throw new RangeError('behind the end');
    return this.#bytes.toString('latin1', start, start + size);
  }

  #member({ type, size, start }: Item, name: string): Item | undefined {
    if (type !== MAP) return undefined;
    let place = start;
    for (let index = 0; index < size; index++) {
      const key = this.#item(place);
      const isWanted = key.type === TEXT && this.#text(key.start, key.size) === name;
      place = this.#skip(place, 0);
      if (isWanted) return this.#item(place);
      place = this.#skip(place, 0);
    }
    return undefined;
  }

  #element({ type, size, start }: Item, wanted: number): Item | undefined {
    if (type !== LIST || wanted >= size) return undefined;
    let place = start;
    for (let index = 0; index < wanted; index++) place = this.#skip(place, 0);
    return this.#item(place);
  }

  /** Where the value behind the one at `place` begins. */
  #skip(place: number, depth: number): number {
    this.#steps += 1;
    if (this.#steps > STEPS_MAX || depth > DEPTH_MAX) throw new RangeError('too much of it');
    const { type, size, start } = this.#head(place);
    if (type === POINTER) return start;
    if (type === FLAG) return start;
    if (type !== MAP && type !== LIST) return start + size;
    let next = start;
    const count = type === MAP ? size * 2 : size;
    for (let index = 0; index < count; index++) next = this.#skip(next, depth + 1);
    return next;
  }

  /** The value at a place, or the one that is pointed to from there. */
  #item(place: number): Item {
    let item = this.#head(place);
    for (let followed = 0; item.type === POINTER; followed++) {
      if (followed === POINTERS_MAX) throw new RangeError('pointers without end');
      item = this.#head(this.#base + item.size);
    }
    return item;
  }

  /** A pointer's `size` is where it points to and its `start` what stands behind it. */
  #head(place: number): Item {
    const bytes = this.#bytes;
    const first = bytes.readUInt8(place);
    let next = place + 1;
    let type = first >> 5;
    if (type === POINTER) {
      const length = ((first >> 3) & 3) + 1;
      const high = length === 4 ? 0 : first & 7;
      const to = high * 256 ** length + bytes.readUIntBE(next, length);
      return { type, size: to + (POINTER_BASES[length - 1] ?? 0), start: next + length };
    }
    if (type === 0) {
      type = bytes.readUInt8(next) + 7;
      next += 1;
    }
    const short = first & 31;
    if (short < 29) return { type, size: short, start: next };
    const length = short - 28;
    const size = bytes.readUIntBE(next, length) + (SIZE_BASES[length - 1] ?? 0);
    return { type, size, start: next + length };
  }
}

function invalid(): Error {
  return new Error('The MaxMind DB file contains invalid metadata');
}
