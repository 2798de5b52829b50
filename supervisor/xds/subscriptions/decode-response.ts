/**
 * From an answer's text or bytes to checked, named resources. Whatever is wrong with any of them
 * refuses the whole answer here, before anybody has looked at what the resources mean.
 */
import { typeNameOf } from '../../config/type-name.ts';
import type { DiscoveryResponse } from '../../../shared/api/generated/envoy/service/discovery/v3/discovery.ts';
import type {
  DeltaDiscoveryResponse,
  Resource,
} from '../../../shared/api/generated/envoy/service/discovery/v3/discovery.ts';
import type { Any, JsonObject } from '../../../shared/api/well-known.ts';
import type { ApiCatalog } from '../../config/api/api-catalog.ts';
import { ConfigError } from '../../config/config-error.ts';
import { printForError } from '../../config/convert/text-format-printer.ts';
import { loadMessageBytes, type LoadedMessage } from '../../config/load-config.ts';
import type { UnknownFields } from '../../config/convert/reader-options.ts';
import type { ConfigSource as SourceText } from '../../config/read-source.ts';
import { formatProblem } from '../../config/config-error.ts';
import type { RuntimeTexts } from '../../config/validate/api-status.ts';
import { durationMs } from '../../resources/values.ts';
import type { Place, Problem } from '../../config/problem.ts';
import {
  withoutDuplicates,
  type DiscoveredResource,
  type DiscoveryUpdate,
} from './discovery-update.ts';
import { checkScripts } from '../../scripts/checked-scripts.ts';
import type { ResourceType } from '../../resolved/resource-kinds.ts';

export interface DecodeEnvironment {
  readonly unknownFields: UnknownFields;
  /** Below which control planes may name modules. */
  readonly scriptFolders: readonly string[];
  /** For all answers: to read the types of the API again is most of the work of a small one. */
  readonly catalog: ApiCatalog;
  /** What decides on deprecated fields now. */
  runtime(): RuntimeTexts;
  /** Told of fields that the API does not know or that will go away, and that were let pass. */
  onWarnings(loaded: LoadedMessage<unknown>): void;
}

/** An answer that cannot be used. */
export class ResponseError extends Error {
  /** `unreadable`: it is no answer at all. `refused`: it is one, with resources that are wrong. */
  readonly code: 'unreadable' | 'refused';

  constructor(code: ResponseError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ResponseError';
    this.code = code;
  }
}

const SOTW = 'envoy.service.discovery.v3.DiscoveryResponse';
const DELTA = 'envoy.service.discovery.v3.DeltaDiscoveryResponse';
const WRAPPER = 'envoy.service.discovery.v3.Resource';

/** Reads an answer that holds a state of the world. Rejects with `ResponseError`. */
export function decodeResponse(
  source: SourceText,
  type: ResourceType,
  environment: DecodeEnvironment,
): Promise<DiscoveryUpdate> {
  const mismatch = (url: string): string => `Unable to unpack as ${type.message}: [${url}]`;
  return decodeState(source, environment, { type, mismatch });
}

/** As `decodeResponse`, of a stream, where Envoy has other words for a resource of another type. */
export function decodeStreamedResponse(
  source: SourceText,
  type: ResourceType,
  environment: DecodeEnvironment,
): Promise<DiscoveryUpdate> {
  const mismatch = (url: string, shown: string): string =>
    `${url} does not match the message-wide type URL ${type.typeUrl} in DiscoveryResponse ${shown}`;
  return decodeState(source, environment, { type, mismatch });
}

async function decodeState(
  source: SourceText,
  environment: DecodeEnvironment,
  { type, mismatch }: Pick<Sorting, 'type' | 'mismatch'>,
): Promise<DiscoveryUpdate> {
  const { message, faults } = await load<DiscoveryResponse>(SOTW, source, environment);
  const { catalog } = environment;
  const shown = (): string => printForError(catalog, catalog.message(SOTW), message);
  const versionInfo = message.version_info ?? '';
  const present: DiscoveredResource[] = [];
  const heartbeats: Heartbeat[] = [];
  const into = { type, versionInfo, present, heartbeats, mismatch, shown };
  for (const [index, any] of (message.resources ?? []).entries()) {
    const fault = faults.get(index);
    // Its own version is not looked at in a state of the world.
    if (typeNameOf(any['@type']) === WRAPPER) {
      const { version: _version, ...wrapped } = any as unknown as Resource;
      sort(wrapped, fault, into);
    } else present.push(named(any, fault, into));
  }
  const removed = type.isWholeSet ? 'rest' : [];
  return { versionInfo, resources: present, removed, ...heartbeatsOf(heartbeats) };
}

/** Reads an incremental answer. Rejects with `ResponseError`. */
export async function decodeDeltaResponse(
  source: SourceText,
  type: ResourceType,
  environment: DecodeEnvironment,
): Promise<DiscoveryUpdate> {
  const { message, faults } = await load<DeltaDiscoveryResponse>(DELTA, source, environment);
  const { catalog } = environment;
  const shown = (): string => printForError(catalog, catalog.message(DELTA), message);
  const versionInfo = message.system_version_info ?? '';
  const present: DiscoveredResource[] = [];
  const heartbeats: Heartbeat[] = [];
  const mismatch = (url: string, shown: string): string =>
    `type URL ${url} embedded in an individual Any does not match the message-wide type URL ` +
    `${type.typeUrl} in DeltaDiscoveryResponse ${shown}`;
  const into = { type, versionInfo, present, heartbeats, mismatch, shown };
  for (const [index, resource] of (message.resources ?? []).entries()) {
    sort(resource, faults.get(index), into);
  }
  const [duplicate] = withoutDuplicates(present.filter(({ name }) => name !== '')).duplicates;
  if (duplicate !== undefined) {
    const text = `duplicate name ${duplicate.name} found among added/updated resources`;
    throw new ResponseError('refused', text);
  }
  const removed = message.removed_resources ?? [];
  const named = new Set(present.map(({ name }) => name));
  for (const name of removed) {
    if (named.has(name)) {
      const text = `duplicate name ${name} found in the union of added+removed resources`;
      throw new ResponseError('refused', text);
    }
    named.add(name);
  }
  return { versionInfo, resources: present, removed, ...heartbeatsOf(heartbeats) };
}

/** What an answer is sorted into, and its words for a resource of another type. */
interface Sorting {
  readonly type: ResourceType;
  readonly versionInfo: string;
  readonly present: DiscoveredResource[];
  readonly heartbeats: Heartbeat[];
  readonly mismatch: (url: string, shown: string) => string;
  /** The whole answer, as text. */
  readonly shown: () => string;
}

type Heartbeat = Pick<DiscoveredResource, 'name' | 'ttlMs' | 'aliases'>;

function heartbeatsOf(heartbeats: readonly Heartbeat[]): Pick<DiscoveryUpdate, 'heartbeats'> {
  return heartbeats.length === 0 ? {} : { heartbeats };
}

async function load<Message>(
  messageType: string,
  source: SourceText,
  environment: DecodeEnvironment,
): Promise<{ readonly message: Message; readonly faults: ReadonlyMap<number, string> }> {
  const { unknownFields, catalog } = environment;
  try {
    const loaded = await loadMessageBytes<Message>(messageType, source, {
      unknownFields,
      catalog,
      besideTraffic: true,
      runtime: environment.runtime(),
      isLocal: isRule,
    });
    const faults = new Map<number, string>();
    for (const problem of loaded.localErrors) {
      const broken = brokenMessageAt(problem.place, loaded.message);
      const text = describe(problem, broken.message, catalog);
      if (broken.extensionOf === undefined) throw new ResponseError('refused', text);
      if (!faults.has(broken.extensionOf)) faults.set(broken.extensionOf, text);
    }
    await checkScripts(loaded.message, environment.scriptFolders);
    environment.onWarnings(loaded);
    return { message: loaded.message, faults };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const first = error.problems.find(({ severity }) => severity === 'error');
    const text = first === undefined ? error.message : textOf(first);
    throw new ResponseError('unreadable', text, { cause: error });
  }
}

/** A rule of the API is broken by what could be read. */
function isRule({ rule }: Problem): boolean {
  return rule.startsWith('validate.') || rule.startsWith('duration_') || rule === 'unknown_field';
}

function textOf(problem: Problem): string {
  return problem.reference ?? formatProblem(problem);
}

/** As Envoy says it: behind the message that breaks a rule of the API stands which. */
function describe(problem: Problem, message: Any | undefined, catalog: ApiCatalog): string {
  const text = textOf(problem);
  const type =
    message === undefined ? undefined : catalog.findMessage(typeNameOf(message['@type']));
  if (type === undefined || !problem.rule.startsWith('validate.')) return text;
  return `${printForError(catalog, type, message)}: ${text}`;
}

/**
 * The innermost message with a type of its own around a place, and the index of the resource in
 * whose extensions' settings the place lies, if it does.
 */
function brokenMessageAt(
  place: Place | undefined,
  root: unknown,
): { readonly message?: Any; readonly extensionOf?: number } {
  const keys: (string | number)[] = [];
  for (let step = place; step !== undefined; step = step.parent) keys.unshift(step.key);
  const [list, index] = keys;
  if (list !== 'resources' || typeof index !== 'number') return {};
  // The resource itself may stand in a wrapper.
  const start = keys[2] === 'resource' ? 3 : 2;
  let value = root;
  let message: Any | undefined;
  let isExtension = false;
  for (const [depth, key] of keys.entries()) {
    value = (value as Readonly<Record<string | number, unknown>> | undefined)?.[key];
    if (typeof value !== 'object' || value === null || !('@type' in value)) continue;
    message = value as Any;
    if (depth >= start) isExtension = true;
  }
  return {
    ...(message === undefined ? {} : { message }),
    ...(isExtension ? { extensionOf: index } : {}),
  };
}

/** A heartbeat names a resource and has none: it only keeps what is there. */
function sort(
  { name = '', version = '', resource, ttl, aliases = [] }: Resource,
  fault: string | undefined,
  into: Sorting,
): void {
  const life = {
    ...(ttl === undefined ? {} : { ttlMs: durationMs(ttl) }),
    ...(aliases.length === 0 ? {} : { aliases }),
  };
  if (resource === undefined) {
    into.heartbeats.push({ name, ...life });
    return;
  }
  const versionInfo = version === '' ? into.versionInfo : version;
  const found = named(resource, fault, { ...into, versionInfo });
  into.present.push({ ...found, name: name === '' ? found.name : name, ...life });
}

function named(
  any: Any,
  fault: string | undefined,
  { type, versionInfo, mismatch, shown }: Sorting,
): DiscoveredResource {
  const { '@type': url, ...message } = any as Any & JsonObject;
  if (typeNameOf(any['@type']) !== type.message)
    throw new ResponseError('refused', mismatch(url, shown()));
  const value = message[type.nameField];
  const name = typeof value === 'string' ? value : '';
  return { name, versionInfo, message, ...(fault === undefined ? {} : { fault }) };
}
