/**
 * Decodes protobuf's binary form into normalised messages. Fields that the API does not know are
 * skipped and named to the caller; bytes that are no message throw `DecodeError`.
 */
import protobuf from 'protobufjs/minimal.js';
import type { ScalarKind } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type Place, at } from '../problem.ts';
import { mergeMessage } from './merge-message.ts';
import { type MessageObject, isMessageObject, setKey, textOf } from './message-object.ts';
import { defaultScalar, normalFloat } from './scalars.ts';
import { toJsonForm } from './well-known-form.ts';

export class DecodeError extends Error {
  readonly place: Place | undefined;

  constructor(message: string, place: Place | undefined) {
    super(message);
    this.place = place;
  }
}

export interface UnknownBinaryField {
  readonly type: MessageType;
  readonly number: number;
  readonly place: Place | undefined;
}

export interface DecodeOptions {
  readonly catalog: ApiCatalog;
  readonly onUnknownField: (field: UnknownBinaryField) => void;
}

const maximumDepth = 100;
const lengthDelimited = 2;

/** Reads a whole message; well-known types come in their JSON form. */
export function decodeMessage(
  options: DecodeOptions,
  type: MessageType,
  bytes: Uint8Array,
  place?: Place,
): unknown {
  return new MessageDecoder(options).message(type, bytes, place, 0);
}

class MessageDecoder {
  readonly #options: DecodeOptions;

  constructor(options: DecodeOptions) {
    this.#options = options;
  }

  message(type: MessageType, bytes: Uint8Array, place: Place | undefined, depth: number): unknown {
    if (depth > maximumDepth) {
      throw new DecodeError('nested too deeply', place);
    }
    const fields = this.#fields(type, bytes, place, depth);
    return type.fullName === 'google.protobuf.Any'
      ? this.#any(fields, place, depth)
      : toJsonForm(type.fullName, fields);
  }

  #fields(
    type: MessageType,
    bytes: Uint8Array,
    place: Place | undefined,
    depth: number,
  ): MessageObject {
    const message: MessageObject = {};
    try {
      const reader = protobuf.Reader.create(bytes);
      while (reader.pos < reader.len) {
        const tag = reader.uint32();
        const field = type.fieldByNumber(tag >>> 3);
        if (field === undefined || tag >>> 3 === 0) {
          this.#options.onUnknownField({ type, number: tag >>> 3, place });
          reader.skipType(tag & 7);
        } else {
          this.#field(message, { type, field }, { reader, wire: tag & 7, place, depth });
        }
      }
    } catch (error) {
      if (error instanceof DecodeError) {
        throw error;
      }
      throw new DecodeError(`not a ${type.fullName} in binary form: ${String(error)}`, place);
    }
    return dropDefaults(type, message);
  }

  #field(
    message: MessageObject,
    { type, field }: { type: MessageType; field: FieldType },
    input: FieldInput,
  ): void {
    const place = at(input.place, field.name);
    if (field.isMap) {
      const map = (message[field.name] ??= {}) as MessageObject;
      this.#mapEntry(map, field, { ...input, place });
      return;
    }
    if (field.isList) {
      const list = (message[field.name] ??= []) as unknown[];
      this.#listItems(list, field, { ...input, place });
      return;
    }
    const value = this.#value(field, { ...input, place });
    clearOneof(type, field, message);
    const known = message[field.name];
    const merges = field.kind === 'message' && isMessageObject(known) && isMessageObject(value);
    message[field.name] =
      merges && !field.message.fullName.startsWith('google.protobuf.')
        ? mergeMessage(field.message, known, value)
        : value;
  }

  #listItems(list: unknown[], field: FieldType, input: FieldInput): void {
    const packable = field.kind !== 'message' && field.kind !== 'string' && field.kind !== 'bytes';
    if (!packable || input.wire !== lengthDelimited) {
      list.push(this.#value(field, { ...input, place: at(input.place, list.length) }));
      return;
    }
    const { reader } = input;
    const end = reader.uint32() + reader.pos;
    if (end > reader.len) {
      throw new RangeError('packed list runs past the end');
    }
    while (reader.pos < end) {
      list.push(this.#value(field, { ...input, wire: -1 }));
    }
  }

  #mapEntry(map: MessageObject, field: FieldType, input: FieldInput): void {
    const entry = protobuf.Reader.create(input.reader.bytes());
    const keyKind = field.descriptor.mapKey ?? 'string';
    let key: unknown = defaultScalar(keyKind);
    let value: unknown;
    while (entry.pos < entry.len) {
      const tag = entry.uint32();
      if (tag >>> 3 === 1) {
        key = readScalarValue(keyKind, entry);
      } else if (tag >>> 3 === 2) {
        const place = at(input.place, String(key));
        value = this.#value(field, { ...input, reader: entry, wire: tag & 7, place });
      } else {
        entry.skipType(tag & 7);
      }
    }
    setKey(map, String(key), value ?? this.#defaultValue(field, input));
  }

  #defaultValue(field: FieldType, input: FieldInput): unknown {
    if (field.kind === 'message') {
      return this.message(field.message, new Uint8Array(), input.place, input.depth + 1);
    }
    return field.kind === 'enum' ? (field.enum.nameOf(0) ?? 0) : defaultScalar(field.kind);
  }

  #value(field: FieldType, { reader, place, depth }: FieldInput): unknown {
    if (field.kind === 'message') {
      return this.message(field.message, reader.bytes(), place, depth + 1);
    }
    if (field.kind === 'enum') {
      const number = reader.int32();
      return field.enum.fullName === 'google.protobuf.NullValue'
        ? null
        : (field.enum.nameOf(number) ?? number);
    }
    return readScalarValue(field.kind, reader);
  }

  #any(fields: MessageObject, place: Place | undefined, depth: number): MessageObject {
    const url = textOf(fields['type_url']);
    if (url === '') {
      return { '@type': '' };
    }
    const type = this.#options.catalog.findMessage(url.slice(url.lastIndexOf('/') + 1));
    // Whoever has a use for it says what is wrong with it; in a field that is not used it is no matter.
    if (type === undefined) return { '@type': url, value: fields['value'] ?? '' };
    const bytes = Buffer.from(textOf(fields['value']), 'base64');
    const value = this.message(type, bytes, place, depth + 1);
    const ordinary =
      !type.fullName.startsWith('google.protobuf.') || type.fullName.endsWith('.Empty');
    return ordinary && isMessageObject(value)
      ? { '@type': url, ...value }
      : { '@type': url, value };
  }
}

interface FieldInput {
  readonly reader: protobuf.Reader;
  readonly wire: number;
  readonly place: Place | undefined;
  readonly depth: number;
}

function clearOneof(type: MessageType, field: FieldType, message: MessageObject): void {
  const oneof = field.descriptor.oneof;
  if (oneof === undefined) {
    return;
  }
  for (const other of type.fields) {
    if (other === field || other.descriptor.oneof !== oneof) continue;
    // Deleting what is not there would make objects of ten thousand messages that are slow to read.
    if (message[other.name] !== undefined) delete message[other.name];
  }
}

/** A default value may be written out; without presence it means nothing. */
function dropDefaults(type: MessageType, message: MessageObject): MessageObject {
  for (const field of type.fields) {
    if (field.hasPresence || field.kind === 'message' || field.isList || field.isMap) {
      continue;
    }
    if (message[field.name] === undefined) continue;
    const empty = field.kind === 'enum' ? (field.enum.nameOf(0) ?? 0) : defaultScalar(field.kind);
    if (message[field.name] === empty) {
      delete message[field.name];
    }
  }
  return message;
}

function readScalarValue(kind: ScalarKind, reader: protobuf.Reader): unknown {
  switch (kind) {
    case 'bytes':
      return Buffer.from(reader.bytes()).toString('base64');
    case 'float':
    case 'double':
      return normalFloat(kind, reader[kind]());
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      return decimal(reader[kind]());
    default:
      return reader[kind]();
  }
}

/** Long, or a number where the library has no long integers. */
function decimal(value: number | { toString(radix: number): string }): string {
  return value.toString(10);
}
