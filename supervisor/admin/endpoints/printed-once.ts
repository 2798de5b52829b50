/**
 * Texts that many elements of one page share: ten thousand clusters have the same limits, their
 * hosts the same state. Each is made once for the page.
 */

/** Texts that are kept; a page whose elements all differ makes the others again. */
const KEPT_MAX = 256;

export class PrintedOnce<Printed> {
  readonly #known = new Map<string, Printed>();

  /** `key` tells apart whatever is printed differently. */
  get(key: string, print: () => Printed): Printed {
    let printed = this.#known.get(key);
    if (printed !== undefined) return printed;
    printed = print();
    if (this.#known.size < KEPT_MAX) this.#known.set(key, printed);
    return printed;
  }
}
