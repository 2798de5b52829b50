/**
 * Reads the values of Thrift's binary and compact protocols one after the other. What contradicts
 * the protocol is a `ThriftError`, what ends too early a RangeError, both also of hostile bytes:
 * nothing is kept for what a length promises.
 */

/** Structures within structures. */
const DEPTH_MAX = 64;

export class ThriftError extends Error {
  override readonly name = 'ThriftError';
}

export const ThriftType = {
  stop: 0,
  bool: 2,
  byte: 3,
  double: 4,
  i16: 6,
  i32: 8,
  i64: 10,
  string: 11,
  struct: 12,
  map: 13,
  set: 14,
  list: 15,
} as const;

export interface ThriftField {
  readonly type: number;
  readonly id: number;
}

export interface MessageHead {
  readonly name: string;
  /** 1 call, 2 reply, 3 exception, 4 one-way. */
  readonly type: number;
  readonly sequence: number;
}

/** Texts have a byte in each character. */
export type ThriftValue = string | number | boolean;

export interface Elements {
  readonly types: readonly number[];
  readonly count: number;
}

export abstract class ThriftReader {
  protected readonly bytes: Buffer;
  protected at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  /** Where the next value stands. */
  get position(): number {
    return this.at;
  }

  /** Passes over the structure that stands here. */
  pass(): void {
    this.skip(ThriftType.struct, 0);
  }

  abstract head(): MessageHead;
  abstract beginStruct(): void;
  /** Undefined at the end of the structure. */
  abstract field(): ThriftField | undefined;
  protected abstract integer(type: number): number;
  protected abstract bool(): boolean;
  protected abstract length(): number;
  protected abstract elements(isMap: boolean): Elements;
  abstract endStruct(): void;

  /** Undefined of structures and containers, which are passed over. */
  value(type: number): ThriftValue | undefined {
    switch (type) {
      case ThriftType.bool:
        return this.bool();
      case ThriftType.double:
        return this.bytes.readDoubleBE(this.take(8));
      case ThriftType.string:
        return this.text();
      case ThriftType.byte:
        return this.bytes.readUInt8(this.take(1));
      case ThriftType.i16:
      case ThriftType.i32:
      case ThriftType.i64:
        return this.integer(type);
      default:
        this.skip(type, 0);
        return undefined;
    }
  }

  protected text(): string {
    const length = this.length();
    const start = this.take(length);
    return this.bytes.toString('latin1', start, start + length);
  }

  /** The place of so many bytes, which are read with it. */
  protected take(count: number): number {
    const start = this.at;
    if (start + count > this.bytes.length) throw new RangeError('behind the end');
    this.at += count;
    return start;
  }

  protected skip(type: number, depth: number): void {
    if (depth > DEPTH_MAX) throw new ThriftError('too deep');
    switch (type) {
      case ThriftType.struct:
        this.beginStruct();
        for (let field = this.field(); field !== undefined; field = this.field()) {
          this.skip(field.type, depth + 1);
        }
        this.endStruct();
        return;
      case ThriftType.map:
      case ThriftType.set:
      case ThriftType.list: {
        const { types, count } = this.elements(type === ThriftType.map);
        // Each element has a byte at least.
        for (let index = 0; index < count; index++) {
          for (const each of types) this.skipElement(each, depth + 1);
        }
        return;
      }
      case ThriftType.string:
        this.take(this.length());
        return;
      default:
        if (!SCALARS.has(type)) throw new ThriftError('unknown type');
        this.value(type);
    }
  }

  protected skipElement(type: number, depth: number): void {
    this.skip(type, depth);
  }
}

const SCALARS = new Set<number>([
  ThriftType.bool,
  ThriftType.byte,
  ThriftType.double,
  ThriftType.i16,
  ThriftType.i32,
  ThriftType.i64,
]);
const MESSAGE_TYPE_MAX = 4;

export function checkedType(type: number): number {
  if (type < 1 || type > MESSAGE_TYPE_MAX) throw new ThriftError('invalid message type');
  return type;
}

const STRICT = 0x8001;

export class BinaryReader extends ThriftReader {
  readonly #isStrict: boolean;

  constructor(bytes: Buffer, at: number, isStrict: boolean) {
    super(bytes, at);
    this.#isStrict = isStrict;
  }

  override head(): MessageHead {
    if (!this.#isStrict) {
      const name = this.text();
      const type = checkedType(this.bytes.readUInt8(this.take(1)));
      return { name, type, sequence: this.bytes.readInt32BE(this.take(4)) };
    }
    const start = this.take(4);
    if (this.bytes.readUInt16BE(start) !== STRICT) throw new ThriftError('invalid version');
    const type = checkedType(this.bytes.readUInt8(start + 3));
    const name = this.text();
    return { name, type, sequence: this.bytes.readInt32BE(this.take(4)) };
  }

  override beginStruct(): void {
    // Nothing stands there.
  }

  override endStruct(): void {
    // Nothing stands there.
  }

  override field(): ThriftField | undefined {
    const type = this.bytes.readUInt8(this.take(1));
    if (type === ThriftType.stop) return undefined;
    return { type, id: this.bytes.readInt16BE(this.take(2)) };
  }

  protected override integer(type: number): number {
    if (type === ThriftType.i16) return this.bytes.readInt16BE(this.take(2));
    if (type === ThriftType.i32) return this.bytes.readInt32BE(this.take(4));
    return Number(this.bytes.readBigInt64BE(this.take(8)));
  }

  protected override bool(): boolean {
    return this.bytes.readUInt8(this.take(1)) !== 0;
  }

  protected override length(): number {
    return sizeOf(this.bytes.readInt32BE(this.take(4)));
  }

  protected override elements(isMap: boolean): Elements {
    const first = this.bytes.readUInt8(this.take(1));
    const types = isMap ? [first, this.bytes.readUInt8(this.take(1))] : [first];
    return { types, count: this.length() };
  }
}

/** A length or a number of elements. */
export function sizeOf(value: number): number {
  if (value < 0) throw new ThriftError('negative size');
  return value;
}
