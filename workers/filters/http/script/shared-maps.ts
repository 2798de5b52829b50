/**
 * Maps that the modules of all workers share, as this worker sees them: a copy, which its own
 * changes are in at once, and those of others when the supervisor has put them into their order.
 */
import {
  MAP_ENTRIES_MAX,
  MAP_KEY_MAX,
  MAP_VALUE_MAX,
  MAPS_MAX,
  type SharedChange,
  type SharedCommand,
  type SharedNotice,
  type SharedSum,
} from '../../../../shared/messages/shared-maps.ts';
import { systemClock } from '../../../../shared/process/clock.ts';
import type {
  SharedMap,
  SharedMapOptions,
  SharedSetOptions,
} from '../../../../shared/scripts/filter.ts';

const ENTRIES = 10_000;
const NAME = /^[\x21-\x7e]{1,128}$/;
/** Changes, and sums that were not answered yet. */
const WAITING_MAX = 100_000;

interface Entry {
  readonly value: unknown;
  readonly untilMs: number | undefined;
  /**
   * The number of the present worker's own change; what others did before that is not seen any
   * more.
   */
  readonly batch: number;
}

interface Waiting {
  resolve(value: number): void;
}

export class SharedMaps {
  readonly #send: (notice: SharedNotice) => void;
  readonly #maps = new Map<string, MapCopy>();
  readonly #waiting = new Map<number, Waiting>();
  #ticket = 0;
  #batch = 1;
  #opens: { readonly map: string; readonly entriesMax: number }[] = [];
  #changes: SharedChange[] = [];
  #sums: SharedSum[] = [];
  #isPlanned = false;

  constructor(send: (notice: SharedNotice) => void) {
    this.#send = send;
  }

  open(name: string, { entriesMax = ENTRIES }: SharedMapOptions = {}): SharedMap {
    const known = this.#maps.get(name);
    if (known !== undefined) return known;
    if (!NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a map`);
    if (this.#maps.size >= MAPS_MAX) throw new RangeError('too many shared maps');
    if (!(entriesMax >= 1 && entriesMax <= MAP_ENTRIES_MAX)) {
      throw new RangeError(`a shared map has 1 to ${MAP_ENTRIES_MAX} entries`);
    }
    const map = new MapCopy({
      change: (key, change) => this.#change({ map: name, key, ...change }),
      sum: async (key, by) => await this.#sum(name, key, by),
    });
    this.#maps.set(name, map);
    this.#opens.push({ map: name, entriesMax: Math.floor(entriesMax) });
    this.#plan();
    return map;
  }

  take({ seen, whole, changes, sums }: SharedCommand): void {
    for (const name of whole) this.#maps.get(name)?.begin(seen);
    for (const change of changes) this.#maps.get(change.map)?.take(change, seen);
    for (const name of whole) this.#maps.get(name)?.isReady();
    for (const { ticket, value } of sums) {
      this.#waiting.get(ticket)?.resolve(value);
      this.#waiting.delete(ticket);
    }
  }

  /** The number of the batch that the change is sent with. */
  #change(change: SharedChange): number {
    if (this.#changes.length >= WAITING_MAX) throw new RangeError('too many changes at once');
    this.#changes.push(change);
    this.#plan();
    return this.#batch;
  }

  #sum(map: string, key: string, by: number): Promise<number> {
    if (this.#waiting.size >= WAITING_MAX) throw new RangeError('too many sums at once');
    const ticket = ++this.#ticket;
    this.#sums.push({ map, key, by, ticket });
    this.#plan();
    return new Promise((resolve) => this.#waiting.set(ticket, { resolve }));
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      const [batch, opens, changes, sums] = [this.#batch++, this.#opens, this.#changes, this.#sums];
      this.#opens = [];
      this.#changes = [];
      this.#sums = [];
      this.#send({ kind: 'shared_changes', batch, opens, changes, sums });
    });
  }
}

interface MapLink {
  change(key: string, change: Omit<SharedChange, 'map' | 'key'>): number;
  sum(key: string, by: number): Promise<number>;
}

class MapCopy implements SharedMap {
  readonly ready: Promise<void>;
  isReady: () => void = () => undefined;
  readonly #link: MapLink;
  #entries = new Map<string, Entry>();
  /** Own deletions that the supervisor may not have seen yet. */
  readonly #deleted = new Map<string, number>();

  constructor(link: MapLink) {
    this.#link = link;
    this.ready = new Promise((resolve) => {
      this.isReady = resolve;
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (entry?.untilMs === undefined || entry.untilMs > systemClock.wallMs()) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: unknown, { ttlMs }: SharedSetOptions = {}): void {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new TypeError(`the value of ${key} cannot be kept`);
    if (key.length > MAP_KEY_MAX || text.length > MAP_VALUE_MAX) {
      throw new RangeError('a key or value is too long for a shared map');
    }
    if (ttlMs !== undefined && !(ttlMs > 0)) throw new RangeError(`${ttlMs} is no time to live`);
    const untilMs = ttlMs === undefined ? undefined : systemClock.wallMs() + ttlMs;
    const batch = this.#link.change(key, {
      value: text,
      ...(untilMs !== undefined && { untilMs }),
    });
    this.#deleted.delete(key);
    this.#entries.set(key, { value: JSON.parse(text) as unknown, untilMs, batch });
  }

  delete(key: string): void {
    this.#deleted.set(key, this.#link.change(key, {}));
    this.#entries.delete(key);
  }

  async add(key: string, amount = 1): Promise<number> {
    if (!Number.isFinite(amount)) throw new RangeError(`${amount} cannot be added`);
    if (key.length > MAP_KEY_MAX) throw new RangeError('a key is too long for a shared map');
    return await this.#link.sum(key, amount);
  }

  *[Symbol.iterator](): Iterator<readonly [string, unknown]> {
    for (const key of this.#entries.keys()) {
      const value = this.get(key);
      if (value !== undefined) yield [key, value];
    }
  }

  /** A whole copy follows: what is left is what this worker has written since. */
  begin(seen: number): void {
    this.#entries = new Map([...this.#entries].filter(([, { batch }]) => batch > seen));
  }

  take({ key, value, untilMs }: SharedChange, seen: number): void {
    const own = this.#entries.get(key)?.batch ?? this.#deleted.get(key) ?? 0;
    if (own > seen) return;
    this.#deleted.delete(key);
    if (value === undefined) this.#entries.delete(key);
    else this.#entries.set(key, { value: JSON.parse(value) as unknown, untilMs, batch: 0 });
  }
}
