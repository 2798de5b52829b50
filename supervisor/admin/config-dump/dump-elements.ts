/**
 * The elements of a dump's lists: what is shown of a resource, and how it is made when the page comes
 * to it.
 */
import type { JsonObject, JsonValue } from '../../../shared/api/well-known.ts';
import type { Steps } from '../../loop/loop-turns.ts';
import type { RefusedUpdate } from '../../store/discovery-status.ts';
import type { DumpedResource } from '../admin-context.ts';
import { timestamp } from '../timestamp.ts';
import { mapLazily } from './lazy-list.ts';

export interface DumpList {
  readonly field: string;
  /** The element's message type within the section's, such as `StaticCluster`. */
  readonly element: string;
  /**
   * Made while it is read; may be read several times. Undefined stands for one that is not shown.
   */
  readonly items: Iterable<DumpItem | undefined>;
}

export interface DumpItem {
  readonly name: string;
  readonly make: () => JsonObject;
  /** What `make` makes, in steps, where it may be large. */
  readonly makeInSteps?: () => Steps<JsonObject, ''>;
  /** Where it is not the element whose name counts, but those in this list of it. */
  readonly namesIn?: string;
  /** What is shown of it when another name is asked for; absent: nothing. */
  readonly makeUnasked?: () => JsonObject;
}

export function* madeInSteps({ make, makeInSteps }: DumpItem): Steps<JsonObject, ''> {
  return makeInSteps === undefined ? make() : yield* makeInSteps();
}

export function list(
  field: string,
  element: string,
  resources: Iterable<DumpedResource>,
  member: string,
): DumpList {
  const items = mapLazily(resources, (resource) => ({
    name: resource.name,
    make: () => resourceMessage(resource, member),
  }));
  return { field, element, items };
}

export function resourceMessage(resource: DumpedResource, member: string): JsonObject {
  return compact({
    version_info: resource.versionInfo === '' ? undefined : resource.versionInfo,
    [member]: resource.message,
    last_updated: timestamp(resource.lastUpdatedMs),
    error_state: errorState(resource.error),
  });
}

export function errorState(error: RefusedUpdate | undefined): JsonObject | undefined {
  if (error === undefined) return undefined;
  return compact({
    failed_configuration: error.failedMessage,
    last_update_attempt: timestamp(error.lastAttemptMs),
    details: error.details,
  });
}

export function versionInfo(version: string): JsonObject {
  return version === '' ? {} : { version_info: version };
}

export function compact(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const present: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) present[name] = value;
  }
  return present;
}
