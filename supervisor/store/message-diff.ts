/** What two messages have that the other has not, as lines of paths and values. */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';

/** Lines at most; a last one says that there are more. */
const LINES_MAX = 500;
/** A value is cut here. */
const VALUE_MAX = 400;
/** Paths as deep as that are compared as a whole. */
const DEPTH_MAX = 48;

/** `- path: value` was, `+ path: value` is. */
export function diffLines(before: JsonObject | undefined, after: JsonObject | undefined): string[] {
  const lines: string[] = [];
  compare(lines, { path: '', depth: 0 }, before, after);
  if (lines.length <= LINES_MAX) return lines;
  return [...lines.slice(0, LINES_MAX), '… and more'];
}

type Value = JsonValue | undefined;

interface Place {
  readonly path: string;
  readonly depth: number;
}

function compare(lines: string[], { path, depth }: Place, before: Value, after: Value): void {
  if (before === after || lines.length > LINES_MAX) return;
  const parts = depth < DEPTH_MAX ? partsOf(before, after) : undefined;
  if (parts === undefined) {
    if (depth >= DEPTH_MAX && JSON.stringify(before) === JSON.stringify(after)) return;
    if (before !== undefined) lines.push(`- ${path}: ${shown(before)}`);
    if (after !== undefined) lines.push(`+ ${path}: ${shown(after)}`);
    return;
  }
  for (const [name, was, is] of parts) {
    const separator = name.startsWith('[') || path === '' ? '' : '.';
    compare(lines, { path: path + separator + name, depth: depth + 1 }, was, is);
  }
}

type Part = readonly [name: string, was: Value, is: Value];

/** Undefined where one of the two has no parts, unless the other is not there at all. */
function partsOf(before: Value, after: Value): Iterable<Part> | undefined {
  if (isList(before) && isList(after)) return listParts(before, after);
  if (isObject(before) && isObject(after)) return objectParts(before, after);
  if (before === undefined && isObject(after)) return objectParts({}, after);
  if (after === undefined && isObject(before)) return objectParts(before, {});
  return undefined;
}

function* objectParts(before: JsonObject, after: JsonObject): Generator<Part> {
  for (const name of Object.keys(before)) yield [name, before[name], own(after, name)];
  for (const name of Object.keys(after)) {
    if (!Object.hasOwn(before, name)) yield [name, undefined, after[name]];
  }
}

/** By their names where all have one of their own, else by their places. */
function* listParts(before: readonly JsonValue[], after: readonly JsonValue[]): Generator<Part> {
  const was = byName(before);
  const is = byName(after);
  if (was !== undefined && is !== undefined) {
    for (const [name, value] of was) yield [`[${name}]`, value, is.get(name)];
    for (const [name, value] of is) if (!was.has(name)) yield [`[${name}]`, undefined, value];
    return;
  }
  for (let at = 0; at < Math.max(before.length, after.length); at++) {
    yield [`[${at}]`, before[at], after[at]];
  }
}

function byName(list: readonly JsonValue[]): Map<string, JsonValue> | undefined {
  const named = new Map<string, JsonValue>();
  for (const each of list) {
    const name = isObject(each) ? own(each, 'name') : undefined;
    if (typeof name !== 'string' || named.has(name)) return undefined;
    named.set(name, each);
  }
  return named;
}

function own(object: JsonObject, name: string): Value {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function isList(value: Value): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isObject(value: Value): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function shown(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length <= VALUE_MAX ? text : `${text.slice(0, VALUE_MAX)}…`;
}
