/** Reads google.protobuf.FileDescriptorSet: messages, enums, services, and their `google.api.http`. */
import {
  type ProtoField as WireField,
  readMessage,
  visitFields,
} from '../../../../../shared/protobuf/proto-reader.ts';
import {
  PROTO_KINDS,
  type ProtoEnum,
  type ProtoField,
  type ProtoMessage,
} from '../../../../../shared/resources/filters/http/grpc-json-transcoder.ts';

export interface HttpRule {
  readonly verb: string;
  readonly template: string;
  readonly body: string;
  readonly responseBody: string;
  readonly more: readonly HttpRule[];
}

export interface MethodDescriptor {
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly isClientStreaming: boolean;
  readonly isServerStreaming: boolean;
  readonly http: HttpRule | undefined;
}

export interface DescriptorSet {
  readonly messages: ReadonlyMap<string, ProtoMessage>;
  readonly enums: ReadonlyMap<string, ProtoEnum>;
  /** By full name. */
  readonly services: ReadonlyMap<string, readonly MethodDescriptor[]>;
}

/** The number of `google.api.http` in method options. */
const HTTP_OPTION = 72_295_728;
/** Types within types; more is no descriptor that a compiler made. */
const NESTING_MAX = 64;
const LABEL_REPEATED = 3;
const LABEL_REQUIRED = 2;
const IMPLICIT = 2;

class DamagedDescriptorError extends Error {}

/** Undefined for what is no descriptor set. */
export function readDescriptorSet(bytes: Buffer): DescriptorSet | undefined {
  const set = new SetReader();
  try {
    for (const file of Record.of(bytes).all(1)) set.readFile(Record.of(file));
  } catch (error) {
    if (error instanceof DamagedDescriptorError) return undefined;
    throw error;
  }
  return set;
}

/** One message, all of its records by number. */
class Record {
  readonly #bytes = new Map<number, Buffer[]>();
  readonly #varints = new Map<number, number>();

  static of(data: Buffer): Record {
    const record = readMessage(data, (bytes) => {
      const read = new Record();
      visitFields(bytes, (field) => read.#add(field));
      return read;
    });
    if (record === undefined) throw new DamagedDescriptorError();
    return record;
  }

  #add(field: WireField): void {
    const { number } = field;
    const varint = field.uint64();
    if (varint !== undefined) this.#varints.set(number, Number(BigInt.asIntN(64, varint)));
    const bytes = field.bytes();
    if (bytes === undefined) return;
    const known = this.#bytes.get(number);
    if (known === undefined) this.#bytes.set(number, [bytes]);
    else known.push(bytes);
  }

  all(number: number): readonly Buffer[] {
    return this.#bytes.get(number) ?? [];
  }

  text(number: number): string {
    return this.all(number).at(-1)?.toString('utf8') ?? '';
  }

  has(number: number): boolean {
    return this.#bytes.has(number) || this.#varints.has(number);
  }

  varint(number: number): number | undefined {
    return this.#varints.get(number);
  }

  /** The value of a message field; empty when it is not set. */
  message(number: number): Record {
    return Record.of(this.all(number).at(-1) ?? Buffer.alloc(0));
  }
}

/** Whether fields that say nothing else know that they are not set. */
function hasPresenceByDefault(file: Record): boolean {
  const syntax = file.text(12);
  if (syntax === 'editions') return file.message(8).message(50).varint(1) !== IMPLICIT;
  return syntax !== 'proto3';
}

class SetReader implements DescriptorSet {
  readonly messages = new Map<string, ProtoMessage>();
  readonly enums = new Map<string, ProtoEnum>();
  readonly services = new Map<string, readonly MethodDescriptor[]>();

  readFile(file: Record): void {
    const prefix = file.has(2) ? `${file.text(2)}.` : '';
    const hasPresence = hasPresenceByDefault(file);
    for (const message of file.all(4))
      this.#readMessage(Record.of(message), prefix, hasPresence, 0);
    for (const each of file.all(5)) this.#readEnum(Record.of(each), prefix);
    for (const service of file.all(6)) {
      const record = Record.of(service);
      const methods = record.all(2).map((method) => methodOf(Record.of(method)));
      this.services.set(prefix + record.text(1), methods);
    }
  }

  #readMessage(message: Record, prefix: string, hasPresence: boolean, depth: number): void {
    if (depth > NESTING_MAX) throw new DamagedDescriptorError();
    const name = prefix + message.text(1);
    const choices = message.all(8).map((choice) => Record.of(choice).text(1));
    const fields = message
      .all(2)
      .map((field) => fieldOf(Record.of(field), hasPresence, choices))
      .filter((field) => field !== undefined);
    const isMapEntry = message.message(7).varint(7) === 1;
    this.messages.set(name, { name, fields, isMapEntry });
    for (const nested of message.all(3)) {
      this.#readMessage(Record.of(nested), `${name}.`, hasPresence, depth + 1);
    }
    for (const each of message.all(4)) this.#readEnum(Record.of(each), `${name}.`);
  }

  #readEnum(record: Record, prefix: string): void {
    const name = prefix + record.text(1);
    const values = record.all(2).map((value) => {
      const each = Record.of(value);
      return [each.text(1), (each.varint(2) ?? 0) | 0] as const;
    });
    this.enums.set(name, { name, values });
  }
}

function fieldOf(
  field: Record,
  hasPresence: boolean,
  choices: readonly string[],
): ProtoField | undefined {
  const kind = PROTO_KINDS[field.varint(5) ?? 0];
  if (kind === undefined) return undefined;
  const name = field.text(1);
  const oneof = field.varint(9);
  const own = field.message(8).message(21).varint(1);
  const isRepeated = field.varint(4) === LABEL_REPEATED;
  const type = field.text(6).replace(/^\./, '');
  return {
    number: field.varint(3) ?? 0,
    name,
    jsonName: field.has(10) ? field.text(10) : lowerCamel(name),
    kind,
    ...(type === '' ? {} : { type }),
    isRepeated,
    hasPresence:
      !isRepeated &&
      (kind === 'message' ||
        oneof !== undefined ||
        field.varint(4) === LABEL_REQUIRED ||
        (own === undefined ? hasPresence : own !== IMPLICIT)),
    ...(oneof === undefined ? {} : { oneof: choices[oneof] ?? '' }),
  };
}

function methodOf(method: Record): MethodDescriptor {
  const http = method.message(4).all(HTTP_OPTION).at(-1);
  return {
    name: method.text(1),
    input: method.text(2).replace(/^\./, ''),
    output: method.text(3).replace(/^\./, ''),
    isClientStreaming: method.varint(5) === 1,
    isServerStreaming: method.varint(6) === 1,
    http: http === undefined ? undefined : ruleOf(Record.of(http)),
  };
}

/** Numbers of google.api.HttpRule. */
const VERBS: readonly (readonly [number: number, verb: string])[] = [
  [2, 'GET'],
  [3, 'PUT'],
  [4, 'POST'],
  [5, 'DELETE'],
  [6, 'PATCH'],
];

function ruleOf(rule: Record): HttpRule {
  const found = VERBS.find(([number]) => rule.has(number));
  const custom = rule.message(8);
  return {
    verb: found === undefined ? custom.text(1) : found[1],
    template: found === undefined ? custom.text(2) : rule.text(found[0]),
    body: rule.text(7),
    responseBody: rule.text(12),
    // Bindings of bindings do not count.
    more: rule.all(11).map((each) => ({ ...ruleOf(withoutMore(each)), more: [] })),
  };
}

function withoutMore(bytes: Buffer): Record {
  const record = Record.of(bytes);
  if (record.has(11)) throw new DamagedDescriptorError();
  return record;
}

/** The JSON name that a compiler makes. */
function lowerCamel(name: string): string {
  return name.replace(/_+([a-zA-Z0-9]?)/g, (_, letter: string) => letter.toUpperCase());
}
