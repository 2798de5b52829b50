/**
 * Maps that the modules of all workers share: puts changes into one order, bounds the maps, and
 * tells the workers that have them. They live as long as this server; a hot restart begins anew.
 */
import type { Clock } from '../../shared/process/clock.ts';
import {
  MAP_ENTRIES_MAX,
  MAP_KEY_MAX,
  MAP_VALUE_MAX,
  MAPS_CHARACTERS_MAX,
  MAPS_MAX,
  type SharedChange,
  type SharedCommand,
  type SharedNotice,
} from '../../shared/messages/shared-maps.ts';

/** After which a worker that takes nothing in is tried again. */
const LAGGING_MS = 50;

export interface SharedMapsOptions {
  readonly clock: Clock;
  /** False: the worker takes nothing in now. */
  readonly tell: (workerIndex: number, command: SharedCommand) => boolean;
}

interface Entry {
  readonly value: string;
  readonly untilMs: number | undefined;
}

interface KeptMap {
  readonly entriesMax: number;
  /** What was written last is last. */
  readonly entries: Map<string, Entry>;
}

/** A worker that has maps. */
interface Subscriber {
  readonly maps: Set<string>;
  seen: number;
  sums: { readonly ticket: number; readonly value: number }[];
  /** Maps that it has to get whole. */
  whole: Set<string>;
}

export class SharedMaps {
  readonly #options: SharedMapsOptions;
  readonly #maps = new Map<string, KeptMap>();
  readonly #subscribers = new Map<number, Subscriber>();
  #characters = 0;
  #batch: SharedChange[] = [];
  #isPlanned = false;

  constructor(options: SharedMapsOptions) {
    this.#options = options;
  }

  /** Another life begins in the slot. */
  spawned(workerIndex: number): void {
    this.#subscribers.delete(workerIndex);
  }

  noticed(workerIndex: number, { batch, opens, changes, sums }: SharedNotice): void {
    let subscriber = this.#subscribers.get(workerIndex);
    if (subscriber === undefined) {
      subscriber = { maps: new Set(), seen: 0, sums: [], whole: new Set() };
      this.#subscribers.set(workerIndex, subscriber);
    }
    for (const { map, entriesMax } of opens) {
      if (!this.#open(map, entriesMax)) continue;
      subscriber.maps.add(map);
      subscriber.whole.add(map);
    }
    for (const change of changes) this.#change(change);
    for (const { map, key, by, ticket } of sums) {
      const value = this.#number(map, key) + by;
      const untilMs = this.#maps.get(map)?.entries.get(key)?.untilMs;
      this.#change({ map, key, value: String(value), ...(untilMs !== undefined && { untilMs }) });
      subscriber.sums.push({ ticket, value });
    }
    subscriber.seen = batch;
    this.#plan();
  }

  #open(name: string, entriesMax: number): boolean {
    if (this.#maps.has(name)) return true;
    if (this.#maps.size >= MAPS_MAX) return false;
    const bounded = Math.min(Math.max(entriesMax, 1), MAP_ENTRIES_MAX);
    this.#maps.set(name, { entriesMax: bounded, entries: new Map() });
    return true;
  }

  #number(name: string, key: string): number {
    const entry = this.#maps.get(name)?.entries.get(key);
    if (entry === undefined || this.#hasExpired(entry)) return 0;
    const value = Number(entry.value);
    return Number.isFinite(value) ? value : 0;
  }

  #hasExpired({ untilMs }: Entry): boolean {
    return untilMs !== undefined && untilMs <= this.#options.clock.wallMs();
  }

  #change(change: SharedChange): void {
    const { map: name, key, value, untilMs } = change;
    const map = this.#maps.get(name);
    if (map === undefined || key.length > MAP_KEY_MAX) return;
    if (value !== undefined && value.length > MAP_VALUE_MAX) return;
    this.#remove(map, key);
    this.#batch.push(change);
    if (value === undefined) return;
    map.entries.set(key, { value, untilMs });
    this.#characters += key.length + value.length;
    this.#makeRoom(name, map);
  }

  /** The entries of this map that were written first go, not those of others. */
  #makeRoom(name: string, map: KeptMap): void {
    for (const key of map.entries.keys()) {
      const isFull = map.entries.size > map.entriesMax || this.#characters > MAPS_CHARACTERS_MAX;
      if (!isFull) break;
      this.#remove(map, key);
      this.#batch.push({ map: name, key });
    }
  }

  #remove({ entries }: KeptMap, key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    this.#characters -= key.length + entry.value.length;
  }

  /** Once for all changes of a turn of the loop. */
  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isPlanned = false;
    const batch = this.#batch;
    this.#batch = [];
    let isLagging = false;
    for (const [index, subscriber] of this.#subscribers) {
      if (this.#options.tell(index, this.#commandFor(subscriber, batch))) {
        subscriber.whole = new Set();
        subscriber.sums = [];
      } else {
        // It gets what there is then, however often that has changed meanwhile.
        subscriber.whole = new Set(subscriber.maps);
        isLagging = true;
      }
    }
    if (isLagging) this.#options.clock.after(LAGGING_MS, () => this.#plan(), { unref: true });
  }

  #commandFor(subscriber: Subscriber, batch: readonly SharedChange[]): SharedCommand {
    const { seen, sums, maps, whole } = subscriber;
    const changes = batch.filter(({ map }) => maps.has(map) && !whole.has(map));
    for (const name of whole) changes.push(...this.#wholeMap(name));
    return { kind: 'shared_changed', seen, whole: [...whole], changes, sums };
  }

  *#wholeMap(map: string): Iterable<SharedChange> {
    for (const [key, entry] of this.#maps.get(map)?.entries ?? []) {
      if (this.#hasExpired(entry)) continue;
      const { value, untilMs } = entry;
      yield { map, key, value, ...(untilMs !== undefined && { untilMs }) };
    }
  }
}
