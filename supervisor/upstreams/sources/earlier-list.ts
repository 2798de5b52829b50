/**
 * Finds the items of a list in an earlier one, where most of them stand in the same order: for the
 * cost of a comparison each. Items are the same when they are one object.
 */

/** Where a few items were added or taken out, the next one is near. */
const NEAR = 16;
/**
 * So many that are not near are looked for in the whole list; a list that is another one has none
 * of them.
 */
const SEARCHES_MAX = 64;

export class EarlierList<Item> {
  readonly #items: readonly Item[];
  #next = 0;
  #searches = 0;

  constructor(items: readonly Item[]) {
    this.#items = items;
  }

  /**
   * Where an item stands, asked for in the order of the new list; -1 as well for some that moved.
   */
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
    if (this.#searches === SEARCHES_MAX) return -1;
    this.#searches += 1;
    const behind = this.#items.indexOf(item, this.#next);
    const at = behind < 0 ? this.#items.lastIndexOf(item, this.#next) : behind;
    if (at >= 0) this.#next = at + 1;
    return at;
  }
}
