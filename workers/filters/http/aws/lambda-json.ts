/** What a function is told of a request, and what it says in answer: two JSON schemas of Envoy's. */
import { dictionary } from '../../../../shared/text/dictionary.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';

const TEXT_TYPES = /^(?:text\/.*|application\/(?:json|xml|javascript))$/i;
const STATUS_MIN = 200;
const STATUS_MAX = 999;

export function requestJson(headers: HeaderMap, body: Buffer): Buffer {
  const query = queryOf(headers.path);
  const isText = body.length === 0 || TEXT_TYPES.test(headers.get('content-type') ?? '');
  const fields: [string, string][] = [];
  const names = new Set<string>();
  headers.forEach((name) => {
    if (!name.startsWith(':')) names.add(name);
  });
  for (const name of names) fields.push([name, utf8(headers.getAll(name) ?? '')]);
  return Buffer.from(
    JSON.stringify({
      raw_path: utf8(headers.path),
      method: headers.method,
      headers: dictionary(fields),
      query_string_parameters: dictionary(query),
      body: body.toString(isText ? 'utf8' : 'base64'),
      is_base64_encoded: !isText,
    }),
  );
}

/** The first of parameters of one name counts, as in Envoy. */
function queryOf(path: string): ReadonlyMap<string, string> {
  const question = path.indexOf('?');
  const parameters = new Map<string, string>();
  if (question === -1) return parameters;
  for (const each of path.slice(question + 1).split('&')) {
    if (each === '') continue;
    const equals = each.indexOf('=');
    const name = utf8(equals === -1 ? each : each.slice(0, equals));
    if (!parameters.has(name))
      parameters.set(name, equals === -1 ? '' : utf8(each.slice(equals + 1)));
  }
  return parameters;
}

export interface FunctionAnswer {
  /** Absent: the status of the answer that carried it. */
  readonly status?: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

/** Undefined: it is not what a function should say. */
export function readAnswer(bytes: Buffer): FunctionAnswer | undefined {
  const said = parseObject(bytes);
  // What is null is not said.
  const of = (name: string): unknown => said?.get(name) ?? undefined;
  const status = readStatus(of('status_code'));
  const headers = readHeaders(of('headers'));
  const cookies = readCookies(of('cookies'));
  const body = readBody(of('body'), of('is_base64_encoded'));
  if (said === undefined || status === 'bad' || !headers || !cookies || !body) return undefined;
  return { ...(status === undefined ? {} : { status }), headers, cookies, body };
}

function parseObject(bytes: Buffer): ReadonlyMap<string, unknown> | undefined {
  try {
    const said: unknown = JSON.parse(bytes.toString());
    if (typeof said !== 'object' || said === null || Array.isArray(said)) return undefined;
    return new Map<string, unknown>(Object.entries(said));
  } catch {
    return undefined;
  }
}

/** Zero is as if nothing were said. */
function readStatus(value: unknown): number | undefined | 'bad' {
  if (value === undefined) return undefined;
  const status = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
  if (status === 0) return undefined;
  if (typeof status !== 'number' || !Number.isInteger(status)) return 'bad';
  return status >= STATUS_MIN && status <= STATUS_MAX ? status : 'bad';
}

function readHeaders(value: unknown): readonly (readonly [string, string])[] | undefined {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const headers: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return undefined;
    if (!name.startsWith(':')) headers.push([name.toLowerCase(), byteText(text)]);
  }
  return headers;
}

function readCookies(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((each) => typeof each === 'string');
  return texts.length === list.length ? texts.map(byteText) : undefined;
}

function readBody(value: unknown = '', isBase64: unknown = false): Buffer | undefined {
  if (typeof value !== 'string' || typeof isBase64 !== 'boolean') return undefined;
  if (!isBase64) return Buffer.from(value);
  const isWhole = /^[A-Za-z0-9+/]*={0,2}$/.test(value) && value.length % 4 === 0;
  return Buffer.from(isWhole ? value : '', 'base64');
}

/** Header text has one character per byte, JSON has characters. */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}

function byteText(text: string): string {
  return Buffer.from(text).toString('latin1');
}
