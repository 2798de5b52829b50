/**
 * The values of CEL and how they compare. Integers are bigints, doubles numbers, strings byte
 * strings; what JavaScript has no type for has a class here. An error is a value too: an expression
 * goes on with it, and `||` may not need it.
 */
import { memberOf } from '../../shared/text/dictionary.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { toByteString } from '../../shared/regex/byte-string.ts';

export class CelUint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class CelBytes {
  /** One character per byte. */
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Nanoseconds. */
export class CelDuration {
  readonly ns: bigint;
  constructor(ns: bigint) {
    this.ns = ns;
  }
}

/** Nanoseconds since 1970. */
export class CelTimestamp {
  readonly ns: bigint;
  constructor(ns: bigint) {
    this.ns = ns;
  }
}

export class CelType {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

export class CelFailure {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** Maps whose members are made when they are asked for. */
export interface CelMap {
  readonly isMap: true;
  readonly size: number;
  get(key: CelValue): CelValue | undefined;
  /** All keys, where the map can tell them. */
  keys(): readonly CelValue[];
  /** A message of the API prints as its text, everything else as a map. */
  readonly text?: () => string;
}

export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | CelUint
  | CelBytes
  | CelDuration
  | CelTimestamp
  | CelType
  | CelFailure
  | CelMap
  | readonly CelValue[];

export const NO_SUCH_KEY = new CelFailure('Key not found in map');
export const NO_OVERLOAD = new CelFailure('No matching overloads found');

export function isMap(value: CelValue): value is CelMap {
  return typeof value === 'object' && value !== null && 'isMap' in value;
}

export function isList(value: CelValue): value is readonly CelValue[] {
  return Array.isArray(value);
}

/** The number of any of the three types, undefined for everything else. */
export function numberOf(value: CelValue): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return value instanceof CelUint ? value.value : undefined;
}

/** A map of texts or numbers that an expression wrote. */
export class LiteralMap implements CelMap {
  readonly isMap = true;
  readonly #members = new Map<string | bigint | number | boolean, CelValue>();

  set(key: CelValue, value: CelValue): boolean {
    const plain = plainKey(key);
    if (plain === undefined || this.#members.has(plain)) return false;
    this.#members.set(plain, value);
    return true;
  }

  get size(): number {
    return this.#members.size;
  }

  get(key: CelValue): CelValue | undefined {
    const plain = plainKey(key);
    return plain === undefined ? undefined : this.#members.get(plain);
  }

  keys(): readonly CelValue[] {
    return [...this.#members.keys()];
  }
}

/** Keys of different number types are the same where the numbers are. */
function plainKey(key: CelValue): string | bigint | number | boolean | undefined {
  if (typeof key === 'string' || typeof key === 'boolean') return key;
  const number = numberOf(key);
  return typeof number === 'number' && Number.isInteger(number) ? BigInt(number) : number;
}

/** An object of JSON, such as metadata. Its texts are those of the configuration. */
export class JsonMap implements CelMap {
  readonly isMap = true;
  readonly #object: object;

  constructor(object: object) {
    this.#object = object;
  }

  get size(): number {
    return Object.keys(this.#object).length;
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') return undefined;
    const value = memberOf(this.#object, Buffer.from(key, 'latin1').toString('utf8'));
    return value === undefined ? undefined : fromJson(value);
  }

  keys(): readonly CelValue[] {
    return Object.keys(this.#object).map(toByteString);
  }
}

/** By namespace, as dynamic metadata is kept. */
export class NamespaceMap implements CelMap {
  readonly isMap = true;
  readonly #map: ReadonlyMap<string, object>;

  constructor(map: ReadonlyMap<string, object>) {
    this.#map = map;
  }

  get size(): number {
    return this.#map.size;
  }

  get(key: CelValue): CelValue | undefined {
    const found =
      typeof key === 'string'
        ? this.#map.get(Buffer.from(key, 'latin1').toString('utf8'))
        : undefined;
    return found && new JsonMap(found);
  }

  keys(): readonly CelValue[] {
    return [...this.#map.keys()].map(toByteString);
  }
}

const PSEUDO_HEADERS: readonly string[] = [':method', ':path', ':authority', ':scheme', ':status'];

/** Headers by name; several of a name are joined by commas. */
export class HeadersMap implements CelMap {
  readonly isMap = true;
  readonly #headers: HeaderMap | undefined;

  constructor(headers: HeaderMap | undefined) {
    this.#headers = headers;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: CelValue): CelValue | undefined {
    return typeof key === 'string' ? headerOf(this.#headers, key.toLowerCase()) : undefined;
  }

  keys(): readonly CelValue[] {
    const headers = this.#headers;
    const names = new Set(PSEUDO_HEADERS.filter((name) => headers?.getAll(name) !== undefined));
    headers?.forEach((name) => names.add(name));
    return [...names];
  }
}

export function headerOf(headers: HeaderMap | undefined, lowerName: string): string | undefined {
  return headers?.getAll(lowerName === 'host' ? ':authority' : lowerName);
}

function fromJson(value: unknown): CelValue {
  if (typeof value === 'string') return toByteString(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(fromJson);
  return typeof value === 'object' && value !== null ? new JsonMap(value) : null;
}

/** Deeper values differ: no peer makes us compare without end. */
const DEPTH_MAX = 100;

export function areEqual(one: CelValue, other: CelValue, depth = 0): boolean {
  if (one === other) return true;
  const [left, right] = [numberOf(one), numberOf(other)];
  if (left !== undefined && right !== undefined) {
    // oxlint-disable-next-line eqeqeq -- a bigint and a number of the same value
    return left == right;
  }
  if (depth > DEPTH_MAX) return false;
  if (isList(one) && isList(other)) {
    return (
      one.length === other.length &&
      one.every((item, index) => areEqual(item, other[index] ?? null, depth + 1))
    );
  }
  if (isMap(one) && isMap(other)) return areMapsEqual(one, other, depth);
  return areScalarsEqual(one, other);
}

function areMapsEqual(one: CelMap, other: CelMap, depth: number): boolean {
  if (one.size !== other.size) return false;
  return one.keys().every((key) => {
    const [left, right] = [one.get(key), other.get(key)];
    return left !== undefined && right !== undefined && areEqual(left, right, depth + 1);
  });
}

function areScalarsEqual(one: CelValue, other: CelValue): boolean {
  if (one instanceof CelBytes && other instanceof CelBytes) return one.text === other.text;
  if (one instanceof CelDuration && other instanceof CelDuration) return one.ns === other.ns;
  if (one instanceof CelTimestamp && other instanceof CelTimestamp) return one.ns === other.ns;
  return one instanceof CelType && other instanceof CelType && one.name === other.name;
}

/** Negative, zero or positive; NaN where nothing is less or more; undefined for what has no order. */
export function compareValues(one: CelValue, other: CelValue): number | undefined {
  const [left, right] = [numberOf(one), numberOf(other)];
  if (left !== undefined && right !== undefined) return order(left, right);
  if (typeof one === 'string' && typeof other === 'string') return order(one, other);
  if (typeof one === 'boolean' && typeof other === 'boolean') return Number(one) - Number(other);
  if (one instanceof CelBytes && other instanceof CelBytes) return order(one.text, other.text);
  if (one instanceof CelDuration && other instanceof CelDuration) return order(one.ns, other.ns);
  if (one instanceof CelTimestamp && other instanceof CelTimestamp) return order(one.ns, other.ns);
  return undefined;
}

function order<Kind extends bigint | number | string>(one: Kind, other: Kind): number {
  if (one < other) return -1;
  if (one > other) return 1;
  return typeof one === typeof other && one !== other ? Number.NaN : 0;
}

export function typeNameOf(value: CelValue): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'double';
    case 'string':
      return 'string';
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: CelValue): string {
  if (value === null) return 'null_type';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof CelBytes) return 'bytes';
  if (value instanceof CelDuration) return 'google.protobuf.Duration';
  if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp';
  if (value instanceof CelType) return 'type';
  return isList(value) ? 'list' : 'map';
}
