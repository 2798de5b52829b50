/** google.protobuf.Struct on the wire, and as the dictionaries that metadata are made of. */
import {
  dictionary,
  DictionaryObject,
  type Dictionary,
  type MutableDictionary,
  type Struct,
} from '../text/dictionary.ts';
import { type ProtoField, readMessage, visitFields } from './proto-reader.ts';
import type { ProtoWriter } from './proto-writer.ts';

/** Messages inside of the outermost one. */
const NESTING_MAX = 100;

/** Within `readMessage`. */
export function readStruct(bytes: Buffer): Struct {
  return structIn(bytes, dictionary<unknown>(), 0);
}

/** Reads a google.protobuf.Value on its own; undefined when the bytes are no such message. */
export function readValue(bytes: Buffer): { readonly value: unknown } | undefined {
  return readMessage(bytes, () => ({ value: fieldsOfValue(bytes, null, 0) }));
}

function structIn(
  bytes: Buffer,
  members: MutableDictionary<unknown>,
  depth: number,
): MutableDictionary<unknown> {
  visitFields(bytes, (field) => {
    if (field.number === 1) readMember(field, members, depth + 1);
  });
  return members;
}

function readMember(field: ProtoField, members: MutableDictionary<unknown>, depth: number): void {
  let key = '';
  let value: unknown = null;
  field.message((part) => {
    if (part.number === 1) key = part.utf8() ?? key;
    else if (part.number === 2) value = valueIn(part, value, depth + 1);
  });
  members[key] = value;
}

/** A message that comes twice adds to the first. */
function valueIn(field: ProtoField, before: unknown, depth: number): unknown {
  if (depth > NESTING_MAX) field.refuse();
  const bytes = field.bytes();
  return bytes === undefined ? before : fieldsOfValue(bytes, before, depth);
}

function fieldsOfValue(bytes: Buffer, before: unknown, depth: number): unknown {
  let value = before;
  visitFields(bytes, (part) => {
    if (part.number === 1) value = part.integer() === undefined ? value : null;
    else if (part.number === 2) value = part.double() ?? value;
    else if (part.number === 3) value = part.utf8() ?? value;
    else if (part.number === 4) value = part.integer() === undefined ? value : part.integer() !== 0;
    else if (part.number === 5) value = nestedStruct(part, value, depth + 1);
    else if (part.number === 6) value = nestedList(part, value, depth + 1);
  });
  return value;
}

function nestedStruct(field: ProtoField, before: unknown, depth: number): unknown {
  const bytes = field.bytes();
  if (bytes === undefined) return before;
  if (depth > NESTING_MAX) field.refuse();
  const known = before instanceof DictionaryObject ? before : dictionary<unknown>();
  return structIn(bytes, known as MutableDictionary<unknown>, depth);
}

function nestedList(field: ProtoField, before: unknown, depth: number): unknown {
  if (field.bytes() === undefined) return before;
  if (depth > NESTING_MAX) field.refuse();
  const items: unknown[] = Array.isArray(before) ? before : [];
  field.message((part) => {
    if (part.number === 1) items.push(valueIn(part, null, depth + 1));
  });
  return items;
}

/** What is none of a Struct's kinds is written as null. */
export function writeStruct(writer: ProtoWriter, field: number, struct: Dictionary<unknown>): void {
  writer.message(field, () => writeMembers(writer, struct));
}

/** The same of a message of its own. */
export function writeMembers(writer: ProtoWriter, struct: Dictionary<unknown>): void {
  for (const [key, value] of Object.entries(struct)) {
    writer.message(1, () => {
      writer.utf8(1, key);
      writer.message(2, () => writeValue(writer, value));
    });
  }
}

function writeValue(writer: ProtoWriter, value: unknown): void {
  if (typeof value === 'number') writer.double(2, value);
  else if (typeof value === 'string') writeText(writer, value);
  else if (typeof value === 'boolean') writer.integerOfOneof(4, value ? 1 : 0);
  else if (Array.isArray(value)) {
    writer.message(6, () => {
      for (const item of value) writer.message(1, () => writeValue(writer, item));
    });
  } else if (typeof value === 'object' && value !== null) writeStruct(writer, 5, value as Struct);
  else writer.integerOfOneof(1, 0);
}

/** A member of a oneof is there when it is empty too. */
function writeText(writer: ProtoWriter, text: string): void {
  if (text === '') writer.message(3, () => undefined);
  else writer.utf8(3, text);
}
