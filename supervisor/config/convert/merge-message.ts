/**
 * Merges one normalised message over another as protobuf does: messages are merged, lists and map
 * entries added, everything else replaced; a field of a oneof removes the others. Durations, times
 * and wrapped values are messages too, whose fields without a value change nothing: 0.5s over 5s is
 * 5.5s, and a wrapped false over true stays true.
 */
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject, setKey } from './message-object.ts';
import { Invalid, defaultScalar } from './scalars.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from './time-text.ts';
import { wrappers } from './well-known-reader.ts';

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
  if (field.kind === 'message' && !field.isMap && !field.isList) {
    const merged = mergeWellKnown(field.message.fullName, base, over);
    if (merged !== undefined) return merged;
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

/** Undefined for other types. */
function mergeWellKnown(fullName: string, base: unknown, over: unknown): unknown {
  const wrapped = wrappers.get(fullName);
  if (wrapped !== undefined) return over === defaultScalar(wrapped) ? base : over;
  if (typeof base !== 'string' || typeof over !== 'string') return undefined;
  switch (fullName) {
    case 'google.protobuf.Duration':
      return mergeTimes(base, over, { parse: parseDuration, format: formatDuration });
    case 'google.protobuf.Timestamp':
      return mergeTimes(base, over, { parse: parseTimestamp, format: formatTimestamp });
    default:
      return undefined;
  }
}

interface TimeForm {
  readonly parse: typeof parseDuration;
  readonly format: typeof formatDuration;
}

function mergeTimes(base: string, over: string, { parse, format }: TimeForm): string {
  const [below, above] = [parse(base), parse(over)];
  if (below instanceof Invalid || above instanceof Invalid) return over;
  return format({
    seconds: above.seconds === 0n ? below.seconds : above.seconds,
    nanos: above.nanos === 0 ? below.nanos : above.nanos,
  });
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
