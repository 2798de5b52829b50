/**
 * A tap's record as a tree of fields with their numbers, and its three forms: JSON, binary and
 * text, as protobuf prints envoy.data.tap.v3.TraceWrapper.
 */
import { quoteJson } from '../../shared/json/quote-json.ts';
import { quoteTextFormat } from '../../shared/text/text-format-escapes.ts';
import { ProtoWriter } from '../../shared/protobuf/proto-writer.ts';
import { varintBytes } from '../../shared/protobuf/records.ts';
import { repairUtf8 } from './repair-utf8.ts';

export interface TraceField {
  readonly number: number;
  readonly name: string;
  readonly value: TraceValue;
}

export type TraceValue =
  /** UTF-8 with one character per byte. */
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'uint32'; readonly value: number }
  | { readonly kind: 'uint64'; readonly value: bigint }
  | { readonly kind: 'enum'; readonly value: number; readonly name: string }
  | { readonly kind: 'message'; readonly fields: readonly TraceField[] }
  | { readonly kind: 'messages'; readonly items: readonly (readonly TraceField[])[] }
  /** Also when it is zero. */
  | { readonly kind: 'double'; readonly value: number }
  /** Unix milliseconds with a fraction. */
  | { readonly kind: 'timestamp'; readonly ms: number };

/** A field with a number and a name. */
export function field(number: number, name: string, value: TraceValue): TraceField {
  return { number, name, value };
}

export function message(number: number, name: string, fields: readonly TraceField[]): TraceField {
  return { number, name, value: { kind: 'message', fields } };
}

/** Scalars at their default are printed, as Envoy prints them; a line feed at the end. */
export function printTraceJson(fields: readonly TraceField[]): string {
  return `${jsonObject(fields, 0)}\n`;
}

function jsonObject(fields: readonly TraceField[], depth: number): string {
  if (fields.length === 0) return '{}';
  const indent = ' '.repeat(depth + 1);
  const members = fields.map(
    ({ name, value }) => `${indent}${quoteJson(name)}: ${jsonValue(value, depth + 1)}`,
  );
  return `{\n${members.join(',\n')}\n${' '.repeat(depth)}}`;
}

function jsonValue(value: TraceValue, depth: number): string {
  switch (value.kind) {
    case 'string':
      return quoteJson(Buffer.from(value.text, 'latin1').toString('utf8'));
    case 'bytes':
      return `"${value.bytes.toString('base64')}"`;
    case 'bool':
    case 'uint32':
    case 'double':
      return String(value.value);
    case 'uint64':
      return `"${value.value}"`;
    case 'enum':
      return `"${value.name}"`;
    case 'timestamp':
      return `"${new Date(value.ms).toISOString().slice(0, -5)}.${microseconds(value.ms)}Z"`;
    case 'message':
      return jsonObject(value.fields, depth);
    case 'messages':
      return jsonList(value.items, depth);
  }
}

function jsonList(items: readonly (readonly TraceField[])[], depth: number): string {
  if (items.length === 0) return '[]';
  const indent = ' '.repeat(depth + 1);
  const elements = items.map((item) => `${indent}${jsonObject(item, depth + 1)}`);
  return `[\n${elements.join(',\n')}\n${' '.repeat(depth)}]`;
}

function microseconds(ms: number): string {
  return String(Math.floor((ms % 1000) * 1000)).padStart(6, '0');
}

/** Protobuf's text format. */
export function printTraceText(fields: readonly TraceField[], indent = ''): string {
  let text = '';
  for (const { name, value } of fields) {
    if (isDefault(value)) continue;
    for (const fieldText of textValues(value, indent)) text += `${indent}${name}${fieldText}\n`;
  }
  return text;
}

function textValues(value: TraceValue, indent: string): readonly string[] {
  switch (value.kind) {
    case 'string':
      return [`: ${quoteTextFormat(value.text)}`];
    case 'bytes':
      return [`: ${quoteTextFormat(value.bytes.toString('latin1'))}`];
    case 'enum':
      return [`: ${value.name}`];
    case 'bool':
    case 'uint32':
    case 'uint64':
    case 'double':
      return [`: ${String(value.value)}`];
    case 'timestamp':
      return [textMessage(timestampFields(value.ms), indent)];
    case 'message':
      return [textMessage(value.fields, indent)];
    case 'messages':
      return value.items.map((item) => textMessage(item, indent));
  }
}

function textMessage(fields: readonly TraceField[], indent: string): string {
  return ` {\n${printTraceText(fields, `${indent}  `)}${indent}}`;
}

/** The wire format. */
export function encodeTrace(fields: readonly TraceField[]): Buffer {
  const writer = new ProtoWriter();
  writeFields(writer, fields);
  return writer.finish();
}

/** Behind its length, so that records can stand one after the other. */
export function encodeDelimitedTrace(fields: readonly TraceField[]): Buffer {
  const bytes = encodeTrace(fields);
  return Buffer.concat([varintBytes(BigInt(bytes.length)), bytes]);
}

function writeFields(writer: ProtoWriter, fields: readonly TraceField[]): void {
  for (const { number, value } of fields) writeValue(writer, number, value);
}

/** Scalars at their default are left out. */
function writeValue(writer: ProtoWriter, number: number, value: TraceValue): void {
  switch (value.kind) {
    case 'string':
      return writer.text(number, value.text);
    case 'bytes':
      return writer.bytes(number, value.bytes);
    case 'message':
      return writer.message(number, () => writeFields(writer, value.fields));
    case 'messages':
      return value.items.forEach((item) => {
        writer.message(number, () => writeFields(writer, item));
      });
    case 'timestamp':
      return writer.message(number, () => writeFields(writer, timestampFields(value.ms)));
    case 'double':
      return writer.double(number, value.value);
    case 'uint64':
      return value.value === 0n ? undefined : writer.uint64(number, value.value);
    case 'bool':
    case 'uint32':
    case 'enum':
      writer.integer(number, Number(value.value));
  }
}

function timestampFields(ms: number): readonly TraceField[] {
  const nanos = Number(microseconds(ms)) * 1000;
  return [
    field(1, 'seconds', { kind: 'uint64', value: BigInt(Math.floor(ms / 1000)) }),
    field(2, 'nanos', { kind: 'uint32', value: nanos }),
  ];
}

/** Proto3 leaves such scalars out; a list without items is not there at all. */
function isDefault(value: TraceValue): boolean {
  switch (value.kind) {
    case 'string':
      return value.text === '';
    case 'bytes':
      return value.bytes.length === 0;
    case 'bool':
      return !value.value;
    case 'uint32':
    case 'enum':
      return value.value === 0;
    case 'uint64':
      return value.value === 0n;
    case 'double':
    case 'message':
    case 'messages':
    case 'timestamp':
      return false;
  }
}

/** The same record with bodies as text: invalid UTF-8 becomes a space. */
export function withBodiesAsText(fields: readonly TraceField[]): readonly TraceField[] {
  return fields.map((one) => {
    const { value } = one;
    if (value.kind === 'message') {
      return { ...one, value: { kind: 'message', fields: withBodiesAsText(value.fields) } };
    }
    if (value.kind === 'messages') {
      return { ...one, value: { kind: 'messages', items: value.items.map(withBodiesAsText) } };
    }
    if (one.name !== 'as_bytes' || value.kind !== 'bytes') return one;
    const text = repairUtf8(value.bytes.toString('latin1'), ' ');
    return field(2, 'as_string', { kind: 'string', text });
  });
}
