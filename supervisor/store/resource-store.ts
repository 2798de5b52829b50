/**
 * Every configuration resource that the server has, static or dynamic: the message as it was given,
 * for dumps, and the resolved form, for workers. The one place that says what is configured; it
 * decides nothing and sends nothing. An entry can hold an active version, one that is warming (not
 * used before what it needs is there) and one that is draining.
 */
import type { JsonObject } from '../../shared/api/well-known.ts';
import { ConfigHistory, type HistoryChange } from './config-history.ts';
import type { RefusedUpdate } from './discovery-status.ts';
import type { LingeringListener } from './lingering-listener.ts';
import { STORED_KINDS, type ResolvedKinds, type ResourceKind } from '../resolved/resource-kinds.ts';

/** What dumps show of a version. */
export interface ShownVersion {
  /** The normalised message without `@type`. */
  readonly message: JsonObject;
  /** Empty for static resources. */
  readonly versionInfo: string;
  /** Unix milliseconds. */
  readonly lastUpdatedMs: number;
  /** A resource of this server's own making: no page shows it. */
  readonly isOwn?: true;
}

export interface ResourceVersion<Kind extends ResourceKind> extends ShownVersion {
  readonly resolved: ResolvedKinds[Kind];
}

export interface DrainingVersion<Kind extends ResourceKind> extends ShownVersion {
  /** Absent where nothing uses it any more but open connections. */
  readonly resolved?: ResolvedKinds[Kind];
}

export interface ResourceEntry<Kind extends ResourceKind> {
  readonly kind: Kind;
  readonly name: string;
  readonly source: 'static' | 'dynamic';
  readonly active?: ResourceVersion<Kind>;
  readonly warming?: ResourceVersion<Kind>;
  readonly draining?: DrainingVersion<Kind>;
  /** The last update that was refused for this name; cleared by the next one that is taken. */
  readonly refused?: RefusedUpdate;
}

export interface ResourceChange {
  readonly kind: ResourceKind;
  readonly name: string;
  /** What the entry now has that it had not, or `removed`. */
  readonly change: 'active' | 'warming' | 'drained' | 'refused' | 'removed';
}

type Entries = { readonly [Kind in ResourceKind]: Map<string, ResourceEntry<Kind>> };

export class ResourceStore {
  /** What dynamic resources were before. */
  readonly history = new ConfigHistory();
  /** Grows with every change of what the store has. */
  changes = 0;
  readonly #entries = emptyEntries();
  readonly #updateVersions = new Map<ResourceKind, string>();
  readonly #lingering = new Set<LingeringListener>();
  readonly #subscribers = new Set<(change: ResourceChange) => void>();

  /** Adds a resource or replaces its active version; what was warming is dropped. */
  putActive<Kind extends ResourceKind>(
    kind: Kind,
    name: string,
    version: ResourceVersion<Kind>,
    source: 'static' | 'dynamic' = 'dynamic',
  ): void {
    const known = this.get(kind, name);
    const draining = known?.draining;
    if (source === 'dynamic') this.#note('accepted', [kind, name], known?.active, version);
    this.#set({
      kind,
      name,
      source,
      active: version,
      ...(draining === undefined ? {} : { draining }),
    });
    this.#announce(kind, name, 'active');
  }

  /** Keeps a version beside the active one until `promote` or the next update. */
  putWarming<Kind extends ResourceKind>(
    kind: Kind,
    name: string,
    version: ResourceVersion<Kind>,
  ): void {
    const known = this.get(kind, name);
    this.#note('warming', [kind, name], known?.warming ?? known?.active, version);
    this.#set<Kind>({ ...known, kind, name, source: 'dynamic', warming: version });
    this.#announce(kind, name, 'warming');
  }

  /** Makes the warming version the active one. Returns false when nothing is warming. */
  promote<Kind extends ResourceKind>(kind: Kind, name: string): boolean {
    const known = this.get(kind, name);
    if (known?.warming === undefined) return false;
    this.#note('accepted', [kind, name], known.active, known.warming);
    this.#set<Kind>({ kind, name, source: known.source, active: known.warming });
    this.#announce(kind, name, 'active');
    return true;
  }

  /** The version that drains, beside whatever else there is, until `drained`. */
  drain<Kind extends ResourceKind>(
    kind: Kind,
    name: string,
    draining: DrainingVersion<Kind>,
  ): void {
    const known: ResourceEntry<Kind> = this.get(kind, name) ?? { kind, name, source: 'dynamic' };
    this.#set<Kind>({ ...known, draining });
  }

  /** What was refused for this name holds no more; an entry that has nothing else is gone. */
  forgive(kind: ResourceKind, name: string): void {
    const known = this.get(kind, name);
    if (known?.refused === undefined) return;
    const { refused: _, ...rest } = known;
    if ((rest.active ?? rest.warming ?? rest.draining) === undefined) this.remove(kind, name);
    else this.#set(rest);
  }

  /** Forgets the version that waits; an entry that has no other is gone. */
  dropWarming(kind: ResourceKind, name: string): void {
    const known = this.get(kind, name);
    if (known?.warming === undefined) return;
    if (known.active === undefined && known.draining === undefined) {
      this.remove(kind, name);
      return;
    }
    const { warming: _, ...rest } = known;
    this.#note('removed', [kind, name], known.warming, undefined);
    this.#set(rest);
    this.#announce(kind, name, 'removed');
  }

  /** The resource is gone, and its active version drains until `drained`. */
  retire<Kind extends ResourceKind>(kind: Kind, name: string): void {
    const known = this.get(kind, name);
    if (known?.active === undefined) return;
    this.#note('removed', [kind, name], known.active, undefined);
    this.#set<Kind>({ kind, name, source: known.source, draining: known.active });
    this.#announce(kind, name, 'removed');
  }

  /** Forgets the draining version; an entry that has no other is gone. */
  drained(kind: ResourceKind, name: string): void {
    const known = this.get(kind, name);
    if (known?.draining === undefined) return;
    if (known.active === undefined && known.warming === undefined) {
      this.remove(kind, name);
      return;
    }
    const { draining: _, ...rest } = known;
    this.#set(rest);
    this.#announce(kind, name, 'drained');
  }

  /**
   * Connections may still use this version of a listener, or what it says of chains that are gone.
   */
  linger(version: LingeringListener): void {
    this.changes += 1;
    this.#lingering.add(version);
  }

  /** Nothing uses the version any more. */
  endLingering(version: LingeringListener): void {
    this.changes += 1;
    this.#lingering.delete(version);
  }

  /** Versions of listeners that only old connections use, the oldest first. */
  lingering(): IterableIterator<LingeringListener> {
    return this.#lingering.values();
  }

  /** Remembers why an update was refused; what was there stays. */
  refuse<Kind extends ResourceKind>(kind: Kind, name: string, refused: RefusedUpdate): void {
    const known: ResourceEntry<Kind> = this.get(kind, name) ?? { kind, name, source: 'dynamic' };
    const { details: reason, failedMessage: after } = refused;
    this.history.note({
      kind,
      name,
      change: 'refused',
      version: '',
      before: known.active?.message,
      after,
      reason,
    });
    this.#set<Kind>({ ...known, refused });
    this.#announce(kind, name, 'refused');
  }

  /** Returns whether it was there. */
  remove(kind: ResourceKind, name: string): boolean {
    const known = this.get(kind, name);
    const version = known?.active ?? known?.warming;
    if (version !== undefined) this.#note('removed', [kind, name], version, undefined);
    const wasThere = this.#entries[kind].delete(name);
    if (wasThere) this.#announce(kind, name, 'removed');
    return wasThere;
  }

  get<Kind extends ResourceKind>(kind: Kind, name: string): ResourceEntry<Kind> | undefined {
    return this.#entries[kind].get(name);
  }

  /** In the order in which the names first came: for static resources, that of the file. */
  list<Kind extends ResourceKind>(kind: Kind): IterableIterator<ResourceEntry<Kind>> {
    return this.#entries[kind].values();
  }

  /** Entries of any state. */
  count(kind: ResourceKind): number {
    return this.#entries[kind].size;
  }

  /** The version of the last update of a kind as a whole; empty before one. */
  updateVersion(kind: ResourceKind): string {
    return this.#updateVersions.get(kind) ?? '';
  }

  setUpdateVersion(kind: ResourceKind, versionInfo: string): void {
    this.changes += 1;
    this.#updateVersions.set(kind, versionInfo);
  }

  /** Called after each change, in its order. Returns what ends it. */
  subscribe(subscriber: (change: ResourceChange) => void): () => void {
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  }

  /** Keys of some kinds are not the names: messages have those. */
  #note(
    change: HistoryChange,
    [kind, key]: readonly [ResourceKind, string],
    before: ShownVersion | undefined,
    after: ShownVersion | undefined,
  ): void {
    const shown = after ?? before;
    if (shown === undefined || shown.isOwn === true) return;
    const { name } = shown.message;
    this.history.note({
      kind,
      name: typeof name === 'string' && name !== '' ? name : key,
      change,
      version: after?.versionInfo ?? '',
      before: before?.message,
      after: after?.message,
    });
  }

  #set<Kind extends ResourceKind>(entry: ResourceEntry<Kind>): void {
    this.changes += 1;
    const entries: Map<string, ResourceEntry<Kind>> = this.#entries[entry.kind];
    entries.set(entry.name, entry);
  }

  #announce(kind: ResourceKind, name: string, change: ResourceChange['change']): void {
    this.changes += 1;
    for (const subscriber of this.#subscribers) subscriber({ kind, name, change });
  }
}

function emptyEntries(): Entries {
  const entries = STORED_KINDS.map((kind) => [kind, new Map<string, unknown>()] as const);
  return Object.fromEntries(entries) as unknown as Entries;
}
