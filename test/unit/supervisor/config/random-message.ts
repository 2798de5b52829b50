/** Makes random normalised messages of any type of the API, the same for the same seed. */
import type { ScalarKind } from '../../../../shared/api/descriptor.ts';
import type {
  ApiCatalog,
  FieldType,
  MessageType,
} from '../../../../supervisor/config/api/api-catalog.ts';

type Message = Record<string, unknown>;

const anyTypes = [
  'envoy.config.core.v3.Node',
  'envoy.config.core.v3.HeaderValue',
  'google.protobuf.Duration',
  'google.protobuf.UInt64Value',
  'google.protobuf.Struct',
  'google.protobuf.Empty',
];

const texts = ['a', 'x-y', 'é😀', 'a"b\\c\n', ' ', '0', 'true', 'null', '__proto__'];

export class RandomMessage {
  readonly #catalog: ApiCatalog;
  #state: number;

  constructor(catalog: ApiCatalog, seed: number) {
    this.#catalog = catalog;
    this.#state = seed | 0;
  }

  /** Deeper messages have fewer fields. */
  message(typeName: string, depth = 0): Message {
    const type = this.#catalog.message(typeName);
    const message: Message = {};
    const oneofs = new Set<number>();
    const wanted = Math.max(0.02, 0.5 - depth * 0.12);
    for (const field of type.fields) {
      const oneof = field.descriptor.oneof;
      if (depth > 6 || this.#chance() > wanted || (oneof !== undefined && oneofs.has(oneof))) {
        continue;
      }
      const value = this.#field(field, depth);
      if (value !== undefined) {
        message[field.name] = value;
        oneofs.add(oneof ?? -1);
      }
    }
    return message;
  }

  #field(field: FieldType, depth: number): unknown {
    if (field.isMap) {
      const key =
        field.descriptor.mapKey === 'string' ? this.#pick(['a', 'é', '']) : this.#mapKey(field);
      return { [key]: this.#value(field, depth) };
    }
    if (field.isList) {
      return Array.from({ length: 1 + this.#below(3) }, () => this.#value(field, depth));
    }
    const value = this.#value(field, depth);
    const empty = value === 0 || value === '' || value === '0' || value === false;
    const isDefault = empty || (field.kind === 'enum' && value === field.enum.nameOf(0));
    return isDefault && field.kind !== 'message' && !field.hasPresence ? undefined : value;
  }

  #mapKey(field: FieldType): string {
    return field.descriptor.mapKey === 'bool' ? 'true' : String(1 + this.#below(9));
  }

  #value(field: FieldType, depth: number): unknown {
    if (field.kind === 'message') {
      return this.#nested(field.message, depth + 1);
    }
    if (field.kind === 'enum') {
      const known = field.enum.names.map((name) => field.enum.descriptor.values[name] ?? 0);
      const number = this.#pick([...known, 12345]);
      return field.enum.fullName === 'google.protobuf.NullValue'
        ? null
        : (field.enum.nameOf(number) ?? number);
    }
    return this.#scalar(field.kind);
  }

  #nested(type: MessageType, depth: number): unknown {
    switch (type.fullName) {
      case 'google.protobuf.Any': {
        const name = this.#pick(anyTypes);
        const url = `type.googleapis.com/${name}`;
        const inner = this.#catalog.message(name);
        const wellKnown = name.startsWith('google.protobuf.') && name !== 'google.protobuf.Empty';
        return wellKnown
          ? { '@type': url, value: this.#nested(inner, depth + 1) }
          : { '@type': url, ...this.message(name, depth + 1) };
      }
      case 'google.protobuf.Duration':
        return this.#pick(['0s', '1s', '-1.500s', '0.000001s', '315576000000s', '-0.000000001s']);
      case 'google.protobuf.Timestamp':
        return this.#pick([
          '1970-01-01T00:00:00Z',
          '2024-02-29T12:34:56.789Z',
          '0001-01-01T00:00:00Z',
        ]);
      case 'google.protobuf.FieldMask':
        return this.#pick(['a', 'a.b_c,d']);
      case 'google.protobuf.Struct':
        return this.#struct(depth);
      case 'google.protobuf.ListValue':
        return [this.#jsonValue(depth)];
      case 'google.protobuf.Value':
        return this.#jsonValue(depth);
      default:
        return this.#wrapped(type) ?? this.message(type.fullName, depth);
    }
  }

  #wrapped(type: MessageType): unknown {
    const match = /^google\.protobuf\.(\w+)Value$/.exec(type.fullName);
    const name = match?.[1]?.toLowerCase();
    return name === undefined ? undefined : this.#scalar(name as ScalarKind);
  }

  #struct(depth: number): Message {
    return depth > 6 ? {} : { a: this.#jsonValue(depth + 1), 'b c': this.#jsonValue(depth + 1) };
  }

  #jsonValue(depth: number): unknown {
    const choice = this.#below(depth > 6 ? 4 : 6);
    switch (choice) {
      case 0:
        return null;
      case 1:
        return this.#pick([0, -1.5, 1e21, 12345678901]);
      case 2:
        return this.#pick(texts);
      case 3:
        return this.#chance() < 0.5;
      case 4:
        return [this.#jsonValue(depth + 1)];
      default:
        return this.#struct(depth + 1);
    }
  }

  #scalar(kind: ScalarKind): unknown {
    switch (kind) {
      case 'string':
        return this.#pick(texts);
      case 'bytes':
        return this.#pick(['', 'YQ==', '/+8=', 'AAEC']);
      case 'bool':
        return this.#chance() < 0.5;
      case 'float':
        return this.#pick([0, 0.1, -1.5, 3.4028235e38, 'NaN', 'Infinity']);
      case 'double':
        return this.#pick([0, 0.1, -1.5, 1e300, 'NaN', '-Infinity', 5e-324]);
      case 'int64':
      case 'sint64':
      case 'sfixed64':
        return this.#pick(['0', '1', '-9223372036854775808', '9223372036854775807']);
      case 'uint64':
      case 'fixed64':
        return this.#pick(['0', '1', '18446744073709551615']);
      case 'uint32':
      case 'fixed32':
        return this.#pick([0, 1, 4294967295]);
      default:
        return this.#pick([0, 1, -2147483648, 2147483647]);
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#chance() * limit);
  }

  /** mulberry32 */
  #chance(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
}
