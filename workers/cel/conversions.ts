/** Functions of CEL that turn a value into one of another type. */
import { parseDuration, parseTimestamp } from '../../shared/cel/time-text.ts';
import { checkedInt, checkedUint } from './arithmetic.ts';
import { celText } from './print.ts';
import {
  CelBytes,
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelType,
  CelUint,
  NO_OVERLOAD,
  typeNameOf,
  type CelValue,
} from './values.ts';

const BAD_TEXT = new CelFailure('malformed text');
const OUT_OF_RANGE = new CelFailure('out of range');
const INTEGER = /^[-+]?\d{1,20}$/;
const DECIMAL = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;
/** A number has no more characters. */
const NUMBER_TEXT_MAX = 400;
const SECOND_NS = 1_000_000_000n;

export const CONVERSIONS: ReadonlyMap<string, (value: CelValue) => CelValue> = new Map([
  ['int', toInt],
  ['uint', toUint],
  ['double', toDouble],
  ['bool', toBool],
  ['bytes', toBytes],
  ['dyn', (value: CelValue) => value],
  ['type', (value: CelValue) => new CelType(typeNameOf(value))],
  ['duration', toDuration],
  ['timestamp', toTimestamp],
  ['string', (value: CelValue) => celText(value)],
]);

function toInt(value: CelValue): CelValue {
  if (typeof value === 'bigint') return value;
  if (value instanceof CelUint) return checkedInt(value.value);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? checkedInt(BigInt(Math.trunc(value))) : OUT_OF_RANGE;
  }
  if (typeof value === 'string')
    return INTEGER.test(value) ? checkedInt(BigInt(value.replace('+', ''))) : BAD_TEXT;
  if (!(value instanceof CelTimestamp)) return NO_OVERLOAD;
  const seconds = value.ns / SECOND_NS;
  return value.ns % SECOND_NS < 0n ? seconds - 1n : seconds;
}

function toUint(value: CelValue): CelValue {
  if (value instanceof CelUint) return value;
  if (typeof value === 'bigint') return checkedUint(value);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? checkedUint(BigInt(Math.trunc(value))) : OUT_OF_RANGE;
  }
  if (typeof value !== 'string') return NO_OVERLOAD;
  return INTEGER.test(value) ? checkedUint(BigInt(value.replace('+', ''))) : BAD_TEXT;
}

function toDouble(value: CelValue): CelValue {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof CelUint) return Number(value.value);
  if (typeof value !== 'string') return NO_OVERLOAD;
  return value.length <= NUMBER_TEXT_MAX && DECIMAL.test(value) ? Number(value) : BAD_TEXT;
}

const TRUE: readonly string[] = ['1', 't', 'true', 'TRUE', 'True'];
const FALSE: readonly string[] = ['0', 'f', 'false', 'FALSE', 'False'];

function toBool(value: CelValue): CelValue {
  if (typeof value === 'boolean') return value;
  if (typeof value !== 'string') return NO_OVERLOAD;
  if (TRUE.includes(value)) return true;
  return FALSE.includes(value) ? false : BAD_TEXT;
}

function toBytes(value: CelValue): CelValue {
  if (value instanceof CelBytes) return value;
  return typeof value === 'string' ? new CelBytes(value) : NO_OVERLOAD;
}

function toDuration(value: CelValue): CelValue {
  if (value instanceof CelDuration) return value;
  if (typeof value !== 'string') return NO_OVERLOAD;
  const ns = parseDuration(value);
  return ns === undefined ? BAD_TEXT : new CelDuration(ns);
}

function toTimestamp(value: CelValue): CelValue {
  if (value instanceof CelTimestamp) return value;
  if (typeof value === 'bigint') return new CelTimestamp(value * SECOND_NS);
  if (typeof value !== 'string') return NO_OVERLOAD;
  const ns = parseTimestamp(value);
  return ns === undefined ? BAD_TEXT : new CelTimestamp(ns);
}
