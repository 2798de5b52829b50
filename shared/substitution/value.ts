/**
 * What a substitution command yields, and how values become text and JSON. Texts are byte strings:
 * one character per byte, as they come from sockets and go to files (latin1).
 */
import { dictionary, type Dictionary } from '../text/dictionary.ts';
import { isUtf8 } from 'node:buffer';

import { toByteString } from '../regex/byte-string.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | Dictionary<JsonValue>;

/** Undefined: there is no value; text formats then print `-`, JSON formats `null`. */
export type ValueReader<Info> = (info: Info) => JsonValue | undefined;

/** The text of a value; undefined stays undefined, as does JSON's null. */
export function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'object' ? jsonOf(value) : String(value);
}

/** A value as JSON, in byte characters; the keys of objects in order of their names. */
export function jsonOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return quote(value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value)) return 'null';
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(jsonOf).join(',')}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${quote(key)}:${jsonOf(value[key])}`);
  return `{${members.join(',')}}`;
}

function isList(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

// oxlint-disable-next-line no-control-regex -- control characters are what JSON must escape
const NEEDS_CARE = /["\\\x00-\x1f\x80-\uffff]/;
const NEEDS_CARES = new RegExp(NEEDS_CARE, 'g');

const NO_BYTE = /[\u0100-\uffff]/;

/**
 * A JSON string; bytes that are not UTF-8 become `\u0080` to `\u00ff`, so that a line stays valid.
 */
export function quote(text: string): string {
  if (!NEEDS_CARE.test(text)) return `"${text}"`;
  // Cut to bytes as it is written, it would end the line.
  if (NO_BYTE.test(text)) return quote(toByteString(text));
  if (isUtf8(Buffer.from(text, 'latin1'))) return JSON.stringify(text);
  // As in Envoy: then every character that needs care is written by its number.
  const byNumber = text.replace(NEEDS_CARES, (char) => {
    return `\\u00${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${byNumber}"`;
}

/**
 * Configured texts (names, metadata) as values: byte strings inside and out. Objects are copied;
 * do it once per configuration, not per request, where the value allows.
 */
export function fromConfiguration(value: unknown): JsonValue | undefined {
  if (typeof value === 'string') return toByteString(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => fromConfiguration(one) ?? null);
  if (typeof value !== 'object') return undefined;
  return dictionary(
    Object.entries(value).map(([key, one]) => [toByteString(key), fromConfiguration(one) ?? null]),
  );
}
