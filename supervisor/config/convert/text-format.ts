/**
 * Reads protobuf's text format, with protobufjs's own parser over the whole API. The result is the
 * binary form, so that one decoder makes all normalised messages.
 */
import protobuf from 'protobufjs';
import textformat from 'protobufjs/ext/textformat.js';
import type { FieldDescriptor, PackageDescriptor } from '../../../shared/api/descriptor.ts';
import { listPackages, readPackage } from '../../../shared/api/descriptor.ts';

/** Throws with the parser's message, which names the line, when the text is no such message. */
export function encodeTextFormat(typeName: string, text: string): Uint8Array {
  const type = loadWholeApi().lookupType(typeName);
  return type.encode(textformat.fromText(type, text)).finish();
}

function loadWholeApi(): protobuf.Root {
  const json: protobuf.INamespace = { nested: {} };
  for (const name of listPackages()) {
    const descriptor = readPackage(name);
    if (descriptor !== undefined) {
      addPackage(json, descriptor);
    }
  }
  const root = protobuf.Root.fromJSON(json);
  root.resolveAll();
  return root;
}

type Nested = Record<string, Record<string, unknown>>;

function addPackage(root: protobuf.INamespace, descriptor: PackageDescriptor): void {
  for (const [name, message] of Object.entries(descriptor.messages)) {
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
