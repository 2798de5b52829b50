/**
 * Resource names that are URLs: `xdstp://<authority>/<type>/<id>?<context>`. Two of them mean the
 * same resource when their canonical forms are equal. Other names are opaque and stay as they are.
 */
import type { JsonObject } from '../../shared/api/well-known.ts';

export interface ResourceLocator {
  readonly authority: string;
  /** Full name of the message. */
  readonly type: string;
  /** Between slashes, decoded. The last one is `*` for all resources of a folder. */
  readonly id: readonly string[];
  /** Decoded. */
  readonly context: Readonly<Record<string, string>>;
}

/** A text that is no such URL; the message is Envoy's. */
export class ResourceLocatorError extends Error {
  readonly code = 'resource_locator';

  constructor(message: string) {
    super(message);
    this.name = 'ResourceLocatorError';
  }
}

const SCHEME = 'xdstp:';
const ANY = '*';
/** What is written as it is would mean something else there; beside it whatever is not visible. */
const RESERVED = {
  authority: /[%/?#]|[^\x20-\x7e]/gu,
  id: /[%:/?#[\]]|[^\x20-\x7e]/gu,
  context: /[%#[\]&=]|[^\x20-\x7e]/gu,
} as const;

/** Throws `ResourceLocatorError`. */
export function parseLocator(text: string): ResourceLocator {
  if (!text.startsWith(SCHEME)) {
    throw new ResourceLocatorError(`${text} does not have a xdstp:, http: or file: scheme`);
  }
  const [, authority = '', path = '', query = ''] =
    /^\/\/([^/?]*)([^?]*)\??(.*)$/su.exec(text.slice(SCHEME.length)) ?? [];
  const [, type = '', ...id] = path.split('/');
  if (type === '') throw new ResourceLocatorError(`Resource type missing from ${path || '/'}`);
  const pairs = query.split('&').filter((pair) => pair !== '');
  const context = pairs.map((pair) => {
    const [key = '', ...value] = pair.split('=');
    return [decode(key), decode(value.join('='))] as const;
  });
  return {
    authority: decode(authority),
    type,
    id: id.map(decode),
    context: Object.fromEntries(context),
  };
}

/** The canonical form: what needs no escape has none, the context is sorted by its keys. */
export function formatLocator({ authority, type, id, context }: ResourceLocator): string {
  const path = [type, ...id.map((part) => encode(part, 'id'))].join('/');
  const pairs = Object.entries(context)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${encode(key, 'context')}=${encode(value, 'context')}`);
  const query = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  return `${SCHEME}//${encode(authority, 'authority')}/${path}${query}`;
}

/** A name that is no URL, or a broken one, is its own canonical form. */
export function canonicalName(name: string): string {
  const locator = locatorOf(name);
  return locator === undefined ? name : formatLocator(locator);
}

/**
 * The name of all resources of the folder that this one is in; undefined where there is no folder.
 */
export function folderOf(name: string): string | undefined {
  const locator = locatorOf(name);
  if (locator === undefined || locator.id.length === 0) return undefined;
  return formatLocator({ ...locator, id: [...locator.id.slice(0, -1), ANY] });
}

/** Whether a canonical name stands for all resources of a folder. */
export function isFolder(name: string): boolean {
  return locatorOf(name)?.id.at(-1) === ANY;
}

/**
 * Adds what `node_context_params` says of the node (`id`, `locality.zone`, `metadata` and the
 * like); what the locator says itself counts more. Unknown keys say nothing.
 */
export function withNodeContext(
  locator: ResourceLocator,
  keys: readonly string[],
  node: JsonObject,
): ResourceLocator {
  const entries = keys.flatMap((key) => valuesOf(key, node));
  const own = Object.fromEntries(entries.map(([key, value]) => [`xds.node.${key}`, value]));
  return { ...locator, context: { ...own, ...locator.context } };
}

type Entries = readonly (readonly [string, string])[];

function valuesOf(key: string, node: JsonObject): Entries {
  const { locality, user_agent_build_version: build } = node;
  switch (key) {
    case 'id':
    case 'cluster':
    case 'user_agent_name':
    case 'user_agent_version':
      return [[key, textOf(node, key)]];
    case 'locality.region':
    case 'locality.zone':
    case 'locality.sub_zone':
      return [[key, textOf(locality, key.slice(key.indexOf('.') + 1))]];
    case 'user_agent_build_version.version': {
      const version = partOf(build, 'version');
      const numbers = ['major_number', 'minor_number', 'patch'].map(
        (field) => partOf(version, field) ?? 0,
      );
      return [[key, numbers.map(String).join('.')]];
    }
    case 'user_agent_build_version.metadata':
      return jsonOf(key, partOf(build, 'metadata'));
    case 'metadata':
      return jsonOf(key, node['metadata']);
    default:
      return [];
  }
}

function jsonOf(prefix: string, fields: unknown): Entries {
  return Object.entries((fields ?? {}) as JsonObject).map(
    ([key, value]) => [`${prefix}.${key}`, JSON.stringify(value)] as const,
  );
}

function textOf(message: unknown, field: string): string {
  const value = partOf(message, field);
  return typeof value === 'string' ? value : '';
}

function partOf(message: unknown, field: string): unknown {
  return (message as Readonly<Record<string, unknown>> | undefined)?.[field];
}

function locatorOf(name: string): ResourceLocator | undefined {
  if (!name.startsWith(SCHEME)) return undefined;
  try {
    return parseLocator(name);
  } catch (error) {
    if (error instanceof ResourceLocatorError) return undefined;
    throw error;
  }
}

/** What is no escape stays. */
function decode(text: string): string {
  if (!text.includes('%')) return text;
  const bytes = text.replace(/%([0-9a-f]{2})/giu, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function encode(text: string, part: keyof typeof RESERVED): string {
  return text.replace(RESERVED[part], (character) =>
    [...Buffer.from(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}
