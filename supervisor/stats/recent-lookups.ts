/**
 * Counts lookups of statistics by name for `server.stats_recent_lookups` and, while collection is
 * on, remembers the last names for `/stats/recentlookups`.
 */

/**
 * The names are kept in two halves: a name that is looked up stands in the newer one, and when that
 * is full the older one is forgotten. So no lookup pays for keeping an order. At most this many in
 * a half.
 */
const HALF = 500;

/** Names with how often they were looked up. */
interface Halves {
  newer: Map<string, number>;
  older: ReadonlyMap<string, number>;
}

export class RecentLookups {
  #total = 0;
  #halves: Halves | undefined;

  get total(): number {
    return this.#total;
  }

  get enabled(): boolean {
    return this.#halves !== undefined;
  }

  note(name: string): void {
    this.#total++;
    const halves = this.#halves;
    if (halves === undefined) return;
    const count = halves.newer.get(name);
    if (count === undefined) remember(halves, name);
    else halves.newer.set(name, count + 1);
  }

  enable(): void {
    this.#halves ??= emptyHalves();
  }

  /** Forgets the names; the total stays. */
  disable(): void {
    this.#halves = undefined;
  }

  /** Forgets the names and the total; collection goes on if it was on. */
  clear(): void {
    this.#total = 0;
    if (this.#halves !== undefined) this.#halves = emptyHalves();
  }

  /** Names with their counts, the least frequent first. */
  list(): (readonly [name: string, count: number])[] {
    const { newer, older } = this.#halves ?? emptyHalves();
    return [...new Map([...older, ...newer])].sort(
      ([a, countOfA], [b, countOfB]) => countOfA - countOfB || (a < b ? -1 : 1),
    );
  }
}

function emptyHalves(): Halves {
  return { newer: new Map(), older: new Map() };
}

/** A name that the newer half does not have. */
function remember(halves: Halves, name: string): void {
  const before = halves.older.get(name) ?? 0;
  if (halves.newer.size >= HALF) {
    halves.older = halves.newer;
    halves.newer = new Map();
  }
  halves.newer.set(name, before + 1);
}
