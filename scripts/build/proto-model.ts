/**
 * Parses .proto files into one model of the API. Files that declare the same message are merged:
 * the later one (an overlay) adds fields, oneofs and enum values to the earlier. Type names are
 * resolved here, by protobuf's scoping rules, over the whole model; imports are not followed.
 */
import protobuf from 'protobufjs';
import type {
  EnumDescriptor,
  EnumValueStatus,
  FieldDescriptor,
  FieldKind,
  MessageDescriptor,
  MethodDescriptor,
  OneofDescriptor,
  ScalarKind,
} from '../../shared/api/descriptor.ts';
import { readFieldOptions } from './field-options.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface MessageModel extends Mutable<Omit<MessageDescriptor, 'fields' | 'oneofs'>> {
  readonly name: string;
  readonly packageName: string;
  readonly fields: Mutable<FieldDescriptor>[];
  readonly oneofs: OneofDescriptor[];
}

export interface EnumModel {
  readonly name: string;
  readonly packageName: string;
  readonly file: string;
  readonly values: Record<string, number>;
  readonly deprecated: Record<string, EnumValueStatus>;
}

export interface ServiceModel {
  readonly name: string;
  readonly packageName: string;
  readonly methods: Mutable<MethodDescriptor>[];
}

/** The API by full names. */
export interface ApiModel {
  /** Files that are marked as work in progress, which marks every message in them. */
  readonly unfinishedFiles: Set<string>;
  readonly messages: Map<string, MessageModel>;
  readonly enums: Map<string, EnumModel>;
  readonly services: Map<string, ServiceModel>;
}

interface FileContext {
  readonly file: string;
  readonly packageName: string;
  readonly model: ApiModel;
}

const scalars: ReadonlySet<string> = new Set<ScalarKind>([
  'double',
  'float',
  'int32',
  'int64',
  'uint32',
  'uint64',
  'sint32',
  'sint64',
  'fixed32',
  'fixed64',
  'sfixed32',
  'sfixed64',
  'bool',
  'string',
  'bytes',
]);

/** Well-known types that protobufjs carries inside itself. */
const wellKnown = ['any', 'duration', 'empty', 'field_mask', 'struct', 'timestamp', 'wrappers'];

export function emptyModel(): ApiModel {
  const model: ApiModel = {
    unfinishedFiles: new Set(),
    messages: new Map(),
    enums: new Map(),
    services: new Map(),
  };
  for (const name of wellKnown) {
    const file = `google/protobuf/${name}.proto`;
    const json = protobuf.common.get(file);
    if (json === null) {
      throw new Error(`cannot load ${file}: protobufjs does not carry it`);
    }
    const root = protobuf.Root.fromJSON(json);
    collect(root, { file, packageName: 'google.protobuf', model });
  }
  for (const message of model.messages.values()) {
    for (const field of message.fields) {
      // protobufjs carries these with camelCase names; the .proto files have snake_case.
      field.name = field.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    }
  }
  return model;
}

/** Adds one file's declarations. Throws with the file's name when it does not parse. */
export function addProtoFile(model: ApiModel, file: string, source: string): void {
  try {
    const parsed = protobuf.parse(source, new protobuf.Root(), { keepCase: true });
    const packageName = parsed.package ?? '';
    readFileStatus(model, file, parsed.root.lookup(packageName)?.options);
    collect(parsed.root, { file, packageName, model });
  } catch (error) {
    throw new Error(`cannot compile ${file}: ${String(error)}`, { cause: error });
  }
}

/** An overlay may take the mark away again. */
function readFileStatus(
  model: ApiModel,
  file: string,
  options: Record<string, unknown> | null | undefined,
): void {
  for (const annotation of ['xds.annotations.v3.file_status', 'udpa.annotations.file_status']) {
    const unfinished = options?.[`(${annotation}).work_in_progress`];
    if (unfinished === true) {
      model.unfinishedFiles.add(file);
    } else if (unfinished === false) {
      model.unfinishedFiles.delete(file);
    }
  }
}

/** Replaces the type names that fields and methods use with full names. */
export function resolveModel(model: ApiModel): void {
  for (const [fullName, message] of model.messages) {
    if (model.unfinishedFiles.has(message.file)) {
      message.workInProgress = true;
    }
    for (const field of message.fields) {
      if (field.type !== undefined) {
        field.type = resolveName(model, fullName, field.type);
        field.kind = model.enums.has(field.type) ? 'enum' : 'message';
      }
    }
  }
  for (const [fullName, service] of model.services) {
    for (const method of service.methods) {
      method.request = resolveName(model, fullName, method.request);
      method.response = resolveName(model, fullName, method.response);
    }
  }
}

function resolveName(model: ApiModel, scope: string, name: string): string {
  const known = (candidate: string): boolean =>
    model.messages.has(candidate) || model.enums.has(candidate);
  if (name.startsWith('.')) {
    return name.slice(1);
  }
  for (let prefix = scope; ; prefix = prefix.slice(0, Math.max(0, prefix.lastIndexOf('.')))) {
    const candidate = prefix === '' ? name : `${prefix}.${name}`;
    if (known(candidate)) {
      return candidate;
    }
    if (prefix === '') {
      throw new Error(`cannot resolve type ${name} used in ${scope}: no file declares it`);
    }
  }
}

function collect(parent: protobuf.NamespaceBase, context: FileContext): void {
  for (const item of parent.nestedArray) {
    if (item instanceof protobuf.Type) {
      addMessage(item, context);
    } else if (item instanceof protobuf.Enum) {
      addEnum(item, context);
    } else if (item instanceof protobuf.Service) {
      addService(item, context);
    }
    if (item instanceof protobuf.Namespace) {
      collect(item, context);
    }
  }
}

function fullNameOf(item: protobuf.ReflectionObject): string {
  return item.fullName.replace(/^\./, '');
}

function nameInPackage(item: protobuf.ReflectionObject, context: FileContext): string {
  const fullName = fullNameOf(item);
  return context.packageName === '' ? fullName : fullName.slice(context.packageName.length + 1);
}

function addMessage(type: protobuf.Type, context: FileContext): void {
  const fullName = fullNameOf(type);
  let message = context.model.messages.get(fullName);
  if (message === undefined) {
    message = {
      name: nameInPackage(type, context),
      packageName: context.packageName,
      file: context.file,
      fields: [],
      oneofs: [],
    };
    context.model.messages.set(fullName, message);
  }
  applyMessageOptions(message, type);
  const realOneofs = type.oneofsArray.filter((oneof) => !isSynthetic(oneof));
  for (const oneof of realOneofs) {
    const index = message.oneofs.findIndex((known) => known.name === oneof.name);
    const required: unknown = oneof.options?.['(validate.required)'];
    const entry: OneofDescriptor = {
      name: oneof.name,
      ...(required === true ? { required: true } : {}),
    };
    if (index < 0) {
      message.oneofs.push(entry);
    } else if (required !== undefined) {
      message.oneofs[index] = entry;
    }
  }
  removeReserved(message, type);
  for (const field of type.fieldsArray) {
    const described = describeField(field, message.oneofs);
    const index = message.fields.findIndex((known) => known.name === described.name);
    if (index < 0) {
      message.fields.push(described);
    } else {
      message.fields[index] = described;
    }
  }
}

/** An overlay's `reserved "name"` takes a field away that the API no longer has. */
function removeReserved(message: MessageModel, type: protobuf.Type): void {
  for (const name of type.reserved ?? []) {
    const index = message.fields.findIndex((field) => field.name === name);
    if (index >= 0) {
      message.fields.splice(index, 1);
    }
  }
}

function applyMessageOptions(message: MessageModel, type: protobuf.Type): void {
  const options = type.options ?? {};
  if (options['deprecated'] === true) {
    message.deprecated = true;
  }
  const unfinished: unknown = options['(xds.annotations.v3.message_status).work_in_progress'];
  if (unfinished === true) {
    message.workInProgress = true;
  } else if (unfinished === false) {
    delete message.workInProgress;
  }
  if (options['(validate.disabled)'] === true || options['(validate.ignored)'] === true) {
    message.unvalidated = true;
  }
}

function isSynthetic(oneof: protobuf.OneOf): boolean {
  const [only] = oneof.fieldsArray;
  return oneof.fieldsArray.length === 1 && only?.options?.['proto3_optional'] === true;
}

function describeField(
  field: protobuf.Field,
  oneofs: readonly OneofDescriptor[],
): Mutable<FieldDescriptor> {
  const scalar = scalars.has(field.type);
  const described: Mutable<FieldDescriptor> = {
    name: field.name,
    number: field.id,
    kind: scalar ? (field.type as FieldKind) : 'message',
    ...(scalar ? {} : { type: field.type }),
  };
  if (field instanceof protobuf.MapField) {
    described.mapKey = field.keyType as ScalarKind;
  } else if (field.repeated) {
    described.repeated = true;
  }
  if (field.options?.['proto3_optional'] === true) {
    described.optional = true;
  } else if (field.partOf !== null) {
    const owner = field.partOf.name;
    described.oneof = oneofs.findIndex((oneof) => oneof.name === owner);
  }
  return Object.assign(described, readFieldOptions(field));
}

function addEnum(type: protobuf.Enum, context: FileContext): void {
  const fullName = fullNameOf(type);
  const known = context.model.enums.get(fullName);
  const model: EnumModel = known ?? {
    name: nameInPackage(type, context),
    packageName: context.packageName,
    file: context.file,
    values: {},
    deprecated: {},
  };
  context.model.enums.set(fullName, model);
  Object.assign(model.values, type.values);
  for (const [name, options] of Object.entries(type.valuesOptions ?? {})) {
    const status = enumValueStatus(options as Record<string, unknown>);
    if (status !== undefined) {
      model.deprecated[name] = status;
    }
  }
}

function enumValueStatus(options: Record<string, unknown>): EnumValueStatus | undefined {
  if (options['deprecated'] !== true) {
    return undefined;
  }
  const deprecatedAt = options['(envoy.annotations.deprecated_at_minor_version_enum)'];
  const disallowed = options['(envoy.annotations.disallowed_by_default_enum)'] === true;
  return {
    ...(typeof deprecatedAt === 'string' ? { deprecatedAt } : {}),
    ...(disallowed ? { disallowedByDefault: true } : {}),
  };
}

function addService(service: protobuf.Service, context: FileContext): void {
  const methods = service.methodsArray.map((method) => ({
    name: method.name,
    request: method.requestType,
    response: method.responseType,
    ...(method.requestStream === true ? { requestStream: true as const } : {}),
    ...(method.responseStream === true ? { responseStream: true as const } : {}),
  }));
  context.model.services.set(fullNameOf(service), {
    name: nameInPackage(service, context),
    packageName: context.packageName,
    methods,
  });
}

/** The descriptor of an enum, without empty members. */
export function enumDescriptor(model: EnumModel): EnumDescriptor {
  const { file, values, deprecated } = model;
  return { file, values, ...(Object.keys(deprecated).length > 0 ? { deprecated } : {}) };
}
