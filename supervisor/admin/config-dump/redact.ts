/**
 * Replaces everything that the API marks as sensitive before a message leaves the process. A field
 * inside a sensitive one is sensitive too, and a TypedStruct is read as the type that it names.
 * Other untyped configuration (Struct) carries no marks and is redacted only below a sensitive
 * field.
 */
import { dictionary } from '../../../shared/text/dictionary.ts';
import { REDACTED } from '../../../shared/text/secret-names.ts';
import { typeNameOf } from '../../config/type-name.ts';
import type { FieldDescriptor } from '../../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type { MessageTypes } from '../message-types.ts';
import { isTypedStruct, readTypedStruct } from './typed-struct.ts';

const REDACTED_BYTES = Buffer.from(REDACTED).toString('base64');

/** Returns the message itself where nothing in it had to change. */
export function redact(
  types: MessageTypes,
  typeName: string,
  message: JsonObject,
  isSecret = false,
): JsonObject {
  const ownType = message['@type'];
  const actual = typeof ownType === 'string' ? typeNameOf(ownType) : typeName;
  if (isTypedStruct(actual)) return redactTypedStruct(types, actual, message, isSecret);
  const descriptor = types.find(actual);
  if (descriptor === undefined || actual.startsWith('google.protobuf.')) {
    return isSecret ? (redactUntyped(message) as JsonObject) : message;
  }
  let copy: Record<string, JsonValue> | undefined;
  for (const [name, value] of Object.entries(message)) {
    const field = types.field(descriptor, name);
    if (field === undefined) continue;
    const clean = redactField(types, field, value, isSecret || field.sensitive === true);
    if (clean === value) continue;
    copy ??= { ...message };
    if (clean === undefined) delete copy[name];
    else copy[name] = clean;
  }
  return copy ?? message;
}

/** A value that cannot be read as its type may hold anything. */
function redactTypedStruct(
  types: MessageTypes,
  typeName: string,
  struct: JsonObject,
  isSecret: boolean,
): JsonObject {
  const { type_url: url, value } = struct;
  if (value === undefined) return struct;
  const inner = readTypedStruct(typeName, struct);
  if (inner === undefined || typeof url !== 'string') {
    return { ...struct, value: redactUntyped(value) };
  }
  const { '@type': _url, ...clean } = redact(types, typeNameOf(url), inner, isSecret);
  return { ...struct, value: clean };
}

/** Undefined: numbers, booleans and enums are left out, as Envoy does. */
function redactField(
  types: MessageTypes,
  field: FieldDescriptor,
  value: JsonValue,
  isSecret: boolean,
): JsonValue | undefined {
  if (field.mapKey !== undefined) {
    return changedEntries(value as JsonObject, (inner) =>
      redactValue(types, field, inner, isSecret),
    );
  }
  if (!Array.isArray(value)) return redactValue(types, field, value, isSecret);
  const list = value as readonly JsonValue[];
  const clean = list.map((inner) => redactValue(types, field, inner, isSecret));
  return clean.some((inner, index) => inner !== list[index])
    ? clean.filter((inner) => inner !== undefined)
    : list;
}

function redactValue(
  types: MessageTypes,
  field: FieldDescriptor,
  value: JsonValue,
  isSecret: boolean,
): JsonValue | undefined {
  if (field.kind === 'message' && field.type !== undefined) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return redact(types, field.type, value as JsonObject, isSecret);
    }
    return isSecret ? redactUntyped(value) : value;
  }
  if (!isSecret) return value;
  if (field.kind === 'bytes') return REDACTED_BYTES;
  return field.kind === 'string' ? REDACTED : undefined;
}

/** Values without a type: every text and number in them becomes the marker. */
function redactUntyped(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(redactUntyped);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '@type' ? inner : redactUntyped(inner as JsonValue),
      ]),
    );
  }
  return value === null ? null : REDACTED;
}

function changedEntries(
  map: JsonObject,
  change: (value: JsonValue) => JsonValue | undefined,
): JsonObject {
  const result = dictionary<JsonValue>();
  let isChanged = false;
  for (const [key, value] of Object.entries(map)) {
    const clean = change(value);
    if (clean !== value) isChanged = true;
    if (clean !== undefined) result[key] = clean;
  }
  return isChanged ? result : map;
}
