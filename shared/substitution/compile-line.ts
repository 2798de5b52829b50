/**
 * Assembles lines of a format, text or JSON, from readers of its commands. Knows neither what the
 * commands read nor where they read it: the caller does. A format is compiled once; running one
 * allocates nothing but the text. Texts are byte strings, those of the configuration too.
 */
import { dictionary } from '../text/dictionary.ts';
import type { AccessLogFormat, JsonFormatValue } from '../resources/access-log.ts';
import type { FormatCommand } from './format.ts';
import { escapeLogText, isUnusual } from './log-text.ts';
import { parseFormat } from './parse-format.ts';
import { jsonOf, quote, textOf } from './value.ts';
import type { JsonValue, ValueReader } from './value.ts';

export type LineFormatter<Info> = (info: Info) => string;
/** Makes the reader of one command; called once per format. */
export type ReaderOf<Info> = (command: FormatCommand) => ValueReader<Info>;

export interface FormatOptions {
  /** Missing values print as nothing instead of `-`; in JSON their members are left out. */
  readonly omitEmptyValues: boolean;
}

/** Throws when the format is wrong: the supervisor has checked every format before. */
export function compileText<Info>(
  format: string,
  { omitEmptyValues }: FormatOptions,
  readerOf: ReaderOf<Info>,
): LineFormatter<Info> {
  const parts = partsOf(format, readerOf);
  const missing = omitEmptyValues ? '' : '-';
  const [only] = parts;
  if (parts.length === 0) return () => '';
  if (parts.length === 1 && only !== undefined) {
    if (typeof only === 'string') return () => only;
    return (info) => textOf(only(info)) ?? missing;
  }
  return (info) => {
    let text = '';
    for (const part of parts)
      text += typeof part === 'string' ? part : (textOf(part(info)) ?? missing);
    return text;
  };
}

/** One line of JSON with its line end. A member whose format is one command keeps its type. */
export function compileJson<Info>(
  fields: JsonFormatValue,
  { omitEmptyValues }: FormatOptions,
  readerOf: ReaderOf<Info>,
): LineFormatter<Info> {
  const reader = jsonReader(fields, omitEmptyValues, readerOf);
  if (omitEmptyValues) return (info) => `${jsonOf(reader(info) ?? {})}\n`;
  const parts = mergeTexts(jsonParts(fields, readerOf));
  return (info) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : jsonOf(part(info));
    return `${text}\n`;
  };
}

/** A configured format, whichever kind it is. */
export function compileLine<Info>(
  format: AccessLogFormat,
  readerOf: ReaderOf<Info>,
): LineFormatter<Info> {
  const options = { omitEmptyValues: format.omitEmptyValues };
  return format.kind === 'text'
    ? compileText(format.format, options, readerOf)
    : compileJson(format.fields, options, readerOf);
}

/** The same for a log: text of peers can neither end its line nor hide in it. */
export function compileLogLine<Info>(
  format: AccessLogFormat,
  readerOf: ReaderOf<Info>,
): LineFormatter<Info> {
  if (format.kind !== 'text') return compileLine(format, readerOf);
  const missing = format.omitEmptyValues ? '' : '-';
  const parts = partsOf(format.format, readerOf);
  const last = parts.at(-1);
  const ending = typeof last === 'string' ? last : '';
  const body = typeof last === 'string' ? parts.slice(0, -1) : parts;
  // The configuration's own text is written as it stands.
  const isPlain = !body.some((part) => typeof part === 'string' && isUnusual(part));
  const write = (info: Info, valueOf: (text: string) => string): string => {
    let text = '';
    for (const part of body) {
      text += typeof part === 'string' ? part : valueOf(textOf(part(info)) ?? missing);
    }
    return text;
  };
  return (info) => {
    const text = isPlain ? write(info, asItIs) : undefined;
    const isSafe = text !== undefined && !isUnusual(text);
    return (isSafe ? text : write(info, escapeLogText)) + ending;
  };
}

function asItIs(text: string): string {
  return text;
}

function partsOf<Info>(format: string, readerOf: ReaderOf<Info>): (string | ValueReader<Info>)[] {
  const parsed = parseFormat(format);
  if (!parsed.ok) throw new Error(`cannot compile the format ${format}: ${parsed.error}`);
  return parsed.format.parts.map((part) => (typeof part === 'string' ? part : readerOf(part)));
}

/** The fixed text of a JSON line with readers where values go. */
function jsonParts<Info>(
  value: JsonFormatValue,
  readerOf: ReaderOf<Info>,
): (string | ValueReader<Info>)[] {
  if (isList(value)) {
    const items = value.map((item) => jsonParts(item, readerOf));
    return ['[', ...items.flatMap((item, index) => (index === 0 ? item : [',', ...item])), ']'];
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value)
      .sort()
      .map((key, index) => [
        `${index === 0 ? '' : ','}${quote(key)}:`,
        ...jsonParts(value[key] ?? null, readerOf),
      ]);
    return ['{', ...members.flat(), '}'];
  }
  if (typeof value !== 'string') return [jsonOf(value)];
  return [leafReader(value, false, readerOf)];
}

/** Whole values, for lines whose members come and go with the values. */
function jsonReader<Info>(
  value: JsonFormatValue,
  omitEmpty: boolean,
  readerOf: ReaderOf<Info>,
): ValueReader<Info> {
  if (isList(value)) {
    const items = value.map((item) => jsonReader(item, omitEmpty, readerOf));
    return (info) => items.map((item) => item(info)).filter(isThere);
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => [key, jsonReader(item, omitEmpty, readerOf)] as const,
    );
    const optional = members.length > 0;
    return (info) => {
      const there = dictionary<JsonValue>();
      for (const [key, reader] of members) {
        const item = reader(info);
        if (isThere(item)) there[key] = item;
      }
      return optional && Object.keys(there).length === 0 ? undefined : there;
    };
  }
  if (typeof value !== 'string') return () => value;
  return leafReader(value, omitEmpty, readerOf);
}

function leafReader<Info>(
  format: string,
  omitEmptyValues: boolean,
  readerOf: ReaderOf<Info>,
): ValueReader<Info> {
  const parts = partsOf(format, readerOf);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'function') return only;
  return compileText(format, { omitEmptyValues }, readerOf);
}

function mergeTexts<Info>(
  parts: readonly (string | ValueReader<Info>)[],
): (string | ValueReader<Info>)[] {
  const merged: (string | ValueReader<Info>)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string')
      merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return merged;
}

/** A reader whose value is cut to a command's length, where one is given. */
export function cutTo<Info>(
  maxLength: number | undefined,
  reader: ValueReader<Info>,
): ValueReader<Info> {
  if (maxLength === undefined) return reader;
  return (info) => {
    const value = reader(info);
    if (typeof value === 'string') return value.slice(0, maxLength);
    return typeof value === 'object' ? textOf(value)?.slice(0, maxLength) : value;
  };
}

/** The first of several values that is there and not empty. */
export function firstOf<Info>(readers: readonly ValueReader<Info>[]): ValueReader<Info> {
  return (info) => {
    for (const reader of readers) {
      const value = reader(info);
      if (value !== undefined && value !== null && value !== '') return value;
    }
    return undefined;
  };
}

function isThere(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

function isList(value: JsonFormatValue): value is readonly JsonFormatValue[] {
  return Array.isArray(value);
}
