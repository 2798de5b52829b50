/**
 * Prints messages that may be as large as a whole configuration, redacted, in small pieces: what is
 * small is printed whole, everything else is entered, field by field and element by element.
 */
import type { FieldDescriptor } from '../../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { quoteJson } from '../../../shared/json/quote-json.ts';
import { isSmall, printJsonAt } from '../json-printer.ts';
import type { MessageTypes } from '../message-types.ts';
import { typeNameOf } from '../../config/type-name.ts';
import { redact } from './redact.ts';
import { isTypedStruct } from './typed-struct.ts';

export interface FieldsPlace {
  /** Full name of the message's type. */
  readonly typeName: string;
  /** Blanks before each field. */
  readonly depth: number;
  /** What stands before the first field; before the others a comma and a line feed. */
  readonly separator: string;
}

/** Fields in the order in which they stand in the message, without the braces around them. */
export function* printFields(
  types: MessageTypes,
  place: FieldsPlace,
  message: JsonObject,
): Generator<string> {
  const { typeName, depth } = place;
  const descriptor = types.find(typeName);
  let { separator } = place;
  for (const [name, value] of Object.entries(message)) {
    const field = descriptor === undefined ? undefined : types.field(descriptor, name);
    const opening = `${separator}${' '.repeat(depth)}${quoteJson(name)}: `;
    if (field !== undefined && canBeSplit(field) && !isSmall(value)) {
      yield opening;
      yield* printSplit(types, field, depth, value);
    } else {
      // A field by itself is redacted as part of a message that holds nothing else.
      const clean = redact(types, typeName, { [name]: value })[name];
      if (clean === undefined) continue;
      yield opening + printJsonAt(clean, depth);
    }
    separator = ',\n';
  }
}

/** A message as it stands `depth` levels in, braces included. */
export function* printMessage(
  types: MessageTypes,
  { typeName, depth }: Pick<FieldsPlace, 'typeName' | 'depth'>,
  message: JsonObject,
): Generator<string> {
  const ownType = message['@type'];
  const actual = typeof ownType === 'string' ? typeNameOf(ownType) : typeName;
  if (isSmall(message) || !canBeEntered(types, actual)) {
    yield printJsonAt(redact(types, typeName, message), depth);
    return;
  }
  yield '{';
  yield* printFields(types, { typeName: actual, depth: depth + 1, separator: '\n' }, message);
  yield `\n${' '.repeat(depth)}}`;
}

/** Others are redacted as a whole. */
function canBeEntered(types: MessageTypes, typeName: string): boolean {
  return (
    !isTypedStruct(typeName) &&
    !typeName.startsWith('google.protobuf.') &&
    types.find(typeName) !== undefined
  );
}

function canBeSplit({ kind, mapKey, sensitive, type = '' }: FieldDescriptor): boolean {
  return (
    kind === 'message' &&
    mapKey === undefined &&
    sensitive !== true &&
    (type === ANY || !type.startsWith('google.protobuf.'))
  );
}

function* printSplit(
  types: MessageTypes,
  { type: typeName = '' }: FieldDescriptor,
  depth: number,
  value: JsonValue,
): Generator<string> {
  if (!Array.isArray(value)) {
    yield* printMessage(types, { typeName, depth }, value as JsonObject);
    return;
  }
  const indent = ' '.repeat(depth + 1);
  let separator = '[\n';
  for (const element of value as readonly JsonObject[]) {
    yield separator + indent;
    yield* printMessage(types, { typeName, depth: depth + 1 }, element);
    separator = ',\n';
  }
  yield `\n${' '.repeat(depth)}]`;
}

const ANY = 'google.protobuf.Any';
