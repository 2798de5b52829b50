/**
 * Merges one normalised message over another as protobuf does: messages are merged, lists and map
 * entries added, everything else replaced; a field of a oneof removes the others.
 */
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject, setKey } from './message-object.ts';

/** Returns a new message; neither argument is changed. */
export function mergeMessage(
  type: MessageType,
  base: MessageObject,
  over: MessageObject,
): MessageObject {
  const merged: MessageObject = { ...base };
  for (const field of type.fields) {
    if (!Object.hasOwn(over, field.name)) {
      continue;
    }
    const known = merged[field.name];
    clearOneof(type, field, merged);
    merged[field.name] =
      known === undefined ? over[field.name] : mergeField(field, known, over[field.name]);
  }
  return merged;
}

function clearOneof(type: MessageType, field: FieldType, merged: MessageObject): void {
  const oneof = field.descriptor.oneof;
  if (oneof === undefined) {
    return;
  }
  for (const other of type.fields) {
    if (other.descriptor.oneof === oneof && other !== field) {
      delete merged[other.name];
    }
  }
}

function mergeField(field: FieldType, base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over) && field.isList) {
    return [...(base as unknown[]), ...(over as unknown[])];
  }
  if (!isMessageObject(base) || !isMessageObject(over)) {
    return over;
  }
  if (field.isMap || isStruct(field)) {
    return addEntries(base, over);
  }
  const replaced =
    field.kind !== 'message' || field.message.fullName.startsWith('google.protobuf.');
  return replaced ? over : mergeMessage(field.message, base, over);
}

function isStruct(field: FieldType): boolean {
  return field.kind === 'message' && field.message.fullName === 'google.protobuf.Struct';
}

function addEntries(base: MessageObject, over: MessageObject): MessageObject {
  const merged: MessageObject = {};
  for (const [key, value] of [...Object.entries(base), ...Object.entries(over)]) {
    setKey(merged, key, value);
  }
  return merged;
}
