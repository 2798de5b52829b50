/** Reads the well-known protobuf types, whose JSON form is not that of an ordinary message. */
import type { ScalarKind } from '../../../shared/api/descriptor.ts';
import type { MessageType } from '../api/api-catalog.ts';
import { type Place, at } from '../problem.ts';
import type { SourceMap, SourceNode } from '../source/source-node.ts';
import { adviceForType } from '../type-advice.ts';
import type { MessageObject } from './message-object.ts';
import type { MessageReader } from './message-reader.ts';
import { plainObject, plainValue } from './plain-values.ts';
import { Invalid, defaultScalar, expected, readInteger, readScalar } from './scalars.ts';
import {
  type SecondsAndNanos,
  checkDuration,
  checkTimestamp,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
} from './time-text.ts';

/** Wrapper messages and the scalars that they wrap. */
export const wrappers: ReadonlyMap<string, ScalarKind> = new Map<string, ScalarKind>([
  ['google.protobuf.BoolValue', 'bool'],
  ['google.protobuf.StringValue', 'string'],
  ['google.protobuf.BytesValue', 'bytes'],
  ['google.protobuf.DoubleValue', 'double'],
  ['google.protobuf.FloatValue', 'float'],
  ['google.protobuf.Int32Value', 'int32'],
  ['google.protobuf.UInt32Value', 'uint32'],
  ['google.protobuf.Int64Value', 'int64'],
  ['google.protobuf.UInt64Value', 'uint64'],
]);

const special: ReadonlySet<string> = new Set([
  'google.protobuf.Any',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'google.protobuf.FieldMask',
  'google.protobuf.Struct',
  'google.protobuf.Value',
  'google.protobuf.ListValue',
]);

/** Whether a type's JSON form is its own; google.protobuf.Empty is an ordinary message. */
export function isWellKnown(fullName: string): boolean {
  return special.has(fullName) || wrappers.has(fullName);
}

/** Any kind except google.protobuf.Any. Undefined after a reported problem. */
export function readWellKnown(
  reader: MessageReader,
  type: MessageType,
  node: SourceNode,
  place: Place | undefined,
): unknown {
  switch (type.fullName) {
    case 'google.protobuf.Duration':
      return readTime(reader, node, place, duration);
    case 'google.protobuf.Timestamp':
      return readTime(reader, node, place, timestamp);
    case 'google.protobuf.FieldMask':
      return node.kind === 'string'
        ? snakeCasePaths(node.value)
        : reader.fail(expected('field paths joined with commas', node), node, place);
    case 'google.protobuf.Struct':
      return node.kind === 'map'
        ? plainObject(reader, node, place)
        : reader.fail(expected('an object', node), node, place);
    case 'google.protobuf.ListValue':
      return node.kind === 'list'
        ? node.items.map((item, index) => plainValue(reader, item, at(place, index)))
        : reader.fail(expected('a list', node), node, place);
    case 'google.protobuf.Value':
      return plainValue(reader, node, place);
    default:
      return readWrapper(reader, type, node, place);
  }
}

interface TimeKind {
  readonly typeName: string;
  readonly name: string;
  readonly parse: (text: string) => SecondsAndNanos | Invalid;
  readonly check: (value: SecondsAndNanos) => SecondsAndNanos | Invalid;
  readonly format: (value: SecondsAndNanos) => string;
}

const duration: TimeKind = {
  typeName: 'google.protobuf.Duration',
  name: 'a duration such as 1.5s',
  parse: parseDuration,
  check: checkDuration,
  format: formatDuration,
};

const timestamp: TimeKind = {
  typeName: 'google.protobuf.Timestamp',
  name: 'a time such as 2024-01-31T12:00:00Z',
  parse: parseTimestamp,
  check: checkTimestamp,
  format: formatTimestamp,
};

/** A text, or the message spelled out: `{seconds: 1, nanos: 500000000}`. */
function readTime(
  reader: MessageReader,
  node: SourceNode,
  place: Place | undefined,
  kind: TimeKind,
): string | undefined {
  let value: SecondsAndNanos | Invalid = expected(kind.name, node);
  if (node.kind === 'string') {
    value = kind.parse(node.value);
  } else if (node.kind === 'map') {
    value = secondsAndNanos(node);
  }
  const checked = value instanceof Invalid ? value : kind.check(value);
  return checked instanceof Invalid
    ? reader.fail(checked, node, place, `message ${kind.typeName}`)
    : kind.format(checked);
}

function secondsAndNanos(node: SourceMap): SecondsAndNanos | Invalid {
  let seconds = 0n;
  let nanos = 0;
  for (const { key, value } of node.entries) {
    if (key !== 'seconds' && key !== 'nanos') {
      return new Invalid(`no such field '${key}': expected seconds and nanos`);
    }
    const number = readInteger(key === 'seconds' ? 'int64' : 'int32', value);
    if (number instanceof Invalid) {
      return number;
    }
    if (key === 'seconds') {
      seconds = BigInt(number);
    } else {
      nanos = Number(number);
    }
  }
  return { seconds, nanos };
}

function snakeCasePaths(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The bare value, or the message spelled out: `{value: 1}`. */
function readWrapper(
  reader: MessageReader,
  type: MessageType,
  node: SourceNode,
  place: Place | undefined,
): unknown {
  const kind = wrappers.get(type.fullName) ?? 'string';
  if (node.kind === 'map') {
    const spelled = reader.fields(type, node, place);
    return Object.hasOwn(spelled, 'value') ? spelled['value'] : defaultScalar(kind);
  }
  const value = readScalar(kind, node);
  return value instanceof Invalid
    ? reader.fail(value, node, place, `message ${type.fullName}`)
    : value;
}

/** Reads `{"@type": url, ...}` into the same form with the content read as that type. */
export function readAny(
  reader: MessageReader,
  node: SourceNode,
  place: Place | undefined,
): MessageObject | undefined {
  if (node.kind !== 'map') {
    const fault = expected('an object with @type', node);
    return reader.fail(fault, node, place, 'message google.protobuf.Any');
  }
  const [entry, again] = node.entries.filter(({ key }) => key === '@type');
  if (again !== undefined) {
    return reader.fail(new Invalid('repeated @type in Any'), again.value, place);
  }
  if (entry === undefined) {
    return node.entries.length === 0
      ? { '@type': '' }
      : reader.fail(new Invalid('missing @type: it names the type of this object'), node, place);
  }
  if (entry.value.kind !== 'string') {
    return reader.fail(expected('a type URL', entry.value), entry.value, at(place, '@type'));
  }
  const url = entry.value.value;
  const type = findAnyType(reader, url, entry.value, place);
  if (type === undefined) {
    return undefined;
  }
  if (!isWellKnown(type.fullName)) {
    if (place !== undefined) reader.anys.add(place);
    const message = reader.fields(type, node, place, '@type');
    const any = { '@type': url, ...message };
    if (reader.incomplete.has(message)) {
      reader.incomplete.add(any);
    }
    return any;
  }
  return readWellKnownAny(reader, type, node, place);
}

/** The name after the last slash decides; a host must stand before it. */
function findAnyType(
  reader: MessageReader,
  url: string,
  node: SourceNode,
  place: Place | undefined,
): MessageType | undefined {
  const slash = url.lastIndexOf('/');
  const typePlace = at(place, '@type');
  if (slash <= 0) {
    const fault = `@type must contain at least one / and a nonempty host; got: ${url}`;
    reader.report(
      {
        severity: 'error',
        place: typePlace,
        message: fault,
        rule: 'any.type_url',
        suggestion: `did you mean type.googleapis.com/${url.slice(slash + 1)}?`,
        reference: `Unable to parse JSON as proto (INVALID_ARGUMENT: ${fault})`,
      },
      node.offset,
    );
    return undefined;
  }
  const name = url.slice(slash + 1);
  const type = reader.catalog.findMessage(name);
  if (type === undefined) {
    reader.report(
      {
        severity: 'error',
        place: typePlace,
        message: `unknown type '${url}'`,
        rule: 'any.unknown_type',
        ...suggestType(reader, name),
        reference: `Unable to parse JSON as proto (INVALID_ARGUMENT: could not find @type '${url}')`,
      },
      node.offset,
    );
  }
  return type;
}

function suggestType(reader: MessageReader, name: string): { suggestion?: string } {
  const suggestion = adviceForType(name, () => reader.catalog.messageNames());
  return suggestion === undefined ? {} : { suggestion };
}

function readWellKnownAny(
  reader: MessageReader,
  type: MessageType,
  node: SourceMap,
  place: Place | undefined,
): MessageObject | undefined {
  const any: MessageObject = {};
  for (const { key, keyOffset, value } of node.entries) {
    if (key === '@type') {
      any['@type'] = value.kind === 'string' ? value.value : '';
    } else if (key === 'value') {
      any['value'] = reader.message(type, value, at(place, 'value'));
    } else {
      const fault = new Invalid('fields in a well-known-typed Any must be @type or value');
      return reader.fail(fault, { ...value, offset: keyOffset }, at(place, key));
    }
  }
  if (!Object.hasOwn(any, 'value')) any['value'] = emptyValue(type);
  return any;
}

/** The value of an Any that has a type alone. */
function emptyValue(type: MessageType): unknown {
  switch (type.fullName) {
    case 'google.protobuf.Duration':
      return '0s';
    case 'google.protobuf.Timestamp':
      return '1970-01-01T00:00:00Z';
    case 'google.protobuf.FieldMask':
      return '';
    case 'google.protobuf.ListValue':
      return [];
    case 'google.protobuf.Value':
      return null;
    default: {
      const wrapped = wrappers.get(type.fullName);
      return wrapped === undefined ? {} : defaultScalar(wrapped);
    }
  }
}
