/** Scalars of JSON, or of a path or query, as the bytes of a field. */
import type { ProtoField } from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { printDouble, RawJson } from './json-print.ts';
import { JsonNumber, JsonObject, type JsonNode, TranscodeError } from './json-text.ts';
import type { EnumType } from './proto-types.ts';
import { floatingBytes, integerBytes, rangeOf } from './wire-values.ts';

interface EnumReading {
  readonly enumType: EnumType | undefined;
  readonly isCaseIgnored: boolean;
}

const FLOAT_MAX = 3.4028234663852886e38;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const WHOLE = /^-?\d+$/;
/** A number in a text: the sign may be a plus. */
const SIGNED = /^[+-]?\d+$/;
/** More digits are no number of 64 bits. */
const DIGITS_MAX = 400;

/** The bytes behind the key, without a length. Throws TranscodeError. */
export function scalarBytes(
  field: ProtoField,
  value: JsonNode,
  place: string,
  reading: EnumReading,
): Buffer {
  if (value instanceof JsonObject) {
    throw new TranscodeError(
      `: invalid value Starting an object on a scalar field for type ${field.name}`,
    );
  }
  const bytes = bytesOf(field, value, reading);
  if (bytes !== undefined) return bytes;
  const type =
    field.kind === 'enum'
      ? `type.googleapis.com/${field.type ?? ''}`
      : `TYPE_${field.kind.toUpperCase()}`;
  throw new TranscodeError(`${place}: invalid value ${shown(value)} for type ${type}`);
}

/** As messages about mistakes show a value. */
export function shown(value: JsonNode): string {
  if (typeof value === 'string') return `"${value}"`;
  if (value instanceof JsonNumber) {
    if (WHOLE.test(value.text) && Math.abs(Number(value.text)) < 2 ** 64) return value.text;
    const printed = printDouble(Number(value.text));
    return printed instanceof RawJson ? printed.text : String(value.text);
  }
  if (value instanceof JsonObject) return '{}';
  return Array.isArray(value) ? '[]' : String(value as boolean | null);
}

function bytesOf(field: ProtoField, value: JsonNode, reading: EnumReading): Buffer | undefined {
  const { kind } = field;
  const range = rangeOf(kind);
  if (range !== undefined) {
    const number = wholeNumber(value);
    const isFit = number !== undefined && number >= range.min && number <= range.max;
    return isFit ? integerBytes(kind, number) : undefined;
  }
  switch (kind) {
    case 'double':
    case 'float':
      return floatingOf(kind, value);
    case 'bool':
      return boolBytes(value);
    case 'string':
      return typeof value === 'string' ? Buffer.from(value, 'utf8') : undefined;
    case 'bytes':
      return base64Bytes(value);
    default:
      return enumBytes(value, reading);
  }
}

function floatingOf(kind: 'double' | 'float', value: JsonNode): Buffer | undefined {
  const number = floating(value);
  if (number === undefined) return undefined;
  const isTooLarge = kind === 'float' && Number.isFinite(number) && Math.abs(number) > FLOAT_MAX;
  return isTooLarge ? undefined : floatingBytes(kind, number);
}

const TRUE_WORDS = ['true', 't', 'yes', 'y', '1'];
const FALSE_WORDS = ['false', 'f', 'no', 'n', '0'];

/** Words are texts: the number 1 is no truth value. */
function boolBytes(value: JsonNode): Buffer | undefined {
  if (typeof value === 'boolean') return Buffer.from([value ? 1 : 0]);
  if (typeof value !== 'string') return undefined;
  const word = value.toLowerCase();
  if (TRUE_WORDS.includes(word)) return Buffer.from([1]);
  return FALSE_WORDS.includes(word) ? Buffer.from([0]) : undefined;
}

function base64Bytes(value: JsonNode): Buffer | undefined {
  if (typeof value !== 'string' || !BASE64.test(value)) return undefined;
  const isCut = value.replace(/=+$/, '').length % 4 === 1;
  return isCut ? undefined : Buffer.from(value, 'base64');
}

function enumBytes(value: JsonNode, { enumType, isCaseIgnored }: EnumReading): Buffer | undefined {
  if (value === null) return integerBytes('int32', 0n);
  if (typeof value === 'string') {
    const wanted = isCaseIgnored ? value.toUpperCase().replaceAll('-', '_') : value;
    const number = enumType?.numbers.get(value) ?? enumType?.numbers.get(wanted);
    if (number !== undefined) return integerBytes('int32', BigInt(number));
  }
  const number = wholeNumber(value);
  const isFit = number !== undefined && number >= -(2n ** 31n) && number < 2n ** 31n;
  // The number of a text has to be one of the enum, that of JSON has not.
  if (!isFit || (typeof value === 'string' && enumType?.names.has(Number(number)) !== true)) {
    return undefined;
  }
  return integerBytes('int32', number);
}

/** `1.0` and `1e3` are whole numbers of JSON, but not of a text. */
function wholeNumber(value: JsonNode): bigint | undefined {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string' || text.length > DIGITS_MAX) return undefined;
  if (SIGNED.test(text)) return BigInt(text.replace(/^\+/, ''));
  if (!(value instanceof JsonNumber)) return undefined;
  const number = Number(text);
  return Number.isInteger(number) ? BigInt(number) : undefined;
}

const NOT_FINITE: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

function floating(value: JsonNode): number | undefined {
  if (typeof value === 'string') {
    const named = NOT_FINITE.get(value);
    if (named !== undefined) return named;
  }
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string' || !/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) {
    return undefined;
  }
  const number = Number(text);
  // A whole number of JSON has no negative zero.
  if (number === 0 && value instanceof JsonNumber && WHOLE.test(text)) return 0;
  return Number.isFinite(number) ? number : undefined;
}
