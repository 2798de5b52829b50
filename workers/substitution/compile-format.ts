/**
 * Compiles substitution formats to functions of a stream. A format is compiled once, when its
 * configuration is applied; running one allocates nothing but the text. Texts are byte strings,
 * those of the configuration too.
 */
import { hostname } from 'node:os';

import { systemClock } from '../../shared/clock.ts';
import { parseFormat } from '../../shared/substitution/parse-format.ts';
import type { AccessLogFormat, JsonFormatValue } from '../../shared/resources/access-log.ts';
import type { StreamInfo } from '../http/stream-info.ts';
import { readerOf } from './command-readers.ts';
import type { SubstitutionEnvironment } from './reader-factory.ts';
import { jsonOf, quote, textOf } from './value.ts';
import type { JsonValue, Reader } from './value.ts';

export type Formatter = (info: StreamInfo) => string;

export interface FormatOptions {
  /** Missing values print as nothing instead of `-`; in JSON their members are left out. */
  readonly omitEmptyValues: boolean;
}

/** The process's own environment: what every format outside of tests reads. */
const processEnvironment: SubstitutionEnvironment = {
  clock: systemClock,
  hostname: hostname(),
  variables: process.env,
};

/** Throws when the format is wrong: the supervisor has checked every format before. */
export function compileTextFormat(
  format: string,
  { omitEmptyValues }: FormatOptions,
  environment: SubstitutionEnvironment = processEnvironment,
): Formatter {
  const parts = partsOf(format, environment);
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

/** The text of a format without commands, undefined when it has any. */
export function literalOf(format: string): string | undefined {
  const parsed = parseFormat(format);
  if (!parsed.ok) return undefined;
  const [only, ...rest] = parsed.format.parts;
  if (rest.length > 0 || typeof only === 'object') return undefined;
  return only ?? '';
}

/** One line of JSON with its line end. A member whose format is one command keeps its type. */
export function compileJsonFormat(
  fields: JsonFormatValue,
  { omitEmptyValues }: FormatOptions,
  environment: SubstitutionEnvironment = processEnvironment,
): Formatter {
  const reader = jsonReader(fields, omitEmptyValues, environment);
  if (omitEmptyValues) return (info) => `${jsonOf(reader(info) ?? {})}\n`;
  const parts = mergeTexts(jsonParts(fields, environment));
  return (info) => {
    let text = '';
    for (const part of parts) text += typeof part === 'string' ? part : jsonOf(part(info));
    return `${text}\n`;
  };
}

/** A configured format, whichever kind it is. */
export function compileLineFormat(format: AccessLogFormat): Formatter {
  const options = { omitEmptyValues: format.omitEmptyValues };
  return format.kind === 'text'
    ? compileTextFormat(format.format, options)
    : compileJsonFormat(format.fields, options);
}

function partsOf(format: string, environment: SubstitutionEnvironment): (string | Reader)[] {
  const parsed = parseFormat(format);
  if (!parsed.ok) throw new Error(`cannot compile the format ${format}: ${parsed.error}`);
  return parsed.format.parts.map((part) =>
    typeof part === 'string' ? part : readerOf(part, environment),
  );
}

/** The fixed text of a JSON line with readers where values go. */
function jsonParts(
  value: JsonFormatValue,
  environment: SubstitutionEnvironment,
): (string | Reader)[] {
  if (isList(value)) {
    const items = value.map((item) => jsonParts(item, environment));
    return ['[', ...items.flatMap((item, index) => (index === 0 ? item : [',', ...item])), ']'];
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.keys(value)
      .sort()
      .map((key, index) => [
        `${index === 0 ? '' : ','}${quote(key)}:`,
        ...jsonParts(value[key] ?? null, environment),
      ]);
    return ['{', ...members.flat(), '}'];
  }
  if (typeof value !== 'string') return [jsonOf(value)];
  return [leafReader(value, false, environment)];
}

/** Whole values, for lines whose members come and go with the values. */
function jsonReader(
  value: JsonFormatValue,
  omitEmpty: boolean,
  environment: SubstitutionEnvironment,
): Reader {
  if (isList(value)) {
    const items = value.map((item) => jsonReader(item, omitEmpty, environment));
    return (info) => items.map((item) => item(info)).filter(isThere);
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, item]) => [key, jsonReader(item, omitEmpty, environment)] as const,
    );
    const optional = members.length > 0;
    return (info) => {
      const there: Record<string, JsonValue> = {};
      for (const [key, reader] of members) {
        const item = reader(info);
        if (isThere(item)) there[key] = item;
      }
      return optional && Object.keys(there).length === 0 ? undefined : there;
    };
  }
  if (typeof value !== 'string') return () => value;
  return leafReader(value, omitEmpty, environment);
}

function leafReader(
  format: string,
  omitEmptyValues: boolean,
  environment: SubstitutionEnvironment,
): Reader {
  const parts = partsOf(format, environment);
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'function') return only;
  return compileTextFormat(format, { omitEmptyValues }, environment);
}

function mergeTexts(parts: readonly (string | Reader)[]): (string | Reader)[] {
  const merged: (string | Reader)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string')
      merged[merged.length - 1] = last + part;
    else merged.push(part);
  }
  return merged;
}

function isThere(value: JsonValue | undefined): value is JsonValue {
  return value !== undefined && value !== null;
}

function isList(value: JsonFormatValue): value is readonly JsonFormatValue[] {
  return Array.isArray(value);
}
