/** Collects the messages, enums and services that one parsed .proto file declares into the model. */
import protobuf from 'protobufjs';
import type {
  EnumValueStatus,
  FieldDescriptor,
  FieldKind,
  OneofDescriptor,
  ScalarKind,
} from '../../shared/api/descriptor.ts';
import type { ApiModel, EnumModel, MessageModel, Mutable } from './api-model.ts';
import { readFieldOptions } from './field-options.ts';

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

export function collect(parent: protobuf.NamespaceBase, context: FileContext): void {
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
