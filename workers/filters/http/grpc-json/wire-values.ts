/** Values of fields between their wire form and plain ones. */
import { isUtf8 } from 'node:buffer';
import {
  type ProtoField as WireField,
  readMessage as readWire,
  visitFields,
} from '../../../../shared/protobuf/proto-reader.ts';
import { varintBytes } from '../../../../shared/protobuf/records.ts';
import { Wire } from '../../../../shared/protobuf/wire.ts';
import {
  PROTO_KINDS,
  type ProtoField,
  type ProtoKind,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { TranscodeError } from './json-text.ts';
import { BROKEN_OFF, mended } from './message-damage.ts';
import type { MessageType } from './proto-types.ts';

/** A varint, or the bytes of anything else. */
export type WireValue = bigint | Buffer;

export function wireTypeOf(kind: ProtoKind): number {
  switch (kind) {
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return Wire.fixed64;
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return Wire.fixed32;
    case 'string':
    case 'bytes':
    case 'message':
      return Wire.bytes;
    default:
      return Wire.varint;
  }
}

/**
 * The values of each field, in their order. Fields that the type does not have are left out. Throws
 * TranscodeError for what is no message of the type, in the words of Envoy's reader.
 */
export function readMessage(type: MessageType, data: Buffer): ReadonlyMap<number, WireValue[]> {
  return readWhole(type, data) ?? readWhole(type, mended(data)) ?? new Map();
}

/** Undefined for data that are damaged. */
function readWhole(type: MessageType, data: Buffer): Map<number, WireValue[]> | undefined {
  const values = new Map<number, WireValue[]>();
  const isWhole = readWire(data, () => {
    visitFields(data, (record) => collect(type, record, values));
    return true;
  });
  return isWhole === true ? values : undefined;
}

const FIELD_FORMS: ReadonlyMap<number, string> = new Map([
  [Wire.varint, 'varint'],
  [Wire.fixed64, '64-bit'],
  [Wire.fixed32, '32-bit'],
]);

function collect(type: MessageType, record: WireField, into: Map<number, WireValue[]>): void {
  const field = type.byNumber.get(record.number);
  if (field === undefined) return;
  const wanted = wireTypeOf(field.kind);
  let known = into.get(field.number);
  if (known === undefined) into.set(field.number, (known = []));
  const packed = record.bytes();
  if (record.wire === wanted) {
    const value = record.uint64() ?? record.fixed() ?? packed;
    if (value === undefined) return;
    checkValue(field.kind, value);
    known.push(value);
  } else if (packed !== undefined) unpack(packed, wanted, known);
  else {
    const form = FIELD_FORMS.get(record.wire) ?? 'group';
    throw new TranscodeError(
      `field type ${PROTO_KINDS.indexOf(field.kind)} (number ${field.number}) does not support ${form} fields`,
    );
  }
}

function checkValue(kind: ProtoKind, value: WireValue): void {
  if (typeof value !== 'bigint') {
    if (kind !== 'string' || isUtf8(value)) return;
    throw new TranscodeError('proto3 strings must be UTF-8');
  }
  if (kind !== 'bool' || value < 2n) return;
  const bytes = [...varintBytes(value)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`);
  throw new TranscodeError(`bad value for bool: ${bytes.join('')}`);
}

function unpack(data: Buffer, wire: number, into: WireValue[]): void {
  if (wire !== Wire.varint) {
    const size = wire === Wire.fixed32 ? 4 : 8;
    if (data.length % size !== 0) throw new TranscodeError(BROKEN_OFF);
    for (let at = 0; at < data.length; at += size) into.push(data.subarray(at, at + size));
    return;
  }
  let value = 0n;
  let shift = 0n;
  for (const byte of data) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte >= 0x80 && shift < 70n) continue;
    into.push(BigInt.asUintN(64, value));
    value = 0n;
    shift = 0n;
  }
  if (shift > 0n) throw new TranscodeError(BROKEN_OFF);
}

/** The whole number of a field, with its sign. */
export function integerOf(kind: ProtoKind, value: WireValue): bigint {
  if (typeof value === 'bigint') {
    switch (kind) {
      case 'int32':
      case 'enum':
        return BigInt.asIntN(32, value);
      case 'uint32':
        return BigInt.asUintN(32, value);
      case 'int64':
        return BigInt.asIntN(64, value);
      case 'sint32':
      case 'sint64':
        return (value >> 1n) ^ -(value & 1n);
      default:
        return value;
    }
  }
  switch (kind) {
    case 'fixed32':
      return BigInt(value.readUInt32LE());
    case 'sfixed32':
      return BigInt(value.readInt32LE());
    case 'sfixed64':
      return value.readBigInt64LE();
    default:
      return value.readBigUInt64LE();
  }
}

interface Range {
  readonly min: bigint;
  readonly max: bigint;
}

const INT32: Range = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const UINT32: Range = { min: 0n, max: 2n ** 32n - 1n };
const INT64: Range = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64: Range = { min: 0n, max: 2n ** 64n - 1n };

/** Undefined for kinds that are no whole numbers. */
export function rangeOf(kind: ProtoKind): Range | undefined {
  switch (kind) {
    case 'int32':
    case 'sint32':
    case 'sfixed32':
      return INT32;
    case 'uint32':
    case 'fixed32':
      return UINT32;
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return INT64;
    case 'uint64':
    case 'fixed64':
      return UINT64;
    default:
      return undefined;
  }
}

/** The wire form of a whole number that is in the kind's range. */
export function integerBytes(kind: ProtoKind, value: bigint): Buffer {
  switch (kind) {
    case 'sint32':
    case 'sint64':
      return varintBytes(value >= 0n ? value << 1n : (-value << 1n) - 1n);
    case 'fixed32':
    case 'sfixed32': {
      const bytes = Buffer.allocUnsafe(4);
      bytes.writeUInt32LE(Number(BigInt.asUintN(32, value)));
      return bytes;
    }
    case 'fixed64':
    case 'sfixed64': {
      const bytes = Buffer.allocUnsafe(8);
      bytes.writeBigUInt64LE(BigInt.asUintN(64, value));
      return bytes;
    }
    default:
      return varintBytes(value);
  }
}

export function floatingBytes(kind: ProtoKind, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(kind === 'float' ? 4 : 8);
  if (kind === 'float') bytes.writeFloatLE(value);
  else bytes.writeDoubleLE(value);
  return bytes;
}

/** The value of a field that is no list. Throws TranscodeError where there are several. */
export function singleOf(field: ProtoField, values: readonly WireValue[]): WireValue | undefined {
  if (values.length > 1) {
    throw new TranscodeError(`repeated entries for singular field number ${field.number}`);
  }
  return values[0];
}
