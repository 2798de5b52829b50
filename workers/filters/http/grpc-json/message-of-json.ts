/**
 * JSON as a message of a descriptor set, in the mapping of proto3, with the values that the path and
 * the query bring woven into it where the body says nothing else. Fields that the message does not
 * have are ignored.
 */
import { keyBytes, lengthDelimited } from '../../../../shared/protobuf/records.ts';
import { Wire } from '../../../../shared/protobuf/wire.ts';
import type { ProtoField } from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { JsonObject, type JsonNode, TranscodeError } from './json-text.ts';
import { type BoundValues, checkChoice, checkCollision } from './bound-values.ts';
import type { MessageType, ProtoTypes } from './proto-types.ts';
import { scalarBytes } from './scalar-of-json.ts';
import {
  at,
  fieldMask,
  invalid,
  numberOfValue,
  takesList,
  takesNull,
  time,
  typeUrl,
} from './special-messages.ts';
import { typeNameOf, wrongUrl } from './type-url.ts';
import { readDuration, readTimestamp } from './times.ts';
import { wireTypeOf } from './wire-values.ts';

interface WriterOptions {
  readonly isEnumCaseIgnored: boolean;
  readonly rejectsCollisions: boolean;
}

type SpecialWriter = (type: MessageType, node: JsonNode, place: string) => Buffer;

const NOTHING = Buffer.alloc(0);
/** Whose fields may be given one by one, as those of any message. */
const TAKES_MEMBERS =
  /^google\.protobuf\.(Timestamp|Duration|(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value)$/;
const WRAPPER = /^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/;

export class MessageWriter {
  readonly #types: ProtoTypes;
  readonly #options: WriterOptions;
  readonly #special: ReadonlyMap<string, SpecialWriter>;
  /** The name of the request's type. */
  #root = '';

  constructor(types: ProtoTypes, options: WriterOptions) {
    this.#types = types;
    this.#options = options;
    this.#special = new Map<string, SpecialWriter>([
      ['google.protobuf.Timestamp', (type, node, place) => time(type, node, place, readTimestamp)],
      ['google.protobuf.Duration', (type, node, place) => time(type, node, place, readDuration)],
      ['google.protobuf.FieldMask', fieldMask],
      ['google.protobuf.Struct', (type, node, place) => this.#struct(type, node, place)],
      ['google.protobuf.Value', (type, node, place) => this.#value(type, node, place)],
      ['google.protobuf.ListValue', (type, node, place) => this.#list(type, node, place)],
      ['google.protobuf.Any', (type, node, place) => this.#any(type, node, place)],
    ]);
  }

  /** The whole request. Throws TranscodeError. */
  write(type: MessageType, node: JsonNode, bound: BoundValues): Buffer {
    if (!(node instanceof JsonObject) && !this.#isSpecial(type)) {
      throw new TranscodeError(': Root element must be a message.');
    }
    this.#root = type.name;
    return this.#message(type, node, '', bound);
  }

  /** A request whose body is one of its fields. */
  writeWithField(
    type: MessageType,
    path: readonly ProtoField[],
    node: JsonNode,
    bound: BoundValues,
  ): Buffer {
    let object = node;
    for (const field of path.toReversed()) {
      const outer = new JsonObject();
      outer.members.push([field.name, object]);
      object = outer;
    }
    this.#root = type.name;
    return this.#message(type, object, '', bound);
  }

  #isSpecial({ name }: MessageType): boolean {
    return this.#special.has(name) || WRAPPER.test(name);
  }

  #message(
    type: MessageType,
    node: JsonNode,
    place: string,
    bound: BoundValues | undefined,
  ): Buffer {
    if (node instanceof JsonObject && TAKES_MEMBERS.test(type.name)) {
      return this.#members(type, node, place, bound);
    }
    const special = this.#special.get(type.name);
    if (special !== undefined) return special(type, node, place);
    if (WRAPPER.test(type.name)) return this.#wrapper(type, node, place);
    if (!(node instanceof JsonObject)) throw invalid(place, node, typeUrl(type));
    return this.#members(type, node, place, bound);
  }

  #members(
    type: MessageType,
    node: JsonObject,
    place: string,
    bound: BoundValues | undefined,
  ): Buffer {
    const pieces: Buffer[] = [];
    const said = new Set<ProtoField>();
    const choices = new Set<string>();
    for (const [key, value] of node.members) {
      if (key === '') throw new TranscodeError(`${place}: Proto fields must have a name.`);
      const field = type.byName.get(key);
      if (field === undefined) continue;
      if (value === null && !takesNull(field)) continue;
      checkChoice(choices, field, key, place);
      // The binding knows the field by its own name alone.
      if (key === field.name) {
        if (this.#options.rejectsCollisions) checkCollision(bound, field, value);
        said.add(field);
      }
      pieces.push(this.#field(field, value, at(place, field.name), bound?.messages.get(field)));
    }
    this.#weave(bound, { said, choices, place }, pieces);
    return Buffer.concat(pieces);
  }

  /** What the body did not say, and what comes to its lists. */
  #weave(
    bound: BoundValues | undefined,
    { said, choices, place }: Members,
    pieces: Buffer[],
  ): void {
    if (bound === undefined) return;
    for (const { field, text } of bound.values) {
      if (said.has(field) && !field.isRepeated) continue;
      checkChoice(choices, field, field.name, place);
      pieces.push(this.#single(field, text, at(place, field.name), undefined));
    }
    for (const [field, inner] of bound.messages) {
      if (said.has(field)) continue;
      pieces.push(this.#single(field, new JsonObject(), at(place, field.name), inner));
    }
  }

  #field(
    field: ProtoField,
    value: JsonNode,
    place: string,
    bound: BoundValues | undefined,
  ): Buffer {
    const map = this.#types.mapOf(field);
    if (map !== undefined) return this.#map(field, map, value, place);
    if (!Array.isArray(value) || takesList(field)) {
      return this.#single(field, value, place, bound);
    }
    if (!field.isRepeated) {
      throw new TranscodeError(': Proto field is not repeating, cannot start list.');
    }
    const items = (value as readonly JsonNode[]).filter(
      (item) => item !== null || takesNull(field),
    );
    return Buffer.concat(
      items.map((item, index) => this.#single(field, item, `${place}[${index}]`, undefined)),
    );
  }

  #map(
    field: ProtoField,
    { key, value }: { readonly key: ProtoField; readonly value: ProtoField },
    node: JsonNode,
    place: string,
  ): Buffer {
    if (!(node instanceof JsonObject)) {
      if (!Array.isArray(node))
        throw invalid(place, node, `type.googleapis.com/${field.type ?? ''}`);
      throw new TranscodeError(
        `: invalid value Cannot bind a list to map for field '${field.name}'. for type Map`,
      );
    }
    const names = new Set<string>();
    const entries = node.members.map(([name, item]) => {
      const entry = `${place}[${names.size}]`;
      if (names.has(name)) {
        throw new TranscodeError(
          `${place}[${names.size - 1}]: Repeated map key: '${name}' is already set.`,
        );
      }
      names.add(name);
      const parts = [this.#single(key, name, `${entry}.key`, undefined)];
      if (item !== null || takesNull(value))
        parts.push(this.#single(value, item, `${entry}.value`, undefined));
      return lengthDelimited(field.number, Buffer.concat(parts));
    });
    return Buffer.concat(entries);
  }

  /** One record. */
  #single(
    field: ProtoField,
    value: JsonNode,
    place: string,
    bound: BoundValues | undefined,
  ): Buffer {
    const type = this.#types.typeOfField(field);
    if (type !== undefined) {
      return lengthDelimited(field.number, this.#message(type, value, place, bound));
    }
    const enumType = field.kind === 'enum' ? this.#types.enumOf(field.type ?? '') : undefined;
    const bytes = scalarBytes(field, value, place, {
      enumType,
      isCaseIgnored: this.#options.isEnumCaseIgnored,
    });
    const wire = wireTypeOf(field.kind);
    if (wire === Wire.bytes) return lengthDelimited(field.number, bytes);
    return Buffer.concat([keyBytes(field.number, wire), bytes]);
  }

  #wrapper(type: MessageType, node: JsonNode, place: string): Buffer {
    const field = type.byNumber.get(1);
    if (field === undefined || node === null) return NOTHING;
    return this.#single(field, node, at(place, field.name), undefined);
  }

  #struct(type: MessageType, node: JsonNode, place: string): Buffer {
    const field = type.byNumber.get(1);
    if (field === undefined || !(node instanceof JsonObject)) {
      throw invalid(place, node, typeUrl(type));
    }
    return this.#field(field, node, place, undefined);
  }

  #list(type: MessageType, node: JsonNode, place: string): Buffer {
    const field = type.byNumber.get(1);
    // Envoy takes an object for a message, none of whose fields it knows.
    if (node instanceof JsonObject) return NOTHING;
    if (field === undefined || !Array.isArray(node)) throw invalid(place, node, typeUrl(type));
    const items = node as readonly JsonNode[];
    return Buffer.concat(items.map((item) => this.#single(field, item, place, undefined)));
  }

  #value(type: MessageType, node: JsonNode, place: string): Buffer {
    const field = type.byNumber.get(numberOfValue(node));
    if (field === undefined) return NOTHING;
    return this.#single(field, node, place, undefined);
  }

  #any(type: MessageType, node: JsonNode, place: string): Buffer {
    if (!(node instanceof JsonObject)) throw invalid(place, node, typeUrl(type));
    if (node.members.length === 0) return NOTHING;
    const url = node.members.find(([key]) => key === '@type')?.[1];
    if (url !== undefined && typeof url !== 'string') throw invalid(place, url, 'String');
    if (url === undefined) {
      const root = this.#root;
      throw new TranscodeError(
        `${place}: invalid value Missing @type for any field in ${root} for type Any`,
      );
    }
    const name = typeNameOf(url);
    if (name === undefined) {
      throw new TranscodeError(`${place}: invalid value ${wrongUrl(url)} for type Any`);
    }
    const inner = this.#types.message(name);
    if (inner === undefined) {
      throw new TranscodeError(
        `${place}: invalid value Invalid type URL, unknown type: ${name} for type Any`,
      );
    }
    const rest = new JsonObject();
    rest.members.push(...node.members.filter(([key]) => key !== '@type'));
    const own = rest.members.find(([key]) => key === 'value')?.[1];
    const content = this.#isSpecial(inner) ? (own ?? null) : rest;
    const value = this.#message(inner, content, place, undefined);
    const pieces = [lengthDelimited(1, Buffer.from(url, 'utf8'))];
    if (value.length > 0) pieces.push(lengthDelimited(2, value));
    return Buffer.concat(pieces);
  }
}

/** What the body said of one message. */
interface Members {
  readonly said: ReadonlySet<ProtoField>;
  /** Names of those choices that are made. */
  readonly choices: Set<string>;
  readonly place: string;
}
