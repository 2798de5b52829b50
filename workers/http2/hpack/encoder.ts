/**
 * Encodes header blocks (RFC 7541). One per connection: indexes what is likely to come again, so
 * that a usual message is a few bytes, and writes the rest as plain texts, since coding them would
 * cost more than their bytes, unless it is told to. What must not be compressed beside others' texts is never indexed.
 */
import { DynamicTable, ENTRY_OVERHEAD } from './dynamic-table.ts';
import { encodeHuffman, huffmanBytes } from './huffman.ts';
import {
  fieldKey,
  STATIC_INDEX_OF_NAME,
  STATIC_INDEX_OF_VALUE,
  STATIC_LENGTH,
} from './static-table.ts';

/** A larger table would be memory of each connection for little. */
const TABLE_SIZE_MAX = 4096;
/** Longer fields would push out what comes again. */
const INDEXED_FIELD_BYTES_MAX = 512;

/** Their values are others in nearly every message. */
const VOLATILE: ReadonlySet<string> = new Set([
  ':path',
  'age',
  'content-length',
  'content-range',
  'etag',
  'if-modified-since',
  'if-none-match',
  'last-modified',
  'location',
  'set-cookie',
  'x-request-id',
  'x-envoy-upstream-service-time',
  'traceparent',
  'tracestate',
  'grpc-timeout',
]);
/** Secrets: never in a table, here or behind (RFC 7541 section 7.1.3). */
const NEVER_INDEXED: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization']);

interface KnownName {
  /** 0 where the static table does not have it. */
  readonly staticIndex: number;
  /** What the static table has with a value. */
  readonly values: ReadonlyMap<string, number> | undefined;
  readonly indexing: 'usual' | 'not' | 'never';
}

const UNKNOWN_NAME: KnownName = { staticIndex: 0, values: undefined, indexing: 'usual' };
const KNOWN_NAMES: ReadonlyMap<string, KnownName> = new Map(
  [...STATIC_INDEX_OF_NAME.keys(), ...VOLATILE, ...NEVER_INDEXED].map((name) => [
    name,
    {
      staticIndex: STATIC_INDEX_OF_NAME.get(name) ?? 0,
      values: STATIC_INDEX_OF_VALUE.get(name),
      indexing: NEVER_INDEXED.has(name) ? 'never' : VOLATILE.has(name) ? 'not' : 'usual',
    },
  ]),
);

/** What was indexed, and where the table has it. */
class IndexedFields {
  /** Numbers of the table's entries, by field. */
  readonly numbers = new Map<string, number>();
  /** The entry that a name was last in. */
  readonly lastOfName = new Map<string, number>();
  readonly table: DynamicTable;

  constructor(maxSize: number) {
    this.table = new DynamicTable(maxSize, (name, value, number) => {
      const key = fieldKey(name, value);
      if (this.numbers.get(key) === number) this.numbers.delete(key);
      if (this.lastOfName.get(name) === number) this.lastOfName.delete(name);
    });
  }
}

/** The block that is being written, of all encoders: it is copied before the next one begins. */
let scratch: Buffer = Buffer.allocUnsafeSlow(4096);
/** What a longer block needed is let go. */
const KEPT_SCRATCH_BYTES = 64 * 1024;

export class HpackEncoder {
  /** Absent until a field is indexed: most of a worker's connections may be idle. */
  #indexed: IndexedFields | undefined = undefined;
  #tableSize = TABLE_SIZE_MAX;
  readonly #usesHuffman: boolean;
  #length = 0;
  /** The smallest size since the last block, and whether the peer is to be told of it. */
  #smallest = TABLE_SIZE_MAX;
  #mustTell = false;

  constructor(usesHuffman = false) {
    this.#usesHuffman = usesHuffman;
  }

  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  limitTable(size: number): void {
    const wanted = Math.min(size, TABLE_SIZE_MAX);
    if (wanted === this.#tableSize) return;
    this.#tableSize = wanted;
    this.#indexed?.table.resize(wanted);
    this.#smallest = Math.min(this.#smallest, wanted);
    this.#mustTell = true;
  }

  /** Begins a block; fields follow, and `finish`. */
  begin(): void {
    this.#length = 0;
    if (scratch.length > KEPT_SCRATCH_BYTES) scratch = Buffer.allocUnsafeSlow(4096);
    if (!this.#mustTell) return;
    const size = this.#tableSize;
    if (this.#smallest < size) this.#integer(0x20, 0x1f, this.#smallest);
    this.#integer(0x20, 0x1f, size);
    this.#smallest = size;
    this.#mustTell = false;
  }

  /** `name` in lower case; both latin-1. */
  field(name: string, value: string): void {
    const known = KNOWN_NAMES.get(name) ?? UNKNOWN_NAME;
    const { staticIndex, indexing } = known;
    const index = known.values?.get(value);
    if (index !== undefined) {
      this.#integer(0x80, 0x7f, index);
      return;
    }
    if (indexing !== 'usual') this.#integer(indexing === 'never' ? 0x10 : 0, 0x0f, staticIndex);
    else if (this.#fromTable(name, value, staticIndex)) return;
    if (staticIndex === 0) this.#text(name);
    this.#text(value);
  }

  /** A field that no table has or gets; for blocks that stand alone. */
  literal(name: string, value: string): void {
    this.#integer(0, 0x0f, 0);
    this.#text(name);
    this.#text(value);
  }

  /** The block, a character per byte. */
  finish(): string {
    return scratch.toString('latin1', 0, this.#length);
  }

  /** True where the table has the field; else its name and value follow, for the table or not. */
  #fromTable(name: string, value: string, staticIndex: number): boolean {
    const indexed = (this.#indexed ??= new IndexedFields(this.#tableSize));
    const { table, numbers, lastOfName } = indexed;
    // Most names come with the value that they had before: neither is hashed then.
    const last = lastOfName.get(name);
    if (last !== undefined && table.has(last) && table.value(table.indexOf(last)) === value) {
      return this.#named(table, last);
    }
    const key = fieldKey(name, value);
    const number = numbers.get(key);
    if (number !== undefined) {
      lastOfName.set(name, number);
      return this.#named(table, number);
    }
    const size = name.length + value.length + ENTRY_OVERHEAD;
    const isIndexed = size <= INDEXED_FIELD_BYTES_MAX && size <= table.maxSize;
    this.#integer(isIndexed ? 0x40 : 0, isIndexed ? 0x3f : 0x0f, staticIndex);
    const added = isIndexed ? table.add(name, value) : undefined;
    if (added !== undefined) {
      numbers.set(key, added);
      lastOfName.set(name, added);
    }
    return false;
  }

  #named(table: DynamicTable, number: number): true {
    this.#integer(0x80, 0x7f, STATIC_LENGTH + 1 + table.indexOf(number));
    return true;
  }

  #integer(flags: number, mask: number, value: number): void {
    this.#reserve(8);
    if (value < mask) {
      scratch[this.#length++] = flags | value;
      return;
    }
    scratch[this.#length++] = flags | mask;
    let left = value - mask;
    while (left >= 0x80) {
      scratch[this.#length++] = (left & 0x7f) | 0x80;
      left = Math.floor(left / 128);
    }
    scratch[this.#length++] = left;
  }

  #text(text: string): void {
    if (this.#usesHuffman) {
      const bytes = huffmanBytes(text);
      if (bytes < text.length) {
        this.#integer(0x80, 0x7f, bytes);
        this.#reserve(bytes);
        this.#length += encodeHuffman(text, scratch, this.#length);
        return;
      }
    }
    this.#integer(0, 0x7f, text.length);
    this.#reserve(text.length);
    this.#length += scratch.write(text, this.#length, 'latin1');
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= scratch.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, scratch.length * 2));
    scratch.copy(larger, 0, 0, this.#length);
    scratch = larger;
  }
}
