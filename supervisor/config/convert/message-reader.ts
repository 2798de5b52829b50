/**
 * Turns a source tree into a normalised message by protobuf's canonical JSON rules, with the
 * liberties of Envoy's reader: one value where a list is expected, enum names in any case,
 * numbers and booleans in strings, messages of the well-known types spelled out. Reports every
 * mistake and goes on; a value that cannot be read is left out.
 */
import type { ScalarKind } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type Place, type Problem, at, describePlace } from '../problem.ts';
import type { SourceMap, SourceNode } from '../source/source-node.ts';
import { nearestName } from '../../../shared/text/nearest-name.ts';
import { type MessageObject, setKey } from './message-object.ts';
import { describeField } from './json-fault.ts';
import { Invalid, defaultScalar, expected, readInteger, readScalar } from './scalars.ts';
import { flatItems } from './list-items.ts';
import { joinRepeats, refusesRepeats } from './repeated-keys.ts';
import { isWellKnown, readAny, readWellKnown } from './well-known-reader.ts';
import { suggestField, keepsNull, alreadySet, isKept } from './read-fields.ts';
import type { ReaderOptions } from './reader-options.ts';

/** Envoy's protobuf library stops at the same depth. */
const maximumDepth = 100;

export class MessageReader {
  readonly catalog: ApiCatalog;
  /** Objects in which something could not be read: what is missing there says nothing. */
  readonly incomplete = new WeakSet<object>();
  /** Places of what is read from an Any. */
  readonly anys = new WeakSet<Place>();
  unknownFieldCount = 0;
  readonly #options: ReaderOptions;
  #root = '';
  #depth = 0;

  constructor(options: ReaderOptions) {
    this.catalog = options.catalog;
    this.#options = options;
  }

  /** Reads a whole message. Undefined when the tree is not an object. */
  read(type: MessageType, root: SourceNode, place?: Place): MessageObject | undefined {
    this.#root = type.fullName;
    const value = this.message(type, root, place);
    return typeof value === 'object' && value !== null ? (value as MessageObject) : undefined;
  }

  /** The normalised value of a message field: an object, or what a well-known type reads as. */
  message(type: MessageType, node: SourceNode, place: Place | undefined): unknown {
    this.#depth += 1;
    try {
      if (this.#depth > maximumDepth) {
        return this.fail(new Invalid('nested too deeply'), node, place);
      }
      if (type.fullName === 'google.protobuf.Any') {
        return readAny(this, node, place);
      }
      if (isWellKnown(type.fullName)) {
        return readWellKnown(this, type, node, place);
      }
      if (node.kind !== 'map') {
        const fault = expected(`an object of type ${type.fullName}`, node);
        return this.fail(fault, node, place, `message ${type.fullName}`);
      }
      return this.fields(type, node, place);
    } finally {
      this.#depth -= 1;
    }
  }

  /** Reads the entries of an object as fields of a message; `skip` are names that are none. */
  fields(
    type: MessageType,
    node: SourceMap,
    place: Place | undefined,
    skip?: string,
  ): MessageObject {
    const message: MessageObject = {};
    const seen: FieldType[] = [];
    for (const { key, keyOffset, value } of joinRepeats(type, node)) {
      if (key === skip) {
        continue;
      }
      const field = type.field(key);
      if (field === undefined) {
        this.incomplete.add(message);
        this.#unknownField(type, key, keyOffset, at(place, key));
      } else if (value.kind !== 'null' || keepsNull(field)) {
        if (field.descriptor.oneof === undefined && seen.includes(field)) {
          this.#spelledTwice(message, field, keyOffset, at(place, field.name));
        }
        const already = alreadySet(field, seen);
        if (already !== undefined) {
          const fault = new Invalid(
            `'${field.name}' has already been set${already === field.name ? '' : ` as '${already}'`} (either directly or as part of a oneof)`,
          );
          this.fail(
            fault,
            { ...value, offset: keyOffset },
            at(place, field.name),
            describeField(field),
          );
          continue;
        }
        this.#field(message, field, value, place);
      }
    }
    return message;
  }

  /** Two spellings of a field's name in one object: the last one counts. */
  #spelledTwice(
    message: MessageObject,
    { name }: FieldType,
    offset: number,
    place: Place | undefined,
  ): void {
    delete message[name];
    const text = `'${name}' stands twice in two spellings: the last one counts`;
    this.report({ severity: 'warning', place, message: text, rule: 'duplicate_key' }, offset);
  }

  #field(
    message: MessageObject,
    field: FieldType,
    node: SourceNode,
    parent: Place | undefined,
  ): void {
    const place = at(parent, field.name);
    const value = field.isMap
      ? this.#map(field, node, place)
      : field.isList
        ? this.#list(field, node, place)
        : this.#value(field, node, place);
    if (value === undefined) {
      this.incomplete.add(message);
    } else if (isKept(field, value)) {
      message[field.name] = value;
    }
  }

  #list(field: FieldType, node: SourceNode, place: Place): unknown[] {
    const items = node.kind === 'list' ? flatItems(field, node.items) : [node];
    const values: unknown[] = [];
    // After an error, holes keep the other elements at their indices for the checks that follow.
    const tolerant = this.#options.unknownFields !== 'refuse';
    for (let index = 0; index < items.length; index++) {
      const value = this.#element(field, items[index] as SourceNode, at(place, index));
      if (value !== undefined || !tolerant) values.push(value);
    }
    return values;
  }

  #map(field: FieldType, node: SourceNode, place: Place): MessageObject | undefined {
    if (node.kind !== 'map') {
      this.fail(expected('an object', node), node, place);
      return undefined;
    }
    if (refusesRepeats(this, node, place)) return undefined;
    const map: MessageObject = {};
    for (const entry of node.entries) {
      const key = this.#mapKey(field, entry.key);
      const entryPlace = at(place, entry.key);
      if (key instanceof Invalid) {
        this.fail(key, { ...entry.value, offset: entry.keyOffset }, entryPlace);
      } else {
        const value = this.#element(field, entry.value, entryPlace);
        if (value !== undefined) {
          setKey(map, key, value);
        }
      }
    }
    return map;
  }

  #mapKey(field: FieldType, key: string): string | Invalid {
    const kind: ScalarKind = field.descriptor.mapKey ?? 'string';
    if (kind === 'string') {
      return key;
    }
    const value = readScalar(kind, { kind: 'string', value: key, offset: 0 });
    return value instanceof Invalid ? value : String(value);
  }

  /** In lists and maps null stands for the default value. */
  #element(field: FieldType, node: SourceNode, place: Place): unknown {
    if (node.kind !== 'null' || keepsNull(field)) {
      return this.#value(field, node, place);
    }
    if (field.kind === 'message') {
      return {};
    }
    return field.kind === 'enum' ? (field.enum.nameOf(0) ?? 0) : defaultScalar(field.kind);
  }

  #value(field: FieldType, node: SourceNode, place: Place): unknown {
    if (field.kind === 'message') {
      return this.message(field.message, node, place);
    }
    if (field.kind === 'enum') {
      return this.#enum(field, node, place);
    }
    const value = readScalar(field.kind, node);
    return value instanceof Invalid ? this.fail(value, node, place, describeField(field)) : value;
  }

  #enum(field: FieldType, node: SourceNode, place: Place): unknown {
    const type = field.enum;
    if (type.fullName === 'google.protobuf.NullValue') {
      return null;
    }
    if (node.kind === 'string') {
      const number = type.numberOf(node.value);
      if (number !== undefined) {
        return type.nameOf(number) ?? number;
      }
      if (!/^[+-]?[0-9]+$/.test(node.value)) {
        return this.#unknownEnumValue(field, node.value, node.offset, place);
      }
    }
    const number = readInteger('int32', node);
    return typeof number === 'number'
      ? (type.nameOf(number) ?? number)
      : this.fail(
          number instanceof Invalid ? number : new Invalid('invalid number'),
          node,
          place,
          describeField(field),
        );
  }

  #unknownEnumValue(field: FieldType, name: string, offset: number, place: Place): unknown {
    const type = field.enum;
    const near = nearestName(name, type.names);
    this.unknown(
      {
        place,
        message: `unknown value '${name}' of enum ${type.fullName}; known are ${type.names.join(', ')}`,
        rule: 'unknown_enum_value',
        ...(near === undefined ? {} : { suggestion: `did you mean ${near}?` }),
        reference: this.#hasUnknownFields(`unknown enum value: '${name}'`),
      },
      offset,
    );
    return undefined;
  }

  #unknownField(type: MessageType, key: string, offset: number, place: Place): void {
    const inner = describePlace(place.parent, this.anys, `message ${type.fullName}`);
    this.unknown(
      {
        place,
        message: `no such field: '${key}' in ${type.fullName}`,
        rule: 'unknown_field',
        ...(this.unknownFieldCount < SUGGESTED_MAX ? suggestField(type, key) : {}),
        reference: this.#hasUnknownFields(
          `invalid JSON in ${this.#root}${inner}: no such field: '${key}'`,
        ),
      },
      offset,
    );
  }

  /** Handles what the API does not know as the options say. */
  unknown(problem: Omit<Problem, 'severity'>, offset: number): void {
    this.unknownFieldCount += 1;
    if (this.#options.unknownFields !== 'ignore') {
      const severity = this.#options.unknownFields === 'refuse' ? 'error' : 'warning';
      this.#options.report({ ...problem, severity }, offset);
    }
  }

  /** Reports a value that cannot be read; the result is undefined, the value for "left out". */
  fail(fault: Invalid, node: SourceNode, place: Place | undefined, what?: string): undefined {
    const subject = describePlace(place, this.anys, what);
    this.report(
      {
        severity: 'error',
        place,
        message: fault.message,
        rule: 'wrong_value',
        reference: `Unable to parse JSON as proto (INVALID_ARGUMENT: invalid JSON in ${this.#root}${subject}: ${fault.words})`,
      },
      node.offset,
    );
    return undefined;
  }

  report(problem: Problem, offset: number): void {
    this.#options.report(problem, offset);
  }

  #hasUnknownFields(reason: string): string {
    return `Protobuf message (type ${this.#root} reason INVALID_ARGUMENT: ${reason}) has unknown fields`;
  }
}

/** To look for what a name may mean takes a comparison with each that there is. */
const SUGGESTED_MAX = 1000;
