/**
 * Decodes header blocks (RFC 7541). One per connection: its dynamic table follows the peer's
 * encoder, so every block has to be decoded to its end, whatever becomes of its stream. Bounds the
 * table; how much of a block is kept is the sink's decision, and a field that the sink drops costs
 * no copy.
 */
import { headerName } from '../../stream/header-names.ts';
import { DynamicTable } from './dynamic-table.ts';
import { decodeHuffman } from './huffman.ts';
import { STATIC_LENGTH, STATIC_NAMES, STATIC_VALUES } from './static-table.ts';

/** Further bytes of an integer: more than this is above 2^31. */
const INTEGER_BYTES_MAX = 5;
const INTEGER_MAX = 2 ** 31 - 1;

/** Hears of each field in its order; texts are latin-1, one character a byte. */
export interface FieldSink {
  onField(name: string, value: string): void;
}

/** A peer's block that cannot be decoded: its connection ends with COMPRESSION_ERROR. */
export class HpackError extends Error {
  readonly code = 'hpack';
}

export class HpackDecoder {
  /** Absent until the peer adds an entry. */
  #table: DynamicTable | undefined = undefined;
  readonly #maxTextBytes: number;
  /** What the peer has chosen, up to the limit. */
  #tableSize: number;
  /** What the peer knows of this side's SETTINGS_HEADER_TABLE_SIZE. */
  #maxTableSize: number;
  /** The limit became smaller: the next block has to begin with an update (RFC 7541 section 4.2). */
  #needsUpdate = false;
  #input: Buffer = EMPTY;
  #at = 0;
  #end = 0;

  /** `maxTextBytes`: of a name or a value, as it is on the wire. */
  constructor(maxTableSize: number, maxTextBytes: number) {
    this.#maxTextBytes = maxTextBytes;
    this.#maxTableSize = maxTableSize;
    this.#tableSize = maxTableSize;
  }

  /** The peer has heard of another limit. */
  limitTable(maxTableSize: number): void {
    if (maxTableSize < this.#maxTableSize) {
      this.#needsUpdate = true;
      this.#resize(maxTableSize);
    }
    this.#maxTableSize = maxTableSize;
  }

  /** Decodes one whole block, `input` from `start` to `end`. Throws HpackError. */
  decode(input: Buffer, start: number, end: number, sink: FieldSink): void {
    this.#input = input;
    this.#at = start;
    this.#end = end;
    try {
      this.#updates();
      while (this.#at < end) this.#field(input[this.#at] ?? 0, sink);
    } finally {
      this.#input = EMPTY;
    }
  }

  /** Table size updates stand at the beginning of a block alone. */
  #updates(): void {
    while (this.#at < this.#end && ((this.#input[this.#at] ?? 0) & 0xe0) === 0x20) {
      const size = this.#integer(0x1f);
      if (size > this.#maxTableSize) throw new HpackError('table size above the limit');
      this.#resize(size);
      this.#needsUpdate = false;
    }
    if (this.#needsUpdate && this.#at < this.#end) throw new HpackError('no table size update');
  }

  #field(first: number, sink: FieldSink): void {
    if ((first & 0x80) !== 0) {
      const index = this.#integer(0x7f);
      sink.onField(this.#nameAt(index), this.#valueAt(index));
      return;
    }
    const isIndexed = (first & 0x40) !== 0;
    if (!isIndexed && (first & 0x20) !== 0) throw new HpackError('table size update in a block');
    const index = this.#integer(isIndexed ? 0x3f : 0x0f);
    const name = index === 0 ? this.#name() : this.#nameAt(index);
    const value = this.#string();
    if (isIndexed) (this.#table ??= new DynamicTable(this.#tableSize)).add(name, value);
    sink.onField(name, value);
  }

  /** A literal name; the well-known ones are the strings that the header map compares with. */
  #name(): string {
    const name = this.#string();
    const known = headerName(name);
    return known?.name === name ? known.name : name;
  }

  #nameAt(index: number): string {
    if (index <= STATIC_LENGTH) {
      if (index === 0) throw new HpackError('index 0');
      return STATIC_NAMES[index] ?? '';
    }
    return this.#dynamic(index).name(index - STATIC_LENGTH - 1);
  }

  #valueAt(index: number): string {
    if (index <= STATIC_LENGTH) return STATIC_VALUES[index] ?? '';
    return this.#dynamic(index).value(index - STATIC_LENGTH - 1);
  }

  /** The table, where it has such an entry. */
  #dynamic(index: number): DynamicTable {
    const table = this.#table;
    if (table === undefined || index - STATIC_LENGTH > table.length) {
      throw new HpackError('index beyond the table');
    }
    return table;
  }

  #resize(size: number): void {
    this.#tableSize = size;
    this.#table?.resize(size);
  }

  #string(): string {
    if (this.#at >= this.#end) throw new HpackError('the block ends in a field');
    const isCoded = ((this.#input[this.#at] ?? 0) & 0x80) !== 0;
    const length = this.#integer(0x7f);
    if (length > this.#maxTextBytes) throw new HpackError('a text above the limit');
    const start = this.#at;
    const end = start + length;
    if (end > this.#end) throw new HpackError('the block ends in a text');
    this.#at = end;
    if (!isCoded) return this.#input.toString('latin1', start, end);
    const text = decodeHuffman(this.#input, start, end);
    if (text === undefined) throw new HpackError('a broken Huffman code');
    return text;
  }

  /** RFC 7541 section 5.1; `mask` has the bits of the prefix. */
  #integer(mask: number): number {
    let value = (this.#input[this.#at++] ?? 0) & mask;
    if (value < mask) return value;
    for (let shift = 0, count = 0; ; shift += 7, count++) {
      if (this.#at >= this.#end) throw new HpackError('the block ends in a number');
      if (count === INTEGER_BYTES_MAX) throw new HpackError('a number that is too large');
      const byte = this.#input[this.#at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (value > INTEGER_MAX) throw new HpackError('a number that is too large');
      if ((byte & 0x80) === 0) return value;
    }
  }
}

const EMPTY = Buffer.alloc(0);
