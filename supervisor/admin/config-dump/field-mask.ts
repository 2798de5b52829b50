/**
 * Field masks of `/config_dump`: `a.b,c.d` keeps these fields only. A path may go through messages
 * and into one `Any` at the top level of the dumped message, never through lists and maps.
 */
import { typeNameOf } from '../../config/type-name.ts';
import type { FieldDescriptor, MessageDescriptor } from '../../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type { MessageTypes } from '../message-types.ts';

/** The paths of a mask; empty parts are skipped, so that `mask=` masks nothing. */
export function parseMask(text: string): readonly string[] {
  return text.split(',').filter((path) => path !== '');
}

/** What Envoy's protobuf library prints of a mask in an error. */
export function describeMask(paths: readonly string[]): string {
  return `goo.gle/debugproto\n${paths.map((path) => `paths: "${path}"\n`).join('')}`;
}

/** A tree of names; a leaf (empty) keeps the whole field. */
export interface MaskTree {
  readonly [field: string]: MaskTree;
}

/** The message reduced to the paths, or undefined when a path is not valid for its type. */
export function applyMask(
  types: MessageTypes,
  typeName: string,
  message: JsonObject,
  paths: readonly string[],
): JsonObject | undefined {
  const isValid = paths.every((path) => isValidPath(types, typeName, message, path.split('.')));
  if (!isValid) return undefined;
  const trimmed = trim(message, treeOf(paths));
  const typeUrl = message['@type'];
  return typeUrl === undefined ? trimmed : { '@type': typeUrl, ...trimmed };
}

export function isValidPath(
  types: MessageTypes,
  typeName: string,
  message: JsonObject,
  path: readonly string[],
): boolean {
  const [first = '', ...rest] = path;
  const descriptor = types.find(typeName);
  const field = descriptor === undefined ? undefined : types.field(descriptor, first);
  if (descriptor === undefined || field === undefined) return false;
  if (field.type !== 'google.protobuf.Any' || field.repeated === true) {
    return isPathOf(types, descriptor, path);
  }
  // Into the Any, never all of it: its own type decides. An absent one accepts every path.
  const inner = message[first];
  if (inner === undefined) return true;
  if (rest.length === 0) return false;
  const innerType = (inner as JsonObject)['@type'];
  const innerDescriptor =
    typeof innerType === 'string' ? types.find(typeNameOf(innerType)) : undefined;
  return innerDescriptor !== undefined && isPathOf(types, innerDescriptor, rest);
}

function isPathOf(
  types: MessageTypes,
  descriptor: MessageDescriptor,
  path: readonly string[],
): boolean {
  let current: MessageDescriptor | undefined = descriptor;
  for (const [index, name] of path.entries()) {
    const field: FieldDescriptor | undefined =
      current === undefined ? undefined : types.field(current, name);
    if (field === undefined) return false;
    const isLast = index === path.length - 1;
    if (isLast) return true;
    if (field.kind !== 'message' || field.repeated === true || field.mapKey !== undefined) {
      return false;
    }
    current = field.type === undefined ? undefined : types.find(field.type);
  }
  return false;
}

export function treeOf(paths: readonly string[]): MaskTree {
  const root: Record<string, MaskTree> = Object.create(null) as Record<string, MaskTree>;
  for (const path of paths) insert(root, path.split('.'));
  return root;
}

// A shorter path covers the longer ones below it, in whichever order they come.
function insert(root: Record<string, MaskTree>, path: readonly string[]): void {
  let node = root;
  for (const [index, name] of path.entries()) {
    const next = node[name] as Record<string, MaskTree> | undefined;
    const isLast = index === path.length - 1;
    if (next !== undefined && Object.keys(next).length === 0) return;
    if (next === undefined || isLast) {
      const made = Object.create(null) as Record<string, MaskTree>;
      node[name] = made;
      node = made;
    } else {
      node = next;
    }
  }
}

export function trim(message: JsonObject, tree: MaskTree): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(message)) {
    const inner = tree[name];
    if (inner === undefined) continue;
    if (Object.keys(inner).length === 0) {
      result[name] = value;
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const object = value as JsonObject;
      const typeUrl = object['@type'];
      const kept = trim(object, inner);
      result[name] = typeUrl === undefined ? kept : { '@type': typeUrl, ...kept };
    }
  }
  return result;
}
