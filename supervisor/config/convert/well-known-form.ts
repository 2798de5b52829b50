/**
 * Between the two faces of the well-known types: the fields that travel in binary, and the JSON
 * form that normalised messages hold. google.protobuf.Any is handled where bytes are.
 */
import { type MessageObject, isMessageObject } from './message-object.ts';
import { Invalid, defaultScalar } from './scalars.ts';
import {
  type SecondsAndNanos,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
} from './time-text.ts';
import { wrappers } from './well-known-reader.ts';

/** From decoded fields, whose nested messages are in JSON form already. */
export function toJsonForm(fullName: string, fields: MessageObject): unknown {
  switch (fullName) {
    case 'google.protobuf.Duration':
      return formatDuration(timeOf(fields));
    case 'google.protobuf.Timestamp':
      return formatTimestamp(timeOf(fields));
    case 'google.protobuf.FieldMask':
      return ((fields['paths'] ?? []) as readonly string[]).join(',');
    case 'google.protobuf.Struct':
      return fields['fields'] ?? {};
    case 'google.protobuf.ListValue':
      return fields['values'] ?? [];
    case 'google.protobuf.Value':
      return Object.values(fields)[0] ?? null;
    default: {
      const kind = wrappers.get(fullName);
      return kind === undefined ? fields : (fields['value'] ?? defaultScalar(kind));
    }
  }
}

/** The fields to encode; nested messages stay in JSON form. */
export function toFields(fullName: string, value: unknown): MessageObject {
  switch (fullName) {
    case 'google.protobuf.Duration':
      return timeFields(parseDuration(String(value)));
    case 'google.protobuf.Timestamp':
      return timeFields(parseTimestamp(String(value)));
    case 'google.protobuf.FieldMask':
      return { paths: value === '' ? [] : String(value).split(',') };
    case 'google.protobuf.Struct':
      return { fields: value };
    case 'google.protobuf.ListValue':
      return { values: value };
    case 'google.protobuf.Value':
      return valueFields(value);
    default:
      if (wrappers.has(fullName)) {
        return { value };
      }
      return isMessageObject(value) ? value : {};
  }
}

function timeOf(fields: MessageObject): SecondsAndNanos {
  return {
    seconds: BigInt((fields['seconds'] ?? '0') as string),
    nanos: Number(fields['nanos'] ?? 0),
  };
}

function timeFields(time: SecondsAndNanos | Invalid): MessageObject {
  return time instanceof Invalid ? {} : { seconds: String(time.seconds), nanos: time.nanos };
}

function valueFields(value: unknown): MessageObject {
  if (value === null) {
    return { null_value: null };
  }
  if (Array.isArray(value)) {
    return { list_value: value };
  }
  switch (typeof value) {
    case 'number':
      return { number_value: value };
    case 'boolean':
      return { bool_value: value };
    case 'string':
      return { string_value: value };
    default:
      return { struct_value: value };
  }
}
