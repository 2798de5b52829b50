/**
 * From an answer's text or bytes to checked, named resources. Whatever is wrong with any of them
 * refuses the whole answer here, before anybody has looked at what the resources mean.
 */
import type { DiscoveryResponse } from '../../shared/api/generated/envoy/service/discovery/v3/discovery.ts';
import type {
  DeltaDiscoveryResponse,
  Resource,
} from '../../shared/api/generated/envoy/service/discovery/v3/discovery.ts';
import type { Any, JsonObject } from '../../shared/api/well-known.ts';
import { ConfigError } from '../config/config-error.ts';
import { loadMessageBytes, type LoadedMessage } from '../config/load-config.ts';
import type { UnknownFields } from '../config/convert/message-reader.ts';
import type { ConfigSource as SourceText } from '../config/pipeline.ts';
import { formatProblem } from '../config/config-error.ts';
import type { RuntimeTexts } from '../config/validate/api-status.ts';
import { durationMs } from '../resources/values.ts';
import type { DiscoveredResource, DiscoveryUpdate } from './discovery-update.ts';
import type { ResourceType } from './resource-type.ts';

export interface DecodeEnvironment {
  readonly unknownFields: UnknownFields;
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
export async function decodeResponse(
  source: SourceText,
  type: ResourceType,
  environment: DecodeEnvironment,
): Promise<DiscoveryUpdate> {
  const message = await load<DiscoveryResponse>(SOTW, source, environment);
  const versionInfo = message.version_info ?? '';
  const present: DiscoveredResource[] = [];
  const heartbeats: Heartbeat[] = [];
  for (const any of message.resources ?? []) {
    if (typeName(any) !== WRAPPER) present.push(named(any, type, versionInfo));
    else sort(any as unknown as Resource, { type, versionInfo, present, heartbeats });
  }
  refuseDoubles(present);
  const removed = type.isWholeSet ? 'rest' : [];
  return { versionInfo, resources: present, removed, ...heartbeatsOf(heartbeats) };
}

/** Reads an incremental answer. Rejects with `ResponseError`. */
export async function decodeDeltaResponse(
  source: SourceText,
  type: ResourceType,
  environment: DecodeEnvironment,
): Promise<DiscoveryUpdate> {
  const message = await load<DeltaDiscoveryResponse>(DELTA, source, environment);
  const versionInfo = message.system_version_info ?? '';
  const present: DiscoveredResource[] = [];
  const heartbeats: Heartbeat[] = [];
  for (const resource of message.resources ?? []) {
    sort(resource, { type, versionInfo, present, heartbeats });
  }
  refuseDoubles(present);
  const removed = message.removed_resources ?? [];
  const both = present.find(({ name }) => removed.includes(name));
  if (both !== undefined) {
    throw new ResponseError(
      'refused',
      `duplicate name ${both.name} found in the union of added+removed resources`,
    );
  }
  return { versionInfo, resources: present, removed, ...heartbeatsOf(heartbeats) };
}

type Heartbeat = Pick<DiscoveredResource, 'name' | 'ttlMs'>;

function heartbeatsOf(heartbeats: readonly Heartbeat[]): Pick<DiscoveryUpdate, 'heartbeats'> {
  return heartbeats.length === 0 ? {} : { heartbeats };
}

async function load<Message>(
  messageType: string,
  source: SourceText,
  environment: DecodeEnvironment,
): Promise<Message> {
  const { unknownFields } = environment;
  try {
    const loaded = await loadMessageBytes<Message>(messageType, source, {
      unknownFields,
      runtime: environment.runtime(),
    });
    environment.onWarnings(loaded);
    return loaded.message;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const errors = error.problems.filter(({ severity }) => severity === 'error');
    const isReadable = errors.every(
      ({ rule }) => rule.startsWith('validate.') || rule === 'unknown_field',
    );
    const [first] = errors;
    const text = first === undefined ? error.message : (first.reference ?? formatProblem(first));
    throw new ResponseError(isReadable ? 'refused' : 'unreadable', text, { cause: error });
  }
}

/** A heartbeat names a resource and has none: it only keeps what is there. */
function sort(
  { name = '', version = '', resource, ttl }: Resource,
  into: {
    readonly type: ResourceType;
    readonly versionInfo: string;
    readonly present: DiscoveredResource[];
    readonly heartbeats: Heartbeat[];
  },
): void {
  const life = ttl === undefined ? {} : { ttlMs: durationMs(ttl) };
  if (resource === undefined) {
    into.heartbeats.push({ name, ...life });
    return;
  }
  const found = named(resource, into.type, version === '' ? into.versionInfo : version);
  into.present.push({ ...found, name: name === '' ? found.name : name, ...life });
}

function named(any: Any, type: ResourceType, versionInfo: string): DiscoveredResource {
  const { '@type': url, ...message } = any as Any & JsonObject;
  if (url.slice(url.lastIndexOf('/') + 1) !== type.message) {
    throw new ResponseError(
      'refused',
      `Unexpected resource type ${url} in an answer for ${type.typeUrl}`,
    );
  }
  const name = message[type.nameField];
  return { name: typeof name === 'string' ? name : '', versionInfo, message };
}

function refuseDoubles(resources: readonly (DiscoveredResource | undefined)[]): void {
  const seen = new Set<string>();
  for (const resource of resources) {
    // Listeners may come without a name and get one.
    if (resource === undefined || resource.name === '') continue;
    if (seen.has(resource.name)) {
      throw new ResponseError('refused', `duplicate resource ${resource.name} found`);
    }
    seen.add(resource.name);
  }
}

function typeName(any: Any): string {
  const url = any['@type'];
  return url.slice(url.lastIndexOf('/') + 1);
}
