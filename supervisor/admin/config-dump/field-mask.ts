/**
 * Field masks of `/config_dump`: `a.b,c.d` keeps these fields only. A path may go through messages
 * and into one `Any` at the top level of the dumped message, never through lists and maps. A mask
 * may be as long as a request, so that whatever looks at all of it does so in steps.
 */
import { escapeControls } from '../../../shared/logging/escape.ts';
import { typeNameOf } from '../../config/type-name.ts';
import type { MessageDescriptor } from '../../../shared/api/descriptor.ts';
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { MessageTypes } from '../message-types.ts';

/** Parts of paths that are looked at in one step. */
const PARTS_PER_STEP = 256;
/** Characters of paths that are escaped in one step. */
const ESCAPED_PER_STEP = 4096;

/** The paths below a name. */
interface MaskNode {
  names: Map<string, MaskNode> | undefined;
  /** Whether a path ends here: it keeps the whole field, and covers the longer ones. */
  isPath: boolean;
}

/** A name that has yet to be looked for in a message. */
interface Asked {
  readonly within: MessageDescriptor | undefined;
  readonly name: string;
  readonly node: MaskNode;
}

export class FieldMask {
  readonly #text: string;
  readonly #root: MaskNode;
  /** By the types that decide. */
  readonly #fits = new Map<string, boolean>();

  private constructor(text: string, root: MaskNode) {
    this.#text = text;
    this.#root = root;
  }

  static *read(text: string): Steps<FieldMask, ''> {
    const root = emptyNode();
    let parts = 0;
    for (const path of partsOf(text, ',')) {
      let node = root;
      for (const part of partsOf(path, '.')) {
        if (++parts % PARTS_PER_STEP === 0) yield '';
        if (path !== '') node = childOf(node, part);
      }
      if (path !== '') node.isPath = true;
    }
    return new FieldMask(text, root);
  }

  /** It masks nothing: empty parts are skipped. */
  get isEmpty(): boolean {
    return this.#root.names === undefined;
  }

  /** Whether a path begins with this field. */
  names(field: string): boolean {
    return this.#root.names?.has(field) === true;
  }

  /** The message reduced to the paths, or undefined when a path is not valid for its type. */
  *applied(
    types: MessageTypes,
    typeName: string,
    message: JsonObject,
  ): Steps<JsonObject | undefined, ''> {
    if (!(yield* this.fits(types, typeName, message))) return undefined;
    const trimmed = this.trim(message);
    const typeUrl = message['@type'];
    return typeUrl === undefined ? trimmed : { '@type': typeUrl, ...trimmed };
  }

  /** Whether every path is valid for the message. */
  *fits(types: MessageTypes, typeName: string, message: JsonObject): Steps<boolean, ''> {
    const descriptor = types.find(typeName);
    const asked: Asked[] = [];
    let key = typeName;
    for (const [name, node] of this.#root.names ?? []) {
      const field = descriptor && types.field(descriptor, name);
      if (field === undefined) return false;
      if (field.type !== 'google.protobuf.Any' || field.repeated === true) {
        asked.push({ within: descriptor, name, node });
        continue;
      }
      // Into the Any, never all of it: its own type decides. An absent one accepts every path.
      const inner = message[name];
      if (inner === undefined) continue;
      if (node.isPath) return false;
      const innerType = typeNameIn(inner as JsonObject);
      const within = types.find(innerType);
      key += ` ${name} ${innerType}`;
      for (const [below, child] of node.names ?? [])
        asked.push({ within, name: below, node: child });
    }
    const known = this.#fits.get(key);
    if (known !== undefined) return known;
    const fits = yield* areFields(types, asked);
    this.#fits.set(key, fits);
    return fits;
  }

  trim(message: JsonObject): JsonObject {
    return trimmed(message, this.#root);
  }

  /** The paths as they were sent, harmless to print. */
  *list(): Steps<string, ''> {
    return (yield* this.#escaped()).join(',');
  }

  /** What Envoy's protobuf library prints of a mask in an error. */
  *describe(): Steps<string, ''> {
    const lines = (yield* this.#escaped()).map((path) => `paths: "${path}"\n`);
    return `goo.gle/debugproto\n${lines.join('')}`;
  }

  *#escaped(): Steps<readonly string[], ''> {
    const paths: string[] = [];
    let length = 0;
    for (const path of partsOf(this.#text, ',')) {
      if (path !== '') paths.push(escapeControls(path));
      length += 1 + path.length;
      if (length < ESCAPED_PER_STEP) continue;
      length = 0;
      yield '';
    }
    return paths;
  }
}

function emptyNode(): MaskNode {
  return { names: undefined, isPath: false };
}

function childOf(node: MaskNode, name: string): MaskNode {
  const names = (node.names ??= new Map<string, MaskNode>());
  const known = names.get(name);
  if (known !== undefined) return known;
  const made = emptyNode();
  names.set(name, made);
  return made;
}

/** What `text.split(separator)` has, one after the other. */
function* partsOf(text: string, separator: string): Generator<string> {
  let start = 0;
  for (;;) {
    const end = text.indexOf(separator, start);
    if (end === -1) break;
    yield text.slice(start, end);
    start = end + 1;
  }
  yield text.slice(start);
}

function typeNameIn(any: JsonObject): string {
  const typeUrl = any['@type'];
  return typeof typeUrl === 'string' ? typeNameOf(typeUrl) : '';
}

/** Whether all of these, and what is asked below them, are fields that a path may name. */
function* areFields(types: MessageTypes, asked: Asked[]): Steps<boolean, ''> {
  let looked = 0;
  for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
    const { within, name, node } = next;
    const field = within && types.field(within, name);
    if (field === undefined) return false;
    if (node.names !== undefined) {
      if (field.kind !== 'message' || field.repeated === true || field.mapKey !== undefined) {
        return false;
      }
      const inner = field.type === undefined ? undefined : types.find(field.type);
      for (const [below, child] of node.names) {
        asked.push({ within: inner, name: below, node: child });
      }
    }
    if (++looked % PARTS_PER_STEP === 0) yield '';
  }
  return true;
}

function trimmed(message: JsonObject, node: MaskNode): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(message)) {
    const inner = node.names?.get(name);
    if (inner === undefined) continue;
    if (inner.isPath) {
      result[name] = value;
    } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      const object = value as JsonObject;
      const typeUrl = object['@type'];
      const kept = trimmed(object, inner);
      result[name] = typeUrl === undefined ? kept : { '@type': typeUrl, ...kept };
    }
  }
  return result;
}
