/** Reads what a processor by HTTP answers: a ProcessingResponse in the JSON form of protobuf. */
import { isUtf8 } from 'node:buffer';
import { DictionaryObject, type Struct, structOf } from '../../../../shared/text/dictionary.ts';
import {
  type CommonAnswer,
  type HeaderMutation,
  type ImmediateAnswer,
  NO_COMMON_ANSWER,
  type Part,
  type ProcessorAnswer,
} from './messages.ts';

/** Thrown for what is no such message; `readJsonAnswer` catches it. */
class WrongAnswer extends Error {}

const HEADERS: ReadonlyMap<string, Part> = new Map([
  ['request_headers', 'request_headers'],
  ['response_headers', 'response_headers'],
]);
/** Fields that say nothing to a processor of headers. */
const IGNORED: ReadonlySet<string> = new Set([
  'request_body',
  'response_body',
  'request_trailers',
  'response_trailers',
  'mode_override',
  'request_drain',
  'typed_dynamic_metadata',
]);
const DURATION = /^(\d{1,12}(?:\.\d{1,9})?)s$/;

/** Undefined for what is none. */
export function readJsonAnswer(body: Buffer): ProcessorAnswer | undefined {
  if (!isUtf8(body)) return undefined;
  try {
    return readAnswer(JSON.parse(body.toString('utf8')));
  } catch (error) {
    if (error instanceof WrongAnswer || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readAnswer(message: unknown): ProcessorAnswer {
  let answer: ProcessorAnswer['answer'] = { part: 'other' };
  let metadata: Struct | undefined;
  let timeoutMs: number | undefined;
  for (const [field, value] of fieldsOf(message)) {
    const part = HEADERS.get(field);
    if (part !== undefined) answer = { part, common: readHeaders(value) };
    else if (field === 'immediate_response') {
      answer = { part: 'immediate', immediate: readImmediate(value) };
    } else if (field === 'dynamic_metadata') metadata = structOf(objectOf(value));
    else if (field === 'override_message_timeout') timeoutMs = readDuration(value);
    else if (!IGNORED.has(field)) throw new WrongAnswer();
  }
  return { answer, metadata, mode: undefined, timeoutMs };
}

function readHeaders(message: unknown): CommonAnswer {
  let common = NO_COMMON_ANSWER;
  for (const [field, value] of fieldsOf(message)) {
    if (field !== 'response') throw new WrongAnswer();
    common = readCommon(value);
  }
  return common;
}

function readCommon(message: unknown): CommonAnswer {
  let common = NO_COMMON_ANSWER;
  for (const [field, value] of fieldsOf(message)) {
    if (field === 'header_mutation') common = { ...common, headers: readMutation(value) };
    else if (field === 'clear_route_cache') common = { ...common, clearsRoute: value === true };
    else if (field === 'body_mutation') common = { ...common, body: readBody(value) };
    else if (field === 'status') {
      common = { ...common, replaces: value === 'CONTINUE_AND_REPLACE' || value === 1 };
    } else if (field !== 'trailers') throw new WrongAnswer();
  }
  return common;
}

function readBody(message: unknown): CommonAnswer['body'] {
  for (const [field, value] of fieldsOf(message)) {
    if (field === 'body') return { kind: 'body', bytes: bytesOf(value) };
    if (field === 'clear_body' && value === true) return { kind: 'clear' };
  }
  return undefined;
}

function readMutation(message: unknown): HeaderMutation {
  const set: HeaderMutation['set'][number][] = [];
  let remove: readonly string[] = [];
  for (const [field, value] of fieldsOf(message)) {
    if (field === 'set_headers') set.push(...listOf(value).map(readChange));
    else if (field === 'remove_headers') {
      remove = listOf(value).map((name) => byteText(name).toLowerCase());
    } else throw new WrongAnswer();
  }
  return { set, remove };
}

function readChange(message: unknown): HeaderMutation['set'][number] {
  let [name, value, appends] = ['', '', false];
  for (const [field, part] of fieldsOf(message)) {
    if (field === 'header') {
      for (const [key, text] of fieldsOf(part)) {
        if (key === 'key') name = byteText(text).toLowerCase();
        else if (key === 'raw_value') value = bytesOf(text).toString('latin1');
        else if (key !== 'value') throw new WrongAnswer();
      }
    } else if (field === 'append') appends = part === true;
    else if (field !== 'append_action' && field !== 'keep_empty_value') throw new WrongAnswer();
  }
  return { name, value, appends };
}

function readImmediate(message: unknown): ImmediateAnswer {
  let answer: ImmediateAnswer = {
    status: 0,
    headers: undefined,
    body: Buffer.alloc(0),
    grpcStatus: undefined,
    details: '',
  };
  for (const [field, value] of fieldsOf(message)) {
    if (field === 'status') answer = { ...answer, status: numberIn(value, 'code') };
    else if (field === 'headers') answer = { ...answer, headers: readMutation(value) };
    else if (field === 'body') answer = { ...answer, body: bytesOf(value) };
    else if (field === 'grpc_status') answer = { ...answer, grpcStatus: numberIn(value, 'status') };
    else if (field === 'details') answer = { ...answer, details: byteText(value) };
    else throw new WrongAnswer();
  }
  return answer;
}

/** A code by its name is none of those that can be told here. */
function numberIn(message: unknown, name: string): number {
  let number = 0;
  for (const [field, value] of fieldsOf(message)) {
    if (field !== name || typeof value !== 'number') throw new WrongAnswer();
    number = value;
  }
  return Math.trunc(number);
}

/** Members under the names of the .proto file, which both forms of a name stand for; null is absent. */
function fieldsOf(message: unknown): readonly (readonly [string, unknown])[] {
  return Object.entries(objectOf(message))
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (each) => `_${each.toLowerCase()}`), value]);
}

function objectOf(value: unknown): object {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || value instanceof DictionaryObject) throw new WrongAnswer();
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new WrongAnswer();
  return value;
}

/** One character per byte. */
function byteText(value: unknown): string {
  if (typeof value !== 'string') throw new WrongAnswer();
  return Buffer.from(value).toString('latin1');
}

function bytesOf(value: unknown): Buffer {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw new WrongAnswer();
  return Buffer.from(value, 'base64');
}

function readDuration(value: unknown): number {
  const [, seconds] = DURATION.exec(typeof value === 'string' ? value : '') ?? [];
  if (seconds === undefined) throw new WrongAnswer();
  return Number(seconds) * 1000;
}
