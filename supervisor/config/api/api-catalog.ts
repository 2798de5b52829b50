/**
 * The API at run time: messages, fields and enums with their links followed on demand. It reads
 * the build's descriptor packages when a type in them is first asked for, and never all at once
 * except to look for similar names.
 */
import {
  type EnumDescriptor,
  type FieldDescriptor,
  type MessageDescriptor,
  type MethodDescriptor,
  type OneofDescriptor,
  type PackageDescriptor,
  listPackages,
  readPackage,
} from '../../../shared/api/descriptor.ts';

/** One set of loaded types. Give the same catalog to everything that works on the same messages. */
export class ApiCatalog {
  readonly #packages = new Map<string, PackageDescriptor | undefined>();
  readonly #messages = new Map<string, MessageType>();
  readonly #enums = new Map<string, EnumType>();

  /** Undefined when the API has no such message. */
  findMessage(fullName: string): MessageType | undefined {
    const known = this.#messages.get(fullName);
    if (known !== undefined) {
      return known;
    }
    const [packageName, name] = splitName(fullName);
    const descriptor = lookUp(this.#package(packageName)?.messages, name);
    if (descriptor === undefined) {
      return undefined;
    }
    const type = new MessageType(this, fullName, descriptor);
    this.#messages.set(fullName, type);
    return type;
  }

  /** Throws when there is none: the name comes from a descriptor or from the program. */
  message(fullName: string): MessageType {
    const type = this.findMessage(fullName);
    if (type === undefined) {
      throw new Error(`cannot load message type ${fullName}: the API does not declare it`);
    }
    return type;
  }

  enumType(fullName: string): EnumType {
    const known = this.#enums.get(fullName);
    if (known !== undefined) {
      return known;
    }
    const [packageName, name] = splitName(fullName);
    const descriptor = lookUp(this.#package(packageName)?.enums, name);
    if (descriptor === undefined) {
      throw new Error(`cannot load enum ${fullName}: the API does not declare it`);
    }
    const type = new EnumType(fullName, descriptor);
    this.#enums.set(fullName, type);
    return type;
  }

  /** The methods of a service, such as `envoy.service.discovery.v3.AggregatedDiscoveryService`. */
  findService(fullName: string): readonly MethodDescriptor[] | undefined {
    const [packageName, name] = splitName(fullName);
    return lookUp(this.#package(packageName)?.services, name);
  }

  /** Every message of the API by full name. Reads all packages: for error messages only. */
  messageNames(): string[] {
    return listPackages().flatMap((packageName) =>
      Object.keys(this.#package(packageName)?.messages ?? {}).map(
        (name) => `${packageName}.${name}`,
      ),
    );
  }

  #package(name: string): PackageDescriptor | undefined {
    if (!this.#packages.has(name)) {
      this.#packages.set(name, readPackage(name));
    }
    return this.#packages.get(name);
  }
}

export class MessageType {
  readonly fullName: string;
  readonly file: string;
  readonly fields: readonly FieldType[];
  readonly oneofs: readonly OneofDescriptor[];
  readonly deprecated: boolean;
  readonly workInProgress: boolean;
  /** The message's rules are switched off in the API. */
  readonly unvalidated: boolean;
  /** One of google.protobuf, most of which JSON writes in forms of their own. */
  readonly isWellKnown: boolean;
  readonly #byName = new Map<string, FieldType>();
  #byNumber: Map<number, FieldType> | undefined;

  constructor(catalog: ApiCatalog, fullName: string, descriptor: MessageDescriptor) {
    this.fullName = fullName;
    this.isWellKnown = fullName.startsWith('google.protobuf.');
    this.file = descriptor.file;
    this.oneofs = descriptor.oneofs ?? [];
    this.deprecated = descriptor.deprecated === true;
    this.workInProgress = descriptor.workInProgress === true;
    this.unvalidated = descriptor.unvalidated === true;
    this.fields = descriptor.fields.map((field) => new FieldType(catalog, field));
    for (const field of this.fields) {
      this.#byName.set(field.jsonName, field);
    }
    for (const field of this.fields) {
      this.#byName.set(field.name, field);
    }
  }

  /** The last part of the full name, which validation errors are named after. */
  get shortName(): string {
    return this.fullName.slice(this.fullName.lastIndexOf('.') + 1);
  }

  /** By the .proto file's name or its lowerCamelCase form. */
  field(name: string): FieldType | undefined {
    return this.#byName.get(name);
  }

  fieldByNumber(number: number): FieldType | undefined {
    this.#byNumber ??= new Map(this.fields.map((field) => [field.number, field]));
    return this.#byNumber.get(number);
  }
}

export class FieldType {
  readonly name: string;
  readonly jsonName: string;
  readonly number: number;
  readonly descriptor: FieldDescriptor;
  readonly kind: FieldDescriptor['kind'];
  readonly isMap: boolean;
  readonly isList: boolean;
  /** A default value that was given is kept: the field is `optional` or in a oneof. */
  readonly hasPresence: boolean;
  readonly #catalog: ApiCatalog;
  #message: MessageType | undefined;
  #enum: EnumType | undefined;

  constructor(catalog: ApiCatalog, descriptor: FieldDescriptor) {
    this.#catalog = catalog;
    this.descriptor = descriptor;
    this.name = descriptor.name;
    this.jsonName = toLowerCamelCase(descriptor.name);
    this.number = descriptor.number;
    this.kind = descriptor.kind;
    this.isMap = descriptor.mapKey !== undefined;
    this.isList = descriptor.repeated === true;
    this.hasPresence = descriptor.optional === true || descriptor.oneof !== undefined;
  }

  /** The type of a message field, or of a map's values. */
  get message(): MessageType {
    this.#message ??= this.#catalog.message(this.descriptor.type ?? '');
    return this.#message;
  }

  get enum(): EnumType {
    this.#enum ??= this.#catalog.enumType(this.descriptor.type ?? '');
    return this.#enum;
  }
}

export class EnumType {
  readonly fullName: string;
  readonly descriptor: EnumDescriptor;
  readonly #byNumber = new Map<number, string>();
  #byLowerCase: Map<string, number> | undefined;

  constructor(fullName: string, descriptor: EnumDescriptor) {
    this.fullName = fullName;
    this.descriptor = descriptor;
    for (const [name, number] of Object.entries(descriptor.values)) {
      if (!this.#byNumber.has(number)) {
        this.#byNumber.set(number, name);
      }
    }
  }

  nameOf(number: number): string | undefined {
    return this.#byNumber.get(number);
  }

  /** Finds a value by its exact name, or by its name in another case. */
  numberOf(name: string): number | undefined {
    if (Object.hasOwn(this.descriptor.values, name)) {
      return this.descriptor.values[name];
    }
    this.#byLowerCase ??= new Map(
      Object.entries(this.descriptor.values).map(([key, value]) => [key.toLowerCase(), value]),
    );
    return this.#byLowerCase.get(name.toLowerCase());
  }

  get names(): string[] {
    return Object.keys(this.descriptor.values);
  }
}

/** Splits at the first capitalised part: packages are lower case, messages are not. */
function splitName(fullName: string): [packageName: string, name: string] {
  const match = /^((?:[a-z][a-z0-9_]*\.)*)([A-Z].*)$/.exec(fullName);
  return match === null ? ['', fullName] : [(match[1] ?? '').slice(0, -1), match[2] ?? ''];
}

function lookUp<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

function toLowerCamelCase(name: string): string {
  return name.replace(/_+([a-z0-9]?)/g, (_match, letter: string) => letter.toUpperCase());
}
