/** Reads the compact protocol. */
import {
  checkedType,
  type Elements,
  type MessageHead,
  sizeOf,
  ThriftError,
  type ThriftField,
  ThriftReader,
  ThriftType,
} from './thrift-reader.ts';

const COMPACT = 0x82;
const COMPACT_VERSION = 1;
const VARINT_BYTES_MAX = 10;
/** Types of the protocol, by the numbers that it has for them. */
const COMPACT_TYPES: readonly number[] = [
  ThriftType.stop,
  ThriftType.bool,
  ThriftType.bool,
  ThriftType.byte,
  ThriftType.i16,
  ThriftType.i32,
  ThriftType.i64,
  ThriftType.double,
  ThriftType.string,
  ThriftType.list,
  ThriftType.set,
  ThriftType.map,
  ThriftType.struct,
];
const COMPACT_TRUE = 1;

export class CompactReader extends ThriftReader {
  #lastId = 0;
  readonly #outer: number[] = [];
  /** The value of a field that is its own type. */
  #fieldBool: boolean | undefined = undefined;

  override head(): MessageHead {
    const start = this.take(2);
    const second = this.bytes.readUInt8(start + 1);
    if (this.bytes.readUInt8(start) !== COMPACT || (second & 31) !== COMPACT_VERSION) {
      throw new ThriftError('invalid version');
    }
    const type = checkedType(second >> 5);
    const sequence = Number(BigInt.asIntN(32, this.#varint()));
    return { name: this.text(), type, sequence };
  }

  /** A length or a number of things. */
  size(): number {
    return this.length();
  }

  string(): string {
    return this.text();
  }

  override beginStruct(): void {
    this.#outer.push(this.#lastId);
    this.#lastId = 0;
  }

  override endStruct(): void {
    this.#lastId = this.#outer.pop() ?? 0;
  }

  override field(): ThriftField | undefined {
    const first = this.bytes.readUInt8(this.take(1));
    const kind = first & 15;
    if (kind === 0) return undefined;
    const delta = first >> 4;
    this.#lastId = delta === 0 ? Number(BigInt.asIntN(16, this.#zigzag())) : this.#lastId + delta;
    const type = typeOf(kind);
    this.#fieldBool = type === ThriftType.bool ? kind === COMPACT_TRUE : undefined;
    return { type, id: this.#lastId };
  }

  protected override integer(): number {
    return Number(this.#zigzag());
  }

  protected override bool(): boolean {
    const known = this.#fieldBool;
    this.#fieldBool = undefined;
    return known ?? this.bytes.readUInt8(this.take(1)) === COMPACT_TRUE;
  }

  protected override skipElement(type: number, depth: number): void {
    this.#fieldBool = undefined;
    this.skip(type, depth);
  }

  protected override length(): number {
    return sizeOf(Number(BigInt.asIntN(32, this.#varint())));
  }

  protected override elements(isMap: boolean): Elements {
    if (isMap) {
      const count = this.length();
      if (count === 0) return { types: [], count };
      const types = this.bytes.readUInt8(this.take(1));
      return { types: [typeOf(types >> 4), typeOf(types & 15)], count };
    }
    const first = this.bytes.readUInt8(this.take(1));
    const count = first >> 4 === 15 ? this.length() : first >> 4;
    return { types: [typeOf(first & 15)], count };
  }

  #zigzag(): bigint {
    const value = this.#varint();
    return (value >> 1n) ^ -(value & 1n);
  }

  #varint(): bigint {
    let value = 0n;
    for (let index = 0; index < VARINT_BYTES_MAX; index++) {
      const byte = this.bytes.readUInt8(this.take(1));
      value |= BigInt(byte & 127) << BigInt(7 * index);
      if (byte < 128) return value;
    }
    throw new ThriftError('number without end');
  }
}

function typeOf(kind: number): number {
  const type = COMPACT_TYPES[kind];
  if (type === undefined) throw new ThriftError('unknown type');
  return type;
}
