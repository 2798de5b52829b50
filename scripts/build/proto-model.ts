/**
 * Parses .proto files into one model of the API. Files that declare the same message are merged:
 * the later one (an overlay) adds fields, oneofs and enum values to the earlier. Type names are
 * resolved here, by protobuf's scoping rules, over the whole model; imports are not followed.
 */
import protobuf from 'protobufjs';
import type { ApiModel } from './api-model.ts';
import { collect } from './collect-declarations.ts';

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
