/** Encodes normalised messages into protobuf's binary form, fields in the order of the API. */
import protobuf from 'protobufjs/minimal.js';
import type { FieldKind, ScalarKind } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { isMessageObject, textOf } from './message-object.ts';
import { toFields } from './well-known-form.ts';

/** The message must be normalised; an Any of a type that the API does not have has its bytes. */
export function encodeMessage(catalog: ApiCatalog, type: MessageType, value: unknown): Uint8Array {
  const writer = protobuf.Writer.create();
  writeMessage(catalog, type, value, writer);
  return writer.finish();
}

function writeMessage(
  catalog: ApiCatalog,
  type: MessageType,
  value: unknown,
  writer: protobuf.Writer,
): void {
  if (type.fullName === 'google.protobuf.Any') {
    writeAny(catalog, value, writer);
    return;
  }
  const message = toFields(type.fullName, value);
  for (const field of type.fields) {
    if (Object.hasOwn(message, field.name)) {
      writeField(catalog, field, message[field.name], writer);
    }
  }
}

function writeAny(catalog: ApiCatalog, value: unknown, writer: protobuf.Writer): void {
  const any = isMessageObject(value) ? value : {};
  const url = textOf(any['@type']);
  if (url === '') {
    return;
  }
  const type = catalog.findMessage(url.slice(url.lastIndexOf('/') + 1));
  writer.uint32(tag(1, 2)).string(url);
  if (type === undefined) {
    writer.uint32(tag(2, 2)).bytes(Buffer.from(textOf(any['value']), 'base64'));
    return;
  }
  const wellKnown =
    type.fullName.startsWith('google.protobuf.') && type.fullName !== 'google.protobuf.Empty';
  writer.uint32(tag(2, 2)).bytes(encodeMessage(catalog, type, wellKnown ? any['value'] : any));
}

function writeField(
  catalog: ApiCatalog,
  field: FieldType,
  value: unknown,
  writer: protobuf.Writer,
): void {
  if (field.isMap) {
    writeMap(catalog, field, value, writer);
  } else if (field.isList) {
    writeList(catalog, field, Array.isArray(value) ? (value as unknown[]) : [], writer);
  } else {
    writeValue(catalog, field, value, { writer, number: field.number });
  }
}

function writeMap(
  catalog: ApiCatalog,
  field: FieldType,
  value: unknown,
  writer: protobuf.Writer,
): void {
  const keyKind = field.descriptor.mapKey ?? 'string';
  for (const [key, item] of Object.entries(isMessageObject(value) ? value : {})) {
    writer.uint32(tag(field.number, 2)).fork();
    writer.uint32(tag(1, wireType(keyKind)));
    writeScalar(keyKind, keyKind === 'bool' ? key === 'true' : key, writer);
    writeValue(catalog, field, item, { writer, number: 2 });
    writer.ldelim();
  }
}

function writeList(
  catalog: ApiCatalog,
  field: FieldType,
  values: readonly unknown[],
  writer: protobuf.Writer,
): void {
  const packable = field.kind !== 'message' && wireType(field.kind) !== 2;
  if (!packable || field.descriptor.unpacked === true) {
    for (const value of values) {
      writeValue(catalog, field, value, { writer, number: field.number });
    }
    return;
  }
  writer.uint32(tag(field.number, 2)).fork();
  for (const value of values) {
    writePlain(field, value, writer);
  }
  writer.ldelim();
}

function writeValue(
  catalog: ApiCatalog,
  field: FieldType,
  value: unknown,
  { writer, number }: { writer: protobuf.Writer; number: number },
): void {
  writer.uint32(tag(number, wireType(field.kind)));
  if (field.kind === 'message') {
    writer.fork();
    writeMessage(catalog, field.message, value, writer);
    writer.ldelim();
  } else {
    writePlain(field, value, writer);
  }
}

function writePlain(field: FieldType, value: unknown, writer: protobuf.Writer): void {
  if (field.kind === 'enum') {
    const number = typeof value === 'number' ? value : (field.enum.numberOf(String(value)) ?? 0);
    writer.int32(number);
  } else if (field.kind !== 'message') {
    writeScalar(field.kind, value, writer);
  }
}

function writeScalar(kind: ScalarKind, value: unknown, writer: protobuf.Writer): void {
  switch (kind) {
    case 'string':
      writer.string(String(value));
      break;
    case 'bytes':
      writer.bytes(Buffer.from(String(value), 'base64'));
      break;
    case 'bool':
      writer.bool(value === true);
      break;
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      writer[kind](String(value));
      break;
    default:
      writer[kind](Number(value));
  }
}

function tag(number: number, wire: number): number {
  return ((number << 3) | wire) >>> 0;
}

function wireType(kind: FieldKind): number {
  switch (kind) {
    case 'string':
    case 'bytes':
    case 'message':
      return 2;
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return 1;
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return 5;
    default:
      return 0;
  }
}
