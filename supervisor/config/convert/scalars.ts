/**
 * The values of scalar fields: from what JSON or YAML gives to the normalised form. A value that
 * does not fit comes back as `Invalid` with the reason; nothing throws.
 */
import type { ScalarKind } from '../../../shared/api/descriptor.ts';
import type { SourceNode } from '../source/source-node.ts';

/** Why a value cannot be read. */
export class Invalid {
  readonly message: string;
  /** Envoy's words for it, where ours say more. */
  readonly words: string;

  constructor(message: string, words = message) {
    this.message = message;
    this.words = words;
  }
}

const A_NUMBER = 'a number';
const A_BOOLEAN = "'true' or 'false'";

export type NormalScalar = string | number | boolean;

interface IntegerRange {
  readonly low: bigint;
  readonly high: bigint;
}

const signed32: IntegerRange = { low: -2147483648n, high: 2147483647n };
const unsigned32: IntegerRange = { low: 0n, high: 4294967295n };
const signed64: IntegerRange = { low: -(2n ** 63n), high: 2n ** 63n - 1n };
const unsigned64: IntegerRange = { low: 0n, high: 2n ** 64n - 1n };

/** The value that a field has when it is not set. */
export function defaultScalar(kind: ScalarKind): NormalScalar {
  switch (kind) {
    case 'bool':
      return false;
    case 'string':
    case 'bytes':
      return '';
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      return '0';
    default:
      return 0;
  }
}

/** Reads a scalar from a node that is not null. */
export function readScalar(kind: ScalarKind, node: SourceNode): NormalScalar | Invalid {
  switch (kind) {
    case 'string':
      return node.kind === 'string' ? node.value : expected('a string', node);
    case 'bytes':
      return node.kind === 'string' ? readBytes(node.value) : expected('a base64 string', node);
    case 'bool':
      return readBool(node);
    case 'double':
    case 'float':
      return readFloat(kind, node);
    default:
      return readInteger(kind, node);
  }
}

/** `unexpected character: '5'; expected '"'` says little; name what was found instead. */
export function expected(what: string, node: SourceNode): Invalid {
  return new Invalid(`expected ${what}, found ${describe(node)}`, expectedWords(what, node));
}

/** Envoy's parser says which character a value of the kind begins with. */
function expectedWords(what: string, node: SourceNode): string {
  if (what === A_NUMBER) return 'expected number or string';
  if (what === A_BOOLEAN) return `expected ${A_BOOLEAN}`;
  const opening = what.startsWith('an object') ? '{' : what === 'a list' ? '[' : '"';
  return `unexpected character: '${firstCharacter(node)}'; expected '${opening}'`;
}

function firstCharacter(node: SourceNode): string {
  switch (node.kind) {
    case 'map':
      return '{';
    case 'list':
      return '[';
    case 'string':
      return '"';
    case 'number':
    case 'boolean':
    case 'null':
      return String(node.value).charAt(0);
  }
}

function describe(node: SourceNode): string {
  switch (node.kind) {
    case 'map':
      return 'an object';
    case 'list':
      return 'a list';
    case 'string':
      return 'a string';
    case 'number':
      return `the number ${node.value}`;
    case 'boolean':
      return String(node.value);
    case 'null':
      return 'null';
  }
}

const trueTexts = /^(true|t|yes|y|1)$/i;
const falseTexts = /^(false|f|no|n|0)$/i;

function readBool(node: SourceNode): boolean | Invalid {
  if (node.kind === 'boolean') {
    return node.value;
  }
  if (node.kind === 'string' && trueTexts.test(node.value)) {
    return true;
  }
  if (node.kind === 'string' && falseTexts.test(node.value)) {
    return false;
  }
  return node.kind === 'string'
    ? new Invalid(`expected ${A_BOOLEAN}, found '${node.value}'`, `expected ${A_BOOLEAN}`)
    : expected(A_BOOLEAN, node);
}

function readBytes(text: string): string | Invalid {
  const plain = text.replaceAll('-', '+').replaceAll('_', '/');
  const body = plain.replace(/={1,2}$/, '');
  const padded = plain.length !== body.length;
  const wellFormed = /^[A-Za-z0-9+/]*$/.test(body) && body.length % 4 !== 1;
  if (!wellFormed || (padded && plain.length % 4 !== 0)) {
    return new Invalid('corrupt base64');
  }
  return Buffer.from(plain, 'base64').toString('base64');
}

export function readInteger(kind: ScalarKind, node: SourceNode): number | string | Invalid {
  if (node.kind !== 'number' && node.kind !== 'string') {
    return expected(A_NUMBER, node);
  }
  const text = node.value;
  if (kind.endsWith('32') && /^[0-9]{1,9}$/.test(text)) {
    return Number(text);
  }
  const value = integerValue(text);
  if (value instanceof Invalid) {
    return value;
  }
  const range = rangeOf(kind);
  if (value < range.low || value > range.high) {
    return new Invalid(`number out of range for ${kind}: ${text}`);
  }
  return range === signed32 || range === unsigned32 ? Number(value) : value.toString();
}

function rangeOf(kind: ScalarKind): IntegerRange {
  switch (kind) {
    case 'uint32':
    case 'fixed32':
      return unsigned32;
    case 'uint64':
    case 'fixed64':
      return unsigned64;
    case 'int64':
    case 'sint64':
    case 'sfixed64':
      return signed64;
    default:
      return signed32;
  }
}

/** Digits, hexadecimal, or a decimal fraction whose value is whole. */
function integerValue(text: string): bigint | Invalid {
  if (text.includes(' ') || text.includes('\t')) {
    return new Invalid(`non-number characters in quoted number: '${text}'`);
  }
  const match = /^([+-]?)(0[xX][0-9a-fA-F]+|[0-9]+)$/.exec(text);
  if (match !== null) {
    const size = BigInt(match[2] ?? '0');
    return match[1] === '-' ? -size : size;
  }
  if (!/^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/.test(text)) {
    return new Invalid(`invalid number: '${text}'`);
  }
  const value = Number(text);
  if (!Number.isFinite(value)) {
    return new Invalid(`number out of range: ${text}`);
  }
  return Number.isInteger(value)
    ? BigInt(value)
    : new Invalid(`expected integer, but the number has a fractional part: ${text}`);
}

const floatText = /^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$/;

function readFloat(kind: 'double' | 'float', node: SourceNode): number | string | Invalid {
  if (node.kind !== 'number' && node.kind !== 'string') {
    return expected(A_NUMBER, node);
  }
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(node.value);
  if (special !== null) {
    return normalFloat(kind, specialValue(special));
  }
  const hexadecimal = /^([+-]?)(0[xX][0-9a-fA-F]+)$/.exec(node.value);
  if (hexadecimal !== null) {
    const size = Number(hexadecimal[2]);
    return normalFloat(kind, hexadecimal[1] === '-' ? -size : size);
  }
  if (!floatText.test(node.value)) {
    return new Invalid(`invalid number: '${node.value}'`);
  }
  const value = Number(node.value);
  if (kind === 'float' && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
    return new Invalid(`number out of range for float: ${node.value}`);
  }
  return normalFloat(kind, value);
}

function specialValue(match: RegExpExecArray): number {
  const size = match[2]?.toLowerCase() === 'nan' ? Number.NaN : Number.POSITIVE_INFINITY;
  return match[1] === '-' ? -size : size;
}

/** Names what JSON cannot write; a float gets the shortest number that stands for it. */
export function normalFloat(kind: 'double' | 'float', value: number): number | string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  }
  return kind === 'double' ? value : shortestFloat(value);
}

function shortestFloat(value: number): number {
  const rounded = Math.fround(value);
  for (let digits = 6; digits <= 9; digits += 1) {
    const candidate = Number(rounded.toPrecision(digits));
    if (Math.fround(candidate) === rounded) {
      return candidate;
    }
  }
  return rounded;
}
