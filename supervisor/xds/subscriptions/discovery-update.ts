/** What a source of resources hands over, whatever it speaks with its control plane. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import { canonicalName } from '../../resolved/resource-locator.ts';

export interface DiscoveredResource {
  readonly name: string;
  /** Its own where the control plane gives one, else the answer's. */
  readonly versionInfo: string;
  /** The normalised message without `@type`. */
  readonly message: JsonObject;
  /** The settings of an extension in it break the API's rules: it is refused, others are not. */
  readonly fault?: string;
  /** Without another word from the control plane it goes after this time. */
  readonly ttlMs?: number;
  /** Other names that it answers to. */
  readonly aliases?: readonly string[];
}

export interface DiscoveryUpdate {
  /** The version of the answer as a whole. */
  readonly versionInfo: string;
  readonly resources: readonly DiscoveredResource[];
  /**
   * Names that are gone; `rest`: whatever the answer does not name is gone, where the type's
   * answers hold everything.
   */
  readonly removed: readonly string[] | 'rest';
  /** Resources that are as they were; only their time to live begins again. */
  readonly heartbeats?: readonly Pick<DiscoveredResource, 'name' | 'ttlMs' | 'aliases'>[];
}

/** Who wants the resources. */
export interface DiscoveryConsumer {
  /** Takes the update; resolves with why it, or a part of it, was refused. Never rejects. */
  update(update: DiscoveryUpdate): Promise<string | undefined>;
  /** An answer could not be used before anybody looked at its resources. */
  refused(reason: string): void;
  /** The first answer is there, good or bad, or was waited for in vain. Called once. */
  settled(): void;
}

/** Where the resources come from. */
export interface DiscoverySource {
  start(): void;
  /** See `OpenSubscription`. */
  want?(name: string): void;
  /** Nothing is handed over any more. */
  close(): void;
}

/** A resource under the name that it gives itself, whatever the control plane calls it. */
export function withOwnName(resource: DiscoveredResource): DiscoveredResource {
  const { name } = resource.message;
  return typeof name === 'string' && name !== '' ? { ...resource, name } : resource;
}

/** With names in the form in which they can be compared. */
export function withCanonicalNames(update: DiscoveryUpdate): DiscoveryUpdate {
  const { resources, removed, heartbeats } = update;
  const named = <Item extends { readonly name: string }>(item: Item): Item => {
    const name = canonicalName(item.name);
    return name === item.name ? item : { ...item, name };
  };
  return {
    ...update,
    resources: resources.map(named),
    removed: removed === 'rest' ? removed : removed.map(canonicalName),
    ...(heartbeats === undefined ? {} : { heartbeats: heartbeats.map(named) }),
  };
}

/** The first of each name, and the names that stand there more than once. */
export function withoutDuplicates(resources: readonly DiscoveredResource[]): {
  readonly first: readonly DiscoveredResource[];
  readonly duplicates: readonly DiscoveredResource[];
} {
  const seen = new Set<string>();
  const duplicates: DiscoveredResource[] = [];
  const first = resources.filter((resource) => {
    const isDuplicate = seen.has(resource.name);
    if (isDuplicate) duplicates.push(resource);
    seen.add(resource.name);
    return !isDuplicate;
  });
  return { first, duplicates };
}

/** Which of the names that are there go with an update. */
export function removalsOf(
  { resources, removed, heartbeats = [] }: DiscoveryUpdate,
  present: Iterable<string>,
): readonly string[] {
  if (removed !== 'rest') return removed;
  const named = new Set([...resources, ...heartbeats].map(({ name }) => name));
  return [...present].filter((name) => !named.has(name));
}
