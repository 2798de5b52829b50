/**
 * The API as protobufjs reflects it, for what needs that library. All of it takes some 200 ms to
 * load; what one message can hold, much less.
 */
import protobuf from 'protobufjs';
import type { FieldDescriptor, PackageDescriptor } from '../../../shared/api/descriptor.ts';
import { listPackages, readPackage } from '../../../shared/api/descriptor.ts';
import type { ApiCatalog } from '../api/api-catalog.ts';

const wellKnownPackage = 'google.protobuf';

/** All messages of the API. */
export function loadWholeApi(): protobuf.Root {
  return makeRoot(listPackages(), () => true);
}

/** The named messages and everything that they can hold, save what an Any names. */
export function loadApiAround(catalog: ApiCatalog, typeNames: readonly string[]): protobuf.Root {
  const names = new Set<string>();
  const pending = [...typeNames];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const type = names.has(name) ? undefined : catalog.findMessage(name);
    names.add(name);
    for (const field of type?.fields ?? []) {
      if (field.descriptor.type !== undefined) {
        pending.push(field.descriptor.type);
      }
    }
  }
  const packages = new Set([wellKnownPackage, ...[...names].map(packageOf)]);
  return makeRoot([...packages], (name) => names.has(name));
}

function packageOf(fullName: string): string {
  return /^[a-z0-9_.]*(?=\.[A-Z])/.exec(fullName)?.[0] ?? '';
}

function makeRoot(packages: readonly string[], wanted: (name: string) => boolean): protobuf.Root {
  const json: protobuf.INamespace = { nested: {} };
  for (const name of packages) {
    const descriptor = readPackage(name);
    if (descriptor?.package === wellKnownPackage) {
      addWellKnown(json, descriptor);
    } else if (descriptor !== undefined) {
      addPackage(json, descriptor, wanted);
    }
  }
  const root = protobuf.Root.fromJSON(json);
  root.resolveAll();
  return root;
}

/** protobufjs handles these by its own declarations. */
function addWellKnown(root: protobuf.INamespace, descriptor: PackageDescriptor): void {
  const files = new Set(Object.values(descriptor.messages).map((message) => message.file));
  for (const file of files) {
    const nested = protobuf.common.get(file)?.nested?.['google'] as protobuf.INamespace | undefined;
    const types = nested?.nested?.['protobuf'] as protobuf.INamespace | undefined;
    Object.assign((namespaceAt(root, wellKnownPackage)['nested'] ??= {}), types?.nested);
  }
}

type Nested = Record<string, Record<string, unknown>>;

function addPackage(
  root: protobuf.INamespace,
  descriptor: PackageDescriptor,
  wanted: (name: string) => boolean,
): void {
  for (const [name, message] of Object.entries(descriptor.messages)) {
    if (!wanted(`${descriptor.package}.${name}`)) {
      continue;
    }
    const target = namespaceAt(root, `${descriptor.package}.${name}`);
    target['fields'] = Object.fromEntries(
      message.fields.map((field) => [field.name, fieldJson(field)]),
    );
    const oneofs = (message.oneofs ?? []).map((oneof, index) => [
      oneof.name,
      {
        oneof: message.fields.filter((field) => field.oneof === index).map((field) => field.name),
      },
    ]);
    target['oneofs'] = Object.fromEntries(oneofs) as unknown;
  }
  for (const [name, type] of Object.entries(descriptor.enums)) {
    namespaceAt(root, `${descriptor.package}.${name}`)['values'] = type.values;
  }
}

function namespaceAt(root: protobuf.INamespace, path: string): Record<string, unknown> {
  let target = root as Record<string, unknown>;
  for (const step of path.split('.')) {
    const nested = (target['nested'] ??= {}) as Nested;
    target = nested[step] ??= {};
  }
  return target;
}

function fieldJson(field: FieldDescriptor): protobuf.IField {
  const type = field.type === undefined ? field.kind : `.${field.type}`;
  const json: Record<string, unknown> = { type, id: field.number };
  if (field.mapKey !== undefined) {
    json['keyType'] = field.mapKey;
  } else if (field.repeated === true) {
    json['rule'] = 'repeated';
  }
  return json as unknown as protobuf.IField;
}
