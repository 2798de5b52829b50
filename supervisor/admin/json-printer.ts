/**
 * Prints JSON as protobuf's own printer does: one space of indentation, its string escapes, its
 * number format. Owns the text form only; which fields are present is the caller's decision.
 */
import type { JsonValue } from '../../shared/api/well-known.ts';
import { quoteJson } from '../../shared/json/quote-json.ts';

/** The whole text, a line feed at the end, as Envoy ends its JSON pages. For small values. */
export function printJson(value: JsonValue): string {
  return `${printJsonAt(value, 0)}\n`;
}

/** The value as it stands inside another one: `depth` levels in, without a line feed. */
export function printJsonAt(value: JsonValue, depth: number): string {
  if (typeof value !== 'object' || value === null) return printScalar(value);
  return Array.isArray(value)
    ? printList(value as readonly JsonValue[], depth)
    : printObject(value as { readonly [field: string]: JsonValue }, depth);
}

/** Values and lists within one another that are printed in one step. */
const SMALL_VALUES = 256;

/** Whether a value is printed fast enough to be printed whole. */
export function isSmall(value: JsonValue): boolean {
  return countDown(value, SMALL_VALUES) > 0;
}

/** How many values are left of `left`; 0 or less as soon as there are none. */
function countDown(value: JsonValue, left: number): number {
  if (typeof value !== 'object' || value === null) return left - 1;
  let rest = left - 1;
  if (Array.isArray(value)) {
    const list = value as readonly JsonValue[];
    if (list.length >= rest) return 0;
    for (const element of list) {
      rest = countDown(element, rest);
      if (rest <= 0) return 0;
    }
    return rest;
  }
  const object = value as { readonly [field: string]: JsonValue };
  for (const field in object) {
    rest = countDown(object[field] as JsonValue, rest);
    if (rest <= 0) return 0;
  }
  return rest;
}

/** What `printJson` prints, in small pieces. */
export function* printJsonInSteps(value: JsonValue): Generator<string> {
  yield* piecesOf(value, 0);
  yield '\n';
}

/** An object whose fields are made while they are printed. */
export class LazyObject {
  readonly fields: Iterable<readonly [string, JsonValue | LazyObject]>;

  constructor(fields: Iterable<readonly [string, JsonValue | LazyObject]>) {
    this.fields = fields;
  }
}

/** The same of what is made while it is printed. */
export function* printLazyJson({ fields }: LazyObject): Generator<string> {
  yield* fieldsOf(fields, 0);
  yield '\n';
}

function* piecesOf(value: JsonValue, depth: number): Generator<string> {
  if (typeof value !== 'object' || value === null || isSmall(value)) {
    yield printJsonAt(value, depth);
  } else if (Array.isArray(value)) {
    yield* elementsOf(value as readonly JsonValue[], depth);
  } else {
    yield* fieldsOf(Object.entries(value), depth);
  }
}

function* elementsOf(list: readonly JsonValue[], depth: number): Generator<string> {
  const indent = ' '.repeat(depth + 1);
  let separator = '[\n';
  for (const element of list) {
    yield separator + indent;
    yield* piecesOf(element, depth + 1);
    separator = ',\n';
  }
  yield `\n${' '.repeat(depth)}]`;
}

function* fieldsOf(
  fields: Iterable<readonly [string, JsonValue | LazyObject | undefined]>,
  depth: number,
): Generator<string> {
  const indent = ' '.repeat(depth + 1);
  let separator = '{\n';
  for (const [key, inner] of fields) {
    if (inner === undefined) continue;
    yield `${separator}${indent}${quoteJson(key)}: `;
    yield* inner instanceof LazyObject
      ? fieldsOf(inner.fields, depth + 1)
      : piecesOf(inner, depth + 1);
    separator = ',\n';
  }
  yield separator === '{\n' ? '{}' : `\n${' '.repeat(depth)}}`;
}

function printList(list: readonly JsonValue[], depth: number): string {
  if (list.length === 0) return '[]';
  const indent = ' '.repeat(depth + 1);
  let text = '[';
  for (const element of list) {
    text += `${text === '[' ? '\n' : ',\n'}${indent}${printJsonAt(element, depth + 1)}`;
  }
  return `${text}\n${' '.repeat(depth)}]`;
}

function printObject(object: { readonly [field: string]: JsonValue }, depth: number): string {
  const indent = ' '.repeat(depth + 1);
  let text = '{';
  for (const key of Object.keys(object)) {
    const value = object[key];
    if (value === undefined) continue;
    const separator = text === '{' ? '\n' : ',\n';
    text += `${separator}${indent}${quoteJson(key)}: ${printJsonAt(value, depth + 1)}`;
  }
  return text === '{' ? '{}' : `${text}\n${' '.repeat(depth)}}`;
}

function printScalar(value: null | boolean | number | string): string {
  if (typeof value === 'string') return quoteJson(value);
  if (typeof value === 'number') return printNumber(value);
  return String(value);
}

/**
 * Fifteen significant digits when they say the number, seventeen otherwise, as C's %g writes them:
 * an exponent of at least two digits from 1e15 upward and below 1e-4.
 */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return '"NaN"';
  if (!Number.isFinite(value)) return value > 0 ? '"Infinity"' : '"-Infinity"';
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
  const precision = Number(value.toPrecision(15)) === value ? 15 : 17;
  const [mantissa = '', exponentText = '0'] = value.toExponential(precision - 1).split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < precision) return String(Number(value.toPrecision(precision)));
  const digits = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  const sign = exponent < 0 ? '-' : '+';
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
