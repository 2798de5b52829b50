/**
 * Finds the items of a list in an earlier one, where most of them stand in the same order: for the cost
 * of a comparison each. Items are the same when they are one object.
 */

/** Where a few items were added or taken out, the next one is near. */
const NEAR = 16;
/** After so many that were not near, all positions are noted down. */
const MISSES_MAX = 64;

export class EarlierList<Item> {
  readonly #items: readonly Item[];
  #next = 0;
  #misses = 0;
  #positions: Map<Item, number> | undefined;

  constructor(items: readonly Item[]) {
    this.#items = items;
  }

  /** Where an item stands, asked for in the order of the new list; -1 as well for some that moved. */
  find(item: Item): number {
    const items = this.#items;
    const end = Math.min(items.length, this.#next + NEAR);
    for (let at = this.#next; at < end; at++) {
      if (items[at] !== item) continue;
      this.#next = at + 1;
      return at;
    }
    return this.#findFar(item);
  }

  #findFar(item: Item): number {
    this.#misses += 1;
    if (this.#misses <= MISSES_MAX) return -1;
    this.#positions ??= new Map(this.#items.map((each, position) => [each, position]));
    const at = this.#positions.get(item);
    if (at === undefined) return -1;
    this.#next = at + 1;
    return at;
  }
}
