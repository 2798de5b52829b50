/**
 * Writes TypeScript types of the API's normalised form: one module per .proto file, one interface
 * per message (`Outer_Inner` for nested ones), one union of names per enum. Files whose text did
 * not change are left alone, so that the compiler's incremental state stays valid.
 */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { FieldDescriptor, ScalarKind } from '../../shared/api/descriptor.ts';
import type { ApiModel } from './api-model.ts';

const header =
  '/** Made by the build from the .proto file of the same path; the normalised JSON form. */\n';

const wellKnown: Readonly<Record<string, string>> = {
  'google.protobuf.Any': 'wk.Any',
  'google.protobuf.Duration': 'wk.DurationString',
  'google.protobuf.Timestamp': 'wk.TimestampString',
  'google.protobuf.FieldMask': 'wk.FieldMaskString',
  'google.protobuf.Struct': 'wk.JsonObject',
  'google.protobuf.Value': 'wk.JsonValue',
  'google.protobuf.ListValue': 'readonly wk.JsonValue[]',
  'google.protobuf.NullValue': 'null',
  'google.protobuf.Empty': 'Readonly<Record<string, never>>',
  'google.protobuf.BoolValue': 'boolean',
  'google.protobuf.StringValue': 'string',
  'google.protobuf.BytesValue': 'wk.BytesString',
  'google.protobuf.FloatValue': 'wk.Float',
  'google.protobuf.DoubleValue': 'wk.Float',
  'google.protobuf.Int32Value': 'number',
  'google.protobuf.UInt32Value': 'number',
  'google.protobuf.Int64Value': 'wk.Int64String',
  'google.protobuf.UInt64Value': 'wk.Int64String',
};

interface Module {
  readonly file: string;
  readonly imports: Map<string, string>;
  readonly body: string[];
}

export function writeTypes(model: ApiModel, folder: string): void {
  const modules = describeModules(model);
  const kept = new Set<string>();
  for (const module of modules.values()) {
    const path = modulePath(module.file);
    kept.add(path);
    writeIfChanged(join(folder, path), renderModule(module));
  }
  const present = existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
    : [];
  for (const path of present) {
    if (path.endsWith('.ts') && !kept.has(path)) {
      rmSync(join(folder, path));
    }
  }
}

function describeModules(model: ApiModel): Map<string, Module> {
  const modules = new Map<string, Module>();
  const moduleOf = (file: string): Module => {
    const known = modules.get(file) ?? { file, imports: new Map(), body: [] };
    modules.set(file, known);
    return known;
  };
  for (const [fullName, message] of model.messages) {
    if (fullName.startsWith('google.protobuf.')) {
      continue;
    }
    const module = moduleOf(message.file);
    const fields = message.fields.map(
      (field) => `  readonly ${field.name}?: ${fieldType(model, module, field)};\n`,
    );
    const mark = message.deprecated === true ? '/** @deprecated */\n' : '';
    module.body.push(`${mark}export interface ${flat(message.name)} {\n${fields.join('')}}\n`);
  }
  for (const [fullName, type] of model.enums) {
    if (fullName.startsWith('google.protobuf.')) {
      continue;
    }
    const names = Object.keys(type.values).map((name) => `  | '${name}'\n`);
    moduleOf(type.file).body.push(
      `export type ${flat(type.name)} =\n${names.join('')}  | number;\n`,
    );
  }
  return modules;
}

function fieldType(model: ApiModel, module: Module, field: FieldDescriptor): string {
  const single =
    field.type === undefined
      ? scalarType(field.kind as ScalarKind)
      : referenceType(model, module, field.type);
  if (field.mapKey !== undefined) {
    return `Readonly<Record<string, ${single}>>`;
  }
  return field.repeated === true ? `readonly (${single})[]` : single;
}

function scalarType(kind: ScalarKind): string {
  switch (kind) {
    case 'bool':
      return 'boolean';
    case 'string':
      return 'string';
    case 'bytes':
      return 'wk.BytesString';
    case 'float':
    case 'double':
      return 'wk.Float';
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      return 'wk.Int64String';
    default:
      return 'number';
  }
}

function referenceType(model: ApiModel, module: Module, fullName: string): string {
  const builtIn = wellKnown[fullName];
  if (builtIn !== undefined) {
    return builtIn;
  }
  const target = model.messages.get(fullName) ?? model.enums.get(fullName);
  if (target === undefined) {
    throw new Error(`cannot write types of ${module.file}: ${fullName} is not declared`);
  }
  if (target.file === module.file) {
    return flat(target.name);
  }
  const alias = target.file.replace(/\.proto$/, '').replace(/[^A-Za-z0-9]/g, '_');
  module.imports.set(alias, target.file);
  return `${alias}.${flat(target.name)}`;
}

function renderModule(module: Module): string {
  const from = dirname(modulePath(module.file));
  const lines = [`import type * as wk from '${relativeImport(from, '../well-known.ts')}';\n`];
  for (const [alias, file] of [...module.imports].sort(([a], [b]) => (a < b ? -1 : 1))) {
    lines.push(`import type * as ${alias} from '${relativeImport(from, modulePath(file))}';\n`);
  }
  const body = module.body.join('\n');
  const used = body.includes('wk.') ? lines : lines.slice(1);
  return `${header}${used.join('')}\n${body}`;
}

function modulePath(file: string): string {
  return file.replace(/\.proto$/, '.ts');
}

function relativeImport(from: string, to: string): string {
  const path = relative(from, to);
  return path.startsWith('.') ? path : `./${path}`;
}

function flat(name: string): string {
  return name.replaceAll('.', '_');
}

function writeIfChanged(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) {
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
