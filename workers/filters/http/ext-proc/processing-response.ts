/** Reads envoy.service.ext_proc.v3.ProcessingResponse. Later fields of a oneof replace earlier ones. */
import type { ProcessingMode } from '../../../../shared/resources/filters/http/ext-proc/ext-proc.ts';
import type { Struct } from '../../../../shared/text/dictionary.ts';
import {
  type ProtoField,
  readMessage,
  visitFields,
} from '../../../../shared/protobuf/proto-reader.ts';
import { readStruct } from '../../../../shared/protobuf/struct-message.ts';
import {
  type BodyMutation,
  type CommonAnswer,
  type HeaderChange,
  type HeaderMutation,
  type ImmediateAnswer,
  NO_COMMON_ANSWER,
  type Part,
  type ProcessorAnswer,
} from './messages.ts';

const CONTINUE_AND_REPLACE = 1;

const PARTS: ReadonlyMap<number, Part> = new Map([
  [1, 'request_headers'],
  [2, 'response_headers'],
  [3, 'request_body'],
  [4, 'response_body'],
  [5, 'request_trailers'],
  [6, 'response_trailers'],
]);
const IMMEDIATE = 7;
const STREAMED_IMMEDIATE = 11;

/** Undefined where the bytes are no such message. */
export function readProcessingResponse(message: Buffer): ProcessorAnswer | undefined {
  return readMessage(message, readResponse);
}

function readResponse(bytes: Buffer): ProcessorAnswer {
  let answer: ProcessorAnswer['answer'] = { part: 'other' };
  let metadata: Struct | undefined;
  let mode: ProcessingMode | undefined;
  let timeoutMs: number | undefined;
  visitFields(bytes, (field) => {
    const part = PARTS.get(field.number);
    if (part !== undefined) {
      answer = {
        part,
        common: part.endsWith('trailers') ? readTrailers(field) : readCommonOf(field),
      };
    } else if (field.number === IMMEDIATE) {
      answer = { part: 'immediate', immediate: readImmediate(field) };
    } else if (field.number === STREAMED_IMMEDIATE) answer = { part: 'other' };
    else if (field.number === 8) metadata = structIn(field) ?? metadata;
    else if (field.number === 9) mode = readMode(field);
    else if (field.number === 10) timeoutMs = readDuration(field);
  });
  return { answer, metadata, mode, timeoutMs };
}

/** HeadersResponse and BodyResponse have the same field. */
function readCommonOf(field: ProtoField): CommonAnswer {
  let common = NO_COMMON_ANSWER;
  field.message((part) => {
    if (part.number === 1) common = readCommon(part);
  });
  return common;
}

function readCommon(field: ProtoField): CommonAnswer {
  let [replaces, clearsRoute] = [false, false];
  let headers: HeaderMutation | undefined;
  let body: BodyMutation | undefined;
  field.message((part) => {
    if (part.number === 1) replaces = part.int32() === CONTINUE_AND_REPLACE;
    else if (part.number === 2) headers = readMutation(part);
    else if (part.number === 3) body = readBody(part);
    else if (part.number === 5) clearsRoute = part.integer() !== 0;
  });
  return { replaces, headers, body, clearsRoute };
}

function readTrailers(field: ProtoField): CommonAnswer {
  let headers: HeaderMutation | undefined;
  field.message((part) => {
    if (part.number === 1) headers = readMutation(part);
  });
  return { ...NO_COMMON_ANSWER, headers };
}

function readMutation(field: ProtoField): HeaderMutation {
  const set: HeaderChange[] = [];
  const remove: string[] = [];
  field.message((part) => {
    if (part.number === 1) set.push(readChange(part));
    else if (part.number === 2) remove.push((part.text() ?? '').toLowerCase());
  });
  return { set, remove };
}

/**
 * Reads a change: only the bytes of a value count, and only the older field of how it is put in, as
 * in Envoy.
 */
function readChange(field: ProtoField): HeaderChange {
  let [name, value, appends] = ['', '', false];
  field.message((part) => {
    if (part.number === 1) {
      part.message((header) => {
        if (header.number === 1) name = (header.text() ?? name).toLowerCase();
        else if (header.number === 2) header.text();
        else if (header.number === 3) value = header.bytes()?.toString('latin1') ?? value;
      });
    } else if (part.number === 2) appends = readFlag(part);
  });
  return { name, value, appends };
}

/** google.protobuf.BoolValue. */
function readFlag(field: ProtoField): boolean {
  let flag = false;
  field.message((part) => {
    if (part.number === 1) flag = part.integer() !== 0;
  });
  return flag;
}

function readBody(field: ProtoField): BodyMutation | undefined {
  let body: BodyMutation | undefined;
  field.message((part) => {
    const bytes = part.bytes();
    if (part.number === 1 && bytes !== undefined) body = { kind: 'body', bytes };
    else if (part.number === 2 && part.integer() === 1) body = { kind: 'clear' };
    else if (part.number === 3) body = readStreamed(part);
  });
  return body;
}

function readStreamed(field: ProtoField): BodyMutation {
  let bytes: Buffer = Buffer.alloc(0);
  let endOfStream = false;
  field.message((part) => {
    if (part.number === 1) bytes = part.bytes() ?? bytes;
    else if (part.number === 2) endOfStream = part.integer() !== 0;
  });
  return { kind: 'streamed', bytes, endOfStream };
}

function readImmediate(field: ProtoField): ImmediateAnswer {
  let [status, details] = [0, ''];
  let headers: HeaderMutation | undefined;
  let body: Buffer = Buffer.alloc(0);
  let grpcStatus: number | undefined;
  field.message((part) => {
    if (part.number === 1) status = firstNumber(part);
    else if (part.number === 2) headers = readMutation(part);
    else if (part.number === 3) body = part.bytes() ?? body;
    else if (part.number === 4) grpcStatus = firstNumber(part);
    else if (part.number === 5) details = part.text() ?? details;
  });
  return { status, headers, body, grpcStatus, details };
}

/** HttpStatus and GrpcStatus have their number first. */
function firstNumber(field: ProtoField): number {
  let value = 0;
  field.message((part) => {
    if (part.number === 1) value = part.int32() ?? value;
  });
  return value;
}

function readMode(field: ProtoField): ProcessingMode {
  const numbers = [0, 0, 0, 0, 0, 0, 0];
  field.message((part) => {
    if (part.number < numbers.length) numbers[part.number] = part.int32() ?? 0;
  });
  const [, requestHeaders = 0, responseHeaders = 0, requestBody = 0, responseBody = 0] = numbers;
  const [requestTrailers = 0, responseTrailers = 0] = numbers.slice(5);
  return {
    requestHeaders,
    responseHeaders,
    requestBody,
    responseBody,
    requestTrailers,
    responseTrailers,
  };
}

function readDuration(field: ProtoField): number {
  let [seconds, nanos] = [0, 0];
  field.message((part) => {
    if (part.number === 1) seconds = part.integer() ?? seconds;
    else if (part.number === 2) nanos = part.int32() ?? nanos;
  });
  return seconds * 1000 + nanos / 1e6;
}

function structIn(field: ProtoField): Struct | undefined {
  const bytes = field.bytes();
  return bytes && readStruct(bytes);
}
