/**
 * Reads a google.protobuf.Value that came over the wire. As Envoy's reader: what is unknown is
 * skipped, texts are UTF-8, the last of several values counts, and messages nest up to a limit.
 */
import { isUtf8 } from 'node:buffer';
import {
  dictionary,
  DictionaryObject,
  type MutableDictionary,
} from '../../../shared/text/dictionary.ts';

/** Messages inside of the outermost one. */
const NESTING_MAX = 100;
const VARINT_BYTES_MAX = 10;
const TAG_MAX = 2 ** 32;

/** Thrown within this file alone. */
class WrongMessage extends Error {}

/** Undefined when the bytes are no such message. */
export function readValueMessage(bytes: Buffer): { readonly value: unknown } | undefined {
  try {
    return new ValueReader(bytes).whole();
  } catch (error) {
    if (error instanceof WrongMessage) return undefined;
    throw error;
  }
}

/** One value while its fields are read; null until one says otherwise. */
interface Slot {
  value: unknown;
}

/** Wire types, the lowest three bits of a tag. */
const Wire = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;

class ValueReader {
  readonly #bytes: Buffer;
  #at = 0;
  #depth = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  whole(): Slot {
    const slot: Slot = { value: null };
    this.#value(slot, this.#bytes.length);
    return slot;
  }

  #value(slot: Slot, end: number): void {
    while (this.#at < end) {
      const tag = this.#tag(end);
      switch (tag) {
        case 0x08:
          this.#varint(end);
          slot.value = null;
          break;
        case 0x11:
          slot.value = this.#bytes.readDoubleLE(this.#take(8, end));
          break;
        case 0x1a:
          slot.value = this.#text(end);
          break;
        case 0x20:
          slot.value = this.#varint(end);
          break;
        case 0x2a:
          this.#nested(end, (inner) => this.#struct(slot, inner));
          break;
        case 0x32:
          this.#nested(end, (inner) => this.#list(slot, inner));
          break;
        default:
          this.#skip(tag, end);
      }
    }
  }

  /** A second struct adds to the first. */
  #struct(slot: Slot, end: number): void {
    const known = slot.value instanceof DictionaryObject ? slot.value : dictionary<unknown>();
    const members = known as MutableDictionary<unknown>;
    slot.value = members;
    while (this.#at < end) {
      const tag = this.#tag(end);
      if (tag === 0x0a) this.#nested(end, (inner) => this.#member(members, inner));
      else this.#skip(tag, end);
    }
  }

  #member(members: MutableDictionary<unknown>, end: number): void {
    const slot: Slot = { value: null };
    let key = '';
    while (this.#at < end) {
      const tag = this.#tag(end);
      if (tag === 0x0a) key = this.#text(end);
      else if (tag === 0x12) this.#nested(end, (inner) => this.#value(slot, inner));
      else this.#skip(tag, end);
    }
    members[key] = slot.value;
  }

  /** A second list goes on with the first. */
  #list(slot: Slot, end: number): void {
    const items: unknown[] = Array.isArray(slot.value) ? slot.value : [];
    slot.value = items;
    while (this.#at < end) {
      const tag = this.#tag(end);
      if (tag !== 0x0a) {
        this.#skip(tag, end);
        continue;
      }
      const item: Slot = { value: null };
      this.#nested(end, (inner) => this.#value(item, inner));
      items.push(item.value);
    }
  }

  #nested(end: number, read: (inner: number) => void): void {
    const length = this.#length(end);
    if (++this.#depth > NESTING_MAX) throw new WrongMessage();
    read(this.#at + length);
    this.#depth -= 1;
  }

  #text(end: number): string {
    const length = this.#length(end);
    const bytes = this.#bytes.subarray(this.#at, (this.#at += length));
    if (!isUtf8(bytes)) throw new WrongMessage();
    return bytes.toString('utf8');
  }

  #length(end: number): number {
    const length = this.#number(end);
    if (length > end - this.#at) throw new WrongMessage();
    return length;
  }

  #tag(end: number): number {
    const tag = this.#number(end);
    if (tag < 8 || tag >= TAG_MAX) throw new WrongMessage();
    return tag;
  }

  #skip(tag: number, end: number): void {
    switch (tag % 8) {
      case Wire.varint:
        this.#varint(end);
        return;
      case Wire.fixed64:
        this.#take(8, end);
        return;
      case Wire.bytes:
        this.#take(this.#length(end), end);
        return;
      case Wire.groupStart:
        this.#skipGroup(tag, end);
        return;
      case Wire.fixed32:
        this.#take(4, end);
        return;
      default:
        throw new WrongMessage();
    }
  }

  #skipGroup(start: number, end: number): void {
    if (++this.#depth > NESTING_MAX) throw new WrongMessage();
    for (;;) {
      const tag = this.#tag(end);
      if (tag === start - Wire.groupStart + Wire.groupEnd) break;
      this.#skip(tag, end);
    }
    this.#depth -= 1;
  }

  /** Where `count` bytes begin, which are behind now. */
  #take(count: number, end: number): number {
    const at = this.#at;
    if (count > end - at) throw new WrongMessage();
    this.#at = at + count;
    return at;
  }

  /** Whether it is more than nothing: its size does not matter. */
  #varint(end: number): boolean {
    let isSet = false;
    for (let count = 1; count <= VARINT_BYTES_MAX; count++) {
      const byte = this.#bytes[this.#take(1, end)] ?? 0;
      if (count === VARINT_BYTES_MAX && byte > 1) break;
      if ((byte & 0x7f) !== 0) isSet = true;
      if (byte < 0x80) return isSet;
    }
    throw new WrongMessage();
  }

  /** A tag or a length, which have 32 bits. */
  #number(end: number): number {
    let value = 0;
    for (let shift = 1; shift <= 2 ** 28; shift *= 128) {
      const byte = this.#bytes[this.#take(1, end)] ?? 0;
      value += (byte & 0x7f) * shift;
      if (byte < 0x80) return value;
    }
    throw new WrongMessage();
  }
}
