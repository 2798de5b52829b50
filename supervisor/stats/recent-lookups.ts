/**
 * Counts lookups of statistics by name for `server.stats_recent_lookups` and, while collection is
 * on, remembers the last names for `/stats/recentlookups`.
 */

/** Names remembered at most; the longest unseen goes first. */
const CAPACITY = 1000;

export class RecentLookups {
  #total = 0;
  #counts: Map<string, number> | undefined;

  get total(): number {
    return this.#total;
  }

  get enabled(): boolean {
    return this.#counts !== undefined;
  }

  note(name: string): void {
    this.#total++;
    if (this.#counts !== undefined) this.#remember(this.#counts, name);
  }

  enable(): void {
    this.#counts ??= new Map();
  }

  /** Forgets the names; the total stays. */
  disable(): void {
    this.#counts = undefined;
  }

  /** Forgets the names and the total; collection goes on if it was on. */
  clear(): void {
    this.#total = 0;
    this.#counts?.clear();
  }

  /** Names with their counts, the least frequent first. */
  list(): (readonly [name: string, count: number])[] {
    return [...(this.#counts ?? [])].sort(
      ([a, countOfA], [b, countOfB]) => countOfA - countOfB || (a < b ? -1 : 1),
    );
  }

  #remember(counts: Map<string, number>, name: string): void {
    const count = counts.get(name) ?? 0;
    // Re-inserting keeps the map in the order of the last lookup.
    counts.delete(name);
    counts.set(name, count + 1);
    if (counts.size <= CAPACITY) return;
    const oldest = counts.keys().next();
    if (oldest.done === false) counts.delete(oldest.value);
  }
}
