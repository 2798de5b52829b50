/** Messages of a descriptor set as JSON, in the mapping of proto3. */
import type {
  JsonPrintOptions,
  ProtoField,
} from '../../../../shared/resources/filters/http/grpc-json-transcoder.ts';
import { type PrintedJson, printDouble, printFloat, printJson, RawJson } from './json-print.ts';
import type { MessageType, ProtoTypes } from './proto-types.ts';
import { TranscodeError } from './json-text.ts';
import { typeNameOf, wrongUrl } from './type-url.ts';
import { printDuration, printTimestamp, type SecondsAndNanos } from './times.ts';
import { integerOf, singleOf, rangeOf, readMessage, type WireValue } from './wire-values.ts';

/** Messages within messages, as deep as protobuf reads them. */
const DEPTH_MAX = 100;
const NOTHING = Buffer.alloc(0);
const WRAPPER = /^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/;

type SpecialPrinter = (type: MessageType, data: Buffer, depth: number) => PrintedJson;

export class MessagePrinter {
  readonly #types: ProtoTypes;
  readonly #options: JsonPrintOptions;
  readonly #special: ReadonlyMap<string, SpecialPrinter>;

  constructor(types: ProtoTypes, options: JsonPrintOptions) {
    this.#types = types;
    this.#options = options;
    this.#special = new Map<string, SpecialPrinter>([
      ['google.protobuf.Timestamp', (type, data) => timeText(type, data, printTimestamp)],
      ['google.protobuf.Duration', (type, data) => timeText(type, data, printDuration)],
      ['google.protobuf.FieldMask', (type, data) => fieldMask(type, data)],
      ['google.protobuf.Struct', (type, data, depth) => this.#struct(type, data, depth)],
      ['google.protobuf.Value', (type, data, depth) => this.#value(type, data, depth)],
      ['google.protobuf.ListValue', (type, data, depth) => this.#list(type, data, depth)],
      ['google.protobuf.Any', (type, data, depth) => this.#any(type, data, depth)],
    ]);
  }

  /** Throws TranscodeError. */
  print(type: MessageType, data: Buffer): string {
    return printJson(this.#message(type, data, 0), this.#options.addsWhitespace);
  }

  #message(type: MessageType, data: Buffer, depth: number): PrintedJson {
    if (depth > DEPTH_MAX) throw new TranscodeError('Message too deep.');
    const special = this.#special.get(type.name);
    if (special !== undefined) return special(type, data, depth);
    if (WRAPPER.test(type.name)) return this.#wrapper(type, data, depth);
    return this.#members(type, data, depth);
  }

  #members(type: MessageType, data: Buffer, depth: number): Map<string, PrintedJson> {
    const values = readMessage(type, data);
    const members = new Map<string, PrintedJson>();
    for (const field of type.fields) {
      const own = values.get(field.number) ?? [];
      const printed = own.length === 0 ? this.#default(field) : this.#field(field, own, depth);
      if (printed === undefined) continue;
      members.set(this.#options.keepsFieldNames ? field.name : field.jsonName, printed);
    }
    return members;
  }

  #field(field: ProtoField, values: readonly WireValue[], depth: number): PrintedJson {
    const map = this.#types.mapOf(field);
    if (map !== undefined) return this.#map(field, map, values, depth);
    if (field.isRepeated) return values.map((value) => this.#single(field, value, depth));
    return this.#single(field, singleOf(field, values) ?? 0n, depth);
  }

  #map(
    field: ProtoField,
    { key, value }: { readonly key: ProtoField; readonly value: ProtoField },
    entries: readonly WireValue[],
    depth: number,
  ): PrintedJson {
    const printed = new Map<string, PrintedJson>();
    const type = this.#types.typeOfField(field);
    for (const entry of entries) {
      if (type === undefined || typeof entry === 'bigint') continue;
      const parts = readMessage(type, entry);
      const name = this.#single(key, parts.get(1)?.at(-1) ?? emptyOf(key), depth);
      const item = singleOf(value, parts.get(2) ?? []) ?? emptyOf(value);
      printed.set(
        name instanceof RawJson ? name.text : String(name as string | boolean),
        this.#single(value, item, depth),
      );
    }
    return printed;
  }

  #single(field: ProtoField, value: WireValue, depth: number): PrintedJson {
    const range = rangeOf(field.kind);
    if (range !== undefined) {
      const number = integerOf(field.kind, value);
      return range.max > 2n ** 32n ? String(number) : new RawJson(String(number));
    }
    if (typeof value === 'bigint') {
      return field.kind === 'bool' ? value !== 0n : this.#enum(field, value);
    }
    switch (field.kind) {
      case 'double':
        return printDouble(value.readDoubleLE());
      case 'float':
        return printFloat(value.readFloatLE());
      case 'string':
        return value.toString('utf8');
      case 'message': {
        const type = this.#types.typeOfField(field);
        return type === undefined ? new Map() : this.#message(type, value, depth + 1);
      }
      default:
        return value.toString('base64');
    }
  }

  #enum(field: ProtoField, value: bigint): PrintedJson {
    if (field.type === 'google.protobuf.NullValue') return null;
    const number = Number(integerOf('enum', value));
    const name = this.#options.enumsAsNumbers
      ? undefined
      : this.#types.enumOf(field.type ?? '')?.names.get(number);
    return name ?? new RawJson(String(number));
  }

  /** Undefined where nothing is printed of a field that is not there. */
  #default(field: ProtoField): PrintedJson | undefined {
    if (!this.#options.printsDefaults || field.hasPresence) return undefined;
    if (field.isRepeated) return this.#types.mapOf(field) === undefined ? [] : new Map();
    return this.#single(field, emptyOf(field), 0);
  }

  #wrapper(type: MessageType, data: Buffer, depth: number): PrintedJson {
    const field = type.byNumber.get(1);
    if (field === undefined) return null;
    return this.#single(field, readMessage(type, data).get(1)?.at(-1) ?? emptyOf(field), depth);
  }

  #struct(type: MessageType, data: Buffer, depth: number): PrintedJson {
    const field = type.byNumber.get(1);
    const entries = readMessage(type, data).get(1) ?? [];
    return field === undefined ? new Map() : this.#field(field, entries, depth);
  }

  #list(type: MessageType, data: Buffer, depth: number): PrintedJson {
    const field = type.byNumber.get(1);
    const values = readMessage(type, data).get(1) ?? [];
    return field === undefined ? [] : values.map((value) => this.#single(field, value, depth));
  }

  #value(type: MessageType, data: Buffer, depth: number): PrintedJson {
    for (const [number, values] of readMessage(type, data)) {
      const field = type.byNumber.get(number);
      const value = values.at(-1);
      if (field === undefined || value === undefined) continue;
      if (field.kind === 'double') checkFinite(value as Buffer);
      return this.#single(field, value, depth);
    }
    return null;
  }

  #any(type: MessageType, data: Buffer, depth: number): PrintedJson {
    const values = readMessage(type, data);
    const url = values.get(1)?.at(-1) ?? NOTHING;
    const content = values.get(2)?.at(-1) ?? NOTHING;
    if (typeof url === 'bigint' || typeof content === 'bigint' || url.length === 0)
      return new Map();
    const name = url.toString('utf8');
    const typeName = typeNameOf(name);
    if (typeName === undefined) throw new TranscodeError(wrongUrl(name));
    const inner = this.#types.message(typeName);
    if (inner === undefined) throw new TranscodeError(`Invalid type URL, unknown type: ${name}`);
    const printed = this.#message(inner, content, depth + 1);
    const members = new Map<string, PrintedJson>([['@type', name]]);
    if (printed instanceof Map) {
      const own = printed as ReadonlyMap<string, PrintedJson>;
      for (const [key, value] of own) members.set(key, value);
    } else {
      members.set('value', printed);
    }
    return members;
  }
}

function checkFinite(value: Buffer): void {
  const number = value.readDoubleLE();
  if (Number.isFinite(number)) return;
  const name = Number.isNaN(number) ? 'nan' : 'infinity';
  throw new TranscodeError(
    `google.protobuf.Value cannot encode double values for ${name}, because it would be parsed as a string`,
  );
}

/** What a scalar is that is not there. */
function emptyOf({ kind }: ProtoField): WireValue {
  switch (kind) {
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return Buffer.alloc(8);
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return Buffer.alloc(4);
    case 'string':
    case 'bytes':
    case 'message':
      return NOTHING;
    default:
      return 0n;
  }
}

function timeText(
  type: MessageType,
  data: Buffer,
  print: (time: SecondsAndNanos) => string | undefined,
): PrintedJson {
  const values = readMessage(type, data);
  const seconds = integerOf('int64', values.get(1)?.at(-1) ?? 0n);
  const nanos = Number(integerOf('int32', values.get(2)?.at(-1) ?? 0n));
  const text = print({ seconds, nanos });
  if (text === undefined) throw new TranscodeError(`${type.name} is out of its range`);
  return text;
}

function fieldMask(type: MessageType, data: Buffer): PrintedJson {
  const paths = readMessage(type, data).get(1) ?? [];
  return paths
    .map((path) => (typeof path === 'bigint' ? '' : path.toString('utf8')))
    .map((path) => path.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
    .join(',');
}
