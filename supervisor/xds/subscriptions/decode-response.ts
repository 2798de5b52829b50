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
import { loadMessageBytes, type LoadedMessage } from '../../config/load-config.ts';
import type { UnknownFields } from '../../config/convert/message-reader.ts';
import type { ConfigSource as SourceText } from '../../config/pipeline.ts';
import { formatProblem } from '../../config/config-error.ts';
import type { RuntimeTexts } from '../../config/validate/api-status.ts';
import { durationMs } from '../../resources/values.ts';
import type { Place, Problem } from '../../config/problem.ts';
import {
  withoutDoubles,
  type DiscoveredResource,
  type DiscoveryUpdate,
} from './discovery-update.ts';
import type { ResourceType } from './resource-type.ts';

export interface DecodeEnvironment {
  readonly unknownFields: UnknownFields;
  /** For all answers: to read the types of the API anew is most of the work of a small one. */
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

/** As `decodeResponse`, of a stream, where the reference has other words for a resource of another type. */
export function decodeStreamedResponse(
  source: SourceText,
  type: ResourceType,
  environment: DecodeEnvironment,
): Promise<DiscoveryUpdate> {
  const mismatch = (url: string): string =>
    `${url} does not match the message-wide type URL ${type.typeUrl} in DiscoveryResponse`;
  return decodeState(source, environment, { type, mismatch });
}

async function decodeState(
  source: SourceText,
  environment: DecodeEnvironment,
  { type, mismatch }: Pick<Sorting, 'type' | 'mismatch'>,
): Promise<DiscoveryUpdate> {
  const { message, faults } = await load<DiscoveryResponse>(SOTW, source, environment);
  const versionInfo = message.version_info ?? '';
  const present: DiscoveredResource[] = [];
  const heartbeats: Heartbeat[] = [];
  const into = { type, versionInfo, present, heartbeats, mismatch };
  for (const [index, any] of (message.resources ?? []).entries()) {
    const fault = faults.get(index);
    if (typeNameOf(any['@type']) === WRAPPER) sort(any as unknown as Resource, fault, into);
    else present.push(named(any, fault, into));
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
  const versionInfo = message.system_version_info ?? '';
  const present: DiscoveredResource[] = [];
  const heartbeats: Heartbeat[] = [];
  const mismatch = (url: string): string =>
    `type URL ${url} embedded in an individual Any does not match the message-wide type URL ` +
    `${type.typeUrl} in DeltaDiscoveryResponse`;
  const into = { type, versionInfo, present, heartbeats, mismatch };
  for (const [index, resource] of (message.resources ?? []).entries()) {
    sort(resource, faults.get(index), into);
  }
  const [double] = withoutDoubles(present.filter(({ name }) => name !== '')).doubles;
  if (double !== undefined) {
    const text = `duplicate name ${double.name} found among added/updated resources`;
    throw new ResponseError('refused', text);
  }
  const removed = message.removed_resources ?? [];
  const gone = new Set(removed);
  const both = present.find(({ name }) => gone.has(name));
  if (both !== undefined) {
    throw new ResponseError(
      'refused',
      `duplicate name ${both.name} found in the union of added+removed resources`,
    );
  }
  return { versionInfo, resources: present, removed, ...heartbeatsOf(heartbeats) };
}

/** What an answer is sorted into, and its words for a resource of another type. */
interface Sorting {
  readonly type: ResourceType;
  readonly versionInfo: string;
  readonly present: DiscoveredResource[];
  readonly heartbeats: Heartbeat[];
  readonly mismatch: (url: string) => string;
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
      isLocal: (problem, message) =>
        isRule(problem) && extensionAt(problem.place, message) !== undefined,
    });
    environment.onWarnings(loaded);
    const faults = new Map<number, string>();
    for (const problem of loaded.localErrors) {
      const index = extensionAt(problem.place, loaded.message);
      if (index !== undefined && !faults.has(index)) faults.set(index, textOf(problem));
    }
    return { message: loaded.message, faults };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const errors = error.problems.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    const text = first === undefined ? error.message : textOf(first);
    const code = errors.every(isRule) ? 'refused' : 'unreadable';
    throw new ResponseError(code, text, { cause: error });
  }
}

/** A rule of the API is broken by what could be read. */
function isRule({ rule }: Problem): boolean {
  return rule.startsWith('validate.') || rule.startsWith('duration_') || rule === 'unknown_field';
}

function textOf(problem: Problem): string {
  return problem.reference ?? formatProblem(problem);
}

/** The index of the resource in whose extensions' settings a place lies; undefined: it lies in none. */
function extensionAt(place: Place | undefined, message: unknown): number | undefined {
  const keys: (string | number)[] = [];
  for (let step = place; step !== undefined; step = step.parent) keys.unshift(step.key);
  const [list, index] = keys;
  if (list !== 'resources' || typeof index !== 'number') return undefined;
  // The resource itself may stand in a wrapper.
  const start = keys[2] === 'resource' ? 3 : 2;
  let value = message;
  for (const [depth, key] of keys.entries()) {
    value = (value as Readonly<Record<string | number, unknown>> | undefined)?.[key];
    if (depth < start || typeof value !== 'object' || value === null) continue;
    if ('@type' in value) return index;
  }
  return undefined;
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
  { type, versionInfo, mismatch }: Sorting,
): DiscoveredResource {
  const { '@type': url, ...message } = any as Any & JsonObject;
  if (typeNameOf(any['@type']) !== type.message) throw new ResponseError('refused', mismatch(url));
  const value = message[type.nameField];
  const name = typeof value === 'string' ? value : '';
  return { name, versionInfo, message, ...(fault === undefined ? {} : { fault }) };
}
