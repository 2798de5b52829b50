/**
 * Decodes protobuf's binary form into normalised messages. Fields that the API does not know are
 * skipped and named to the caller; bytes that are no message throw `DecodeError`.
 */
import protobuf from 'protobufjs/minimal.js';
import type { ScalarKind } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type Place, at } from '../problem.ts';
import { mergeMessage } from './merge-message.ts';
import { type MessageObject, isMessageObject, setKey } from './message-object.ts';
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
/** Field numbers of google.protobuf.Any. */
const anyUrl = 1;
const anyValue = 2;

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
    if (type.fullName === 'google.protobuf.Any') return this.#any(type, bytes, { place, depth });
    const fields = this.#fields(type, bytes, place, depth);
    return type.isWellKnown ? toJsonForm(type.fullName, fields) : fields;
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
      const input: FieldInput = { reader, wire: 0, place, depth };
      while (reader.pos < reader.len) {
        const tag = reader.uint32();
        const field = type.fieldByNumber(tag >>> 3);
        if (field === undefined || tag >>> 3 === 0) {
          this.#options.onUnknownField({ type, number: tag >>> 3, place });
          reader.skipType(tag & 7);
        } else {
          input.wire = tag & 7;
          this.#field(message, { type, field }, input);
        }
      }
    } catch (error) {
      throw asDecodeError(error, type, place);
    }
    return message;
  }

  #field(
    message: MessageObject,
    { type, field }: { type: MessageType; field: FieldType },
    input: FieldInput,
  ): void {
    const { name } = field;
    if (field.isMap) {
      const map = (message[name] ??= {}) as MessageObject;
      this.#mapEntry(map, field, { ...input, place: at(input.place, name) });
      return;
    }
    if (field.isList) {
      const list = (message[name] ??= []) as unknown[];
      this.#listItems(list, field, input);
      return;
    }
    const value = this.#value(field, input);
    clearOneof(type, field, message);
    if (field.kind === 'message') {
      const known = message[name];
      const merges = isMessageObject(known) && isMessageObject(value) && !field.message.isWellKnown;
      message[name] = merges ? mergeMessage(field.message, known, value) : value;
      return;
    }
    // A default value may be written out; without presence it means nothing.
    if (field.hasPresence || value !== defaultOf(field)) message[name] = value;
    else if (message[name] !== undefined) delete message[name];
  }

  #listItems(list: unknown[], field: FieldType, input: FieldInput): void {
    const packable = field.kind !== 'message' && field.kind !== 'string' && field.kind !== 'bytes';
    if (!packable || input.wire !== lengthDelimited) {
      list.push(this.#value(field, input, list.length));
      return;
    }
    const { reader } = input;
    const end = reader.uint32() + reader.pos;
    if (end > reader.len) {
      throw new RangeError('packed list runs past the end');
    }
    while (reader.pos < end) {
      list.push(this.#value(field, input));
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
        value = this.#value(field, { ...input, reader: entry, wire: tag & 7 }, String(key));
      } else {
        entry.skipType(tag & 7);
      }
    }
    setKey(map, String(key), value ?? this.#defaultValue(field, input));
  }

  #defaultValue(field: FieldType, input: FieldInput): unknown {
    return field.kind === 'message'
      ? this.message(field.message, new Uint8Array(), input.place, input.depth + 1)
      : defaultOf(field);
  }

  /** `key`: of an item of the list or map that the field is. */
  #value(field: FieldType, input: FieldInput, key?: string | number): unknown {
    const { reader } = input;
    if (field.kind === 'message') {
      const own = field.isMap ? input.place : at(input.place, field.name);
      const place = key === undefined ? own : at(own, key);
      return this.message(field.message, reader.bytes(), place, input.depth + 1);
    }
    if (field.kind === 'enum') {
      const number = reader.int32();
      return field.enum.fullName === 'google.protobuf.NullValue'
        ? null
        : (field.enum.nameOf(number) ?? number);
    }
    return readScalarValue(field.kind, reader);
  }

  /** What is in it is read where it stands: as text it would be a third longer, and read twice. */
  #any(any: MessageType, bytes: Uint8Array, { place, depth }: Level): MessageObject {
    const { url, packed } = this.#readAny(any, bytes, place);
    if (url === '') {
      return { '@type': '' };
    }
    const type = this.#options.catalog.findMessage(url.slice(url.lastIndexOf('/') + 1));
    // The code that uses it says what is wrong with it; in a field that is not used it is no
    // matter.
    if (type === undefined) return { '@type': url, value: base64(packed) };
    const value = this.message(type, packed, place, depth + 1);
    const ordinary = !type.isWellKnown || type.fullName.endsWith('.Empty');
    return ordinary && isMessageObject(value)
      ? { '@type': url, ...value }
      : { '@type': url, value };
  }

  #readAny(
    type: MessageType,
    bytes: Uint8Array,
    place: Place | undefined,
  ): { readonly url: string; readonly packed: Uint8Array } {
    let url = '';
    let packed: Uint8Array = new Uint8Array();
    try {
      const reader = protobuf.Reader.create(bytes);
      while (reader.pos < reader.len) {
        const tag = reader.uint32();
        if (tag >>> 3 === anyUrl) url = reader.string();
        else if (tag >>> 3 === anyValue) packed = reader.bytes();
        else {
          this.#options.onUnknownField({ type, number: tag >>> 3, place });
          reader.skipType(tag & 7);
        }
      }
    } catch (error) {
      throw asDecodeError(error, type, place);
    }
    return { url, packed };
  }
}

/** Where in the whole a message stands. */
interface Level {
  readonly place: Place | undefined;
  readonly depth: number;
}

interface FieldInput {
  readonly reader: protobuf.Reader;
  /** The wire type of the field that is read now. */
  wire: number;
  /** The place of the message; in a map's entry, of the map. */
  readonly place: Place | undefined;
  readonly depth: number;
}

function asDecodeError(error: unknown, type: MessageType, place: Place | undefined): DecodeError {
  if (error instanceof DecodeError) return error;
  return new DecodeError(`not a ${type.fullName} in binary form: ${String(error)}`, place);
}

function clearOneof(type: MessageType, field: FieldType, message: MessageObject): void {
  const { oneof } = field.descriptor;
  if (oneof === undefined) {
    return;
  }
  for (const other of membersOf(type, oneof)) {
    if (other === field) continue;
    // Deleting what is not there would make objects of ten thousand messages that are slow to read.
    if (message[other.name] !== undefined) delete message[other.name];
  }
}

const oneofs = new WeakMap<MessageType, readonly (readonly FieldType[])[]>();

/** The fields of a oneof, worked out once per type. */
function membersOf(type: MessageType, oneof: number): readonly FieldType[] {
  let members = oneofs.get(type);
  if (members === undefined) {
    members = type.oneofs.map((_, index) =>
      type.fields.filter(({ descriptor }) => descriptor.oneof === index),
    );
    oneofs.set(type, members);
  }
  return members[oneof] ?? [];
}

function defaultOf(field: FieldType): unknown {
  if (field.kind === 'message') return undefined;
  return field.kind === 'enum' ? (field.enum.nameOf(0) ?? 0) : defaultScalar(field.kind);
}

function readScalarValue(kind: ScalarKind, reader: protobuf.Reader): unknown {
  switch (kind) {
    case 'bytes':
      return base64(reader.bytes());
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

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** Long, or a number where the library has no long integers. */
function decimal(value: number | { toString(radix: number): string }): string {
  return value.toString(10);
}
