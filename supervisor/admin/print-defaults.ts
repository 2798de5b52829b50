/**
 * Adds the fields that hold their default, for the pages that print them (`/server_info`): scalars
 * without presence, empty lists and maps, recursively in messages that are present, in the order
 * of the field numbers.
 */
import type { FieldDescriptor, ScalarKind } from '../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import { defaultScalar } from '../config/convert/scalars.ts';
import type { MessageTypes } from './message-types.ts';

export function printDefaults(
  types: MessageTypes,
  typeName: string,
  message: JsonObject,
): JsonObject {
  const descriptor = types.find(typeName);
  if (descriptor === undefined || typeName.startsWith('google.protobuf.')) return message;
  const result: Record<string, JsonValue> = {};
  const ordered = [...descriptor.fields].sort((left, right) => left.number - right.number);
  for (const field of ordered) {
    const value = message[field.name];
    if (value !== undefined) result[field.name] = fillValue(types, field, value);
    else if (field.mapKey !== undefined) result[field.name] = {};
    else if (field.repeated === true) result[field.name] = [];
    else if (isPrintedByDefault(field)) result[field.name] = defaultScalar(field.kind);
  }
  return result;
}

function fillValue(types: MessageTypes, field: FieldDescriptor, value: JsonValue): JsonValue {
  const typeName = field.type;
  if (field.kind !== 'message' || typeName === undefined) return value;
  if (field.mapKey !== undefined) {
    const entries = Object.entries(value as JsonObject);
    return Object.fromEntries(
      entries.map(([key, inner]) => [key, fillMessage(types, typeName, inner)]),
    );
  }
  return Array.isArray(value)
    ? (value as readonly JsonValue[]).map((inner) => fillMessage(types, typeName, inner))
    : fillMessage(types, typeName, value);
}

function fillMessage(types: MessageTypes, typeName: string, value: JsonValue): JsonValue {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? printDefaults(types, typeName, value as JsonObject)
    : value;
}

function isPrintedByDefault(
  field: FieldDescriptor,
): field is FieldDescriptor & { readonly kind: ScalarKind } {
  return (
    field.kind !== 'message' &&
    field.kind !== 'enum' &&
    field.optional !== true &&
    field.oneof === undefined
  );
}
