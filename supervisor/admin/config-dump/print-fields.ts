/**
 * Prints the fields of a message that may be as large as a whole configuration, redacted, piece by
 * piece: single messages are entered, elements of lists are printed one at a time, so that no piece
 * is larger than one cluster or listener.
 */
import type { FieldDescriptor } from '../../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import { quoteJson } from '../../../shared/json/quote-json.ts';
import { printJsonAt } from '../json-printer.ts';
import type { MessageTypes } from '../message-types.ts';
import { redact } from './redact.ts';

export interface FieldsPlace {
  /** Full name of the message's type. */
  readonly typeName: string;
  /** Blanks before each field. */
  readonly depth: number;
  /** What stands before the first field; before the others a comma and a line feed. */
  readonly separator: string;
}

/** Deeper messages are printed whole. The lists of a bootstrap are two levels down. */
const ENTERED_DEPTH_MAX = 6;

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
    if (field !== undefined && canBeSplit(field, value, depth)) {
      yield* printMessageField(types, { field, depth, opening }, value);
    } else {
      // A field by itself is redacted as part of a message that holds nothing else.
      const clean = redact(types, typeName, { [name]: value })[name];
      if (clean === undefined) continue;
      yield opening + printJsonAt(clean, depth);
    }
    separator = ',\n';
  }
}

function canBeSplit(field: FieldDescriptor, value: JsonValue, depth: number): boolean {
  return (
    field.kind === 'message' &&
    field.mapKey === undefined &&
    field.sensitive !== true &&
    field.type?.startsWith('google.protobuf.') === false &&
    typeof value === 'object' &&
    value !== null &&
    depth < ENTERED_DEPTH_MAX
  );
}

function* printMessageField(
  types: MessageTypes,
  where: { readonly field: FieldDescriptor; readonly depth: number; readonly opening: string },
  value: JsonValue,
): Generator<string> {
  const { field, depth, opening } = where;
  const typeName = field.type ?? '';
  const indent = ' '.repeat(depth);
  if (Array.isArray(value)) {
    yield* printList(types, where, value as readonly JsonObject[]);
  } else if (Object.keys(value as JsonObject).length === 0) {
    yield `${opening}{}`;
  } else {
    yield `${opening}{`;
    yield* printFields(types, { typeName, depth: depth + 1, separator: '\n' }, value as JsonObject);
    yield `\n${indent}}`;
  }
}

function* printList(
  types: MessageTypes,
  where: { readonly field: FieldDescriptor; readonly depth: number; readonly opening: string },
  list: readonly JsonObject[],
): Generator<string> {
  const { field, depth, opening } = where;
  const indent = ' '.repeat(depth + 1);
  let separator = `${opening}[\n`;
  for (const element of list) {
    const clean = redact(types, field.type ?? '', element);
    yield `${separator}${indent}${printJsonAt(clean, depth + 1)}`;
    separator = ',\n';
  }
  yield list.length === 0 ? `${opening}[]` : `\n${' '.repeat(depth)}]`;
}
