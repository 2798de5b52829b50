/**
 * The table beside a packed file that says which line of source each place in the packed text came from. An
 * entry is the offset where a line begins and its place, a file's index above the line. Entries are differences to
 * the entry before, in blocks; ahead of the blocks lies the first entry of each with where the rest begins, so
 * that a search reads a few numbers and one block, and no process keeps the table.
 */
import { readSync } from 'node:fs';

/** The bits of a line in a place; the file's index stands above them. */
export const LINE_BITS = 18;
const ENTRIES_A_BLOCK = 64;
const HEAD_BYTES = 4;
/** What the index says of a block: the first entry's offset and place, and where the others are. */
const INDEX_BYTES = 12;
/** Five groups of seven bits hold a number of 32. */
const NUMBER_BYTES_MAX = 5;
const BLOCK_BYTES_MAX = ENTRIES_A_BLOCK * 2 * NUMBER_BYTES_MAX;

/** One line of source: where it begins in the packed text, and which it is. */
export interface LineEntry {
  readonly offset: number;
  readonly place: number;
}

/** The bytes of a table whose entries stand in the order of their offsets. */
export function encodeLineTable(entries: readonly LineEntry[]): Buffer {
  const blocks = Math.ceil(entries.length / ENTRIES_A_BLOCK);
  const index = Buffer.alloc(HEAD_BYTES + blocks * INDEX_BYTES);
  index.writeUInt32LE(blocks);
  const numbers: number[] = [];
  entries.forEach((entry, count) => {
    if (count % ENTRIES_A_BLOCK === 0) {
      const at = HEAD_BYTES + (count / ENTRIES_A_BLOCK) * INDEX_BYTES;
      index.writeUInt32LE(entry.offset, at);
      index.writeUInt32LE(entry.place, at + 4);
      index.writeUInt32LE(index.length + numbers.length, at + 8);
      return;
    }
    const { offset, place } = entries[count - 1] ?? entry;
    const step = entry.place - place;
    pushNumber(numbers, entry.offset - offset);
    pushNumber(numbers, step < 0 ? -step * 2 - 1 : step * 2);
  });
  return Buffer.concat([index, Buffer.from(numbers)]);
}

/** Groups of seven bits, the lowest first; all but the last have the eighth bit. */
function pushNumber(numbers: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    numbers.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  numbers.push(rest);
}

/** Searches the table in an open file for the last entry that begins at or before a place in the text. */
export class LineTable {
  readonly #fd: number;
  readonly #blocks: number;
  readonly #index = Buffer.alloc(INDEX_BYTES);

  constructor(fd: number) {
    this.#fd = fd;
    const head = Buffer.alloc(HEAD_BYTES);
    this.#blocks = readSync(fd, head, 0, HEAD_BYTES, 0) === HEAD_BYTES ? head.readUInt32LE() : 0;
  }

  /** The place of that entry; undefined where the first begins later. */
  placeAt(position: number): number | undefined {
    let [low, high] = [0, this.#blocks - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#readIndex(middle).offset <= position) low = middle;
      else high = middle - 1;
    }
    if (high < 0) return undefined;
    const first = this.#readIndex(low);
    return first.offset > position ? undefined : this.#placeInBlock(low, first, position);
  }

  #readIndex(block: number): LineEntry {
    readSync(this.#fd, this.#index, 0, INDEX_BYTES, HEAD_BYTES + block * INDEX_BYTES);
    return { offset: this.#index.readUInt32LE(), place: this.#index.readUInt32LE(4) };
  }

  /** The index that was read last is the block's. */
  #placeInBlock(block: number, first: LineEntry, position: number): number {
    const from = this.#index.readUInt32LE(8);
    const end = block + 1 < this.#blocks ? this.#endOf(block) : from + BLOCK_BYTES_MAX;
    const bytes = Buffer.alloc(Math.min(end - from, BLOCK_BYTES_MAX));
    const length = readSync(this.#fd, bytes, 0, bytes.length, from);
    let { offset, place } = first;
    let at = 0;
    const next = (): number => {
      let [value, scale] = [0, 1];
      for (;;) {
        const byte = bytes[at] ?? 0;
        at += 1;
        value += (byte % 128) * scale;
        if (byte < 128) return value;
        scale *= 128;
      }
    };
    while (at < length) {
      offset += next();
      if (offset > position) break;
      const step = next();
      place += step % 2 === 0 ? step / 2 : -(step + 1) / 2;
    }
    return place;
  }

  #endOf(block: number): number {
    this.#readIndex(block + 1);
    return this.#index.readUInt32LE(8);
  }
}
