/** The messages and enums of a descriptor set, found by name. */
import type {
  ProtoEnum,
  ProtoField,
  ProtoMessage,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';

export interface MessageType {
  readonly name: string;
  readonly isMapEntry: boolean;
  readonly byNumber: ReadonlyMap<number, ProtoField>;
  /** By their own names and those of JSON. */
  readonly byName: ReadonlyMap<string, ProtoField>;
  /** By number, as they are printed. */
  readonly fields: readonly ProtoField[];
}

export interface EnumType {
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

export class ProtoTypes {
  readonly #messages: ReadonlyMap<string, ProtoMessage>;
  readonly #enums: ReadonlyMap<string, ProtoEnum>;
  readonly #types = new Map<string, MessageType>();
  readonly #enumTypes = new Map<string, EnumType>();

  constructor(messages: readonly ProtoMessage[], enums: readonly ProtoEnum[]) {
    this.#messages = new Map(messages.map((message) => [message.name, message]));
    this.#enums = new Map(enums.map((each) => [each.name, each]));
  }

  /** Undefined for a type that the set does not have. */
  message(name: string): MessageType | undefined {
    const known = this.#types.get(name);
    if (known !== undefined) return known;
    const message = this.#messages.get(name);
    if (message === undefined) return undefined;
    const fields = message.fields.toSorted((a, b) => a.number - b.number);
    const type: MessageType = {
      name,
      isMapEntry: message.isMapEntry,
      fields,
      byNumber: new Map(fields.map((field) => [field.number, field])),
      byName: new Map([
        ...fields.map((field) => [field.jsonName, field] as const),
        ...fields.map((field) => [field.name, field] as const),
      ]),
    };
    this.#types.set(name, type);
    return type;
  }

  enumOf(name: string): EnumType | undefined {
    const known = this.#enumTypes.get(name);
    if (known !== undefined) return known;
    const found = this.#enums.get(name);
    if (found === undefined) return undefined;
    const type: EnumType = {
      name,
      numbers: new Map(found.values),
      // The first of aliases is the name.
      names: new Map(found.values.map(([text, number]) => [number, text] as const).toReversed()),
    };
    this.#enumTypes.set(name, type);
    return type;
  }

  typeOfField(field: ProtoField): MessageType | undefined {
    return field.kind === 'message' ? this.message(field.type ?? '') : undefined;
  }

  /** Key and value of a map; undefined for every other field. */
  mapOf(field: ProtoField): { readonly key: ProtoField; readonly value: ProtoField } | undefined {
    const type = field.isRepeated ? this.typeOfField(field) : undefined;
    if (type?.isMapEntry !== true) return undefined;
    const key = type.byNumber.get(1);
    const value = type.byNumber.get(2);
    return key === undefined || value === undefined ? undefined : { key, value };
  }
}
