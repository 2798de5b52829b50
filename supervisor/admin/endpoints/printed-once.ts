/**
 * What many elements of one page share: ten thousand clusters have the same limits, their hosts
 * the same state. Each is made once for the page. Most elements are like the one before them,
 * which is found out by comparing; only the others need a key.
 */

/** The limit of pages that are kept; a page whose elements all differ makes the others again. */
const KEPT_MAX = 256;

export interface Likeness<Element> {
  /** Whether both are printed alike. */
  isLike(one: Element, other: Element): boolean;
  /** Tells apart whatever is printed differently. */
  keyOf(element: Element): string;
}

export class PrintedOnce<Element, Printed> {
  readonly #likeness: Likeness<Element>;
  readonly #print: (element: Element) => Printed;
  readonly #known = new Map<string, Printed>();
  #last: { readonly element: Element; readonly printed: Printed } | undefined;

  constructor(likeness: Likeness<Element>, print: (element: Element) => Printed) {
    this.#likeness = likeness;
    this.#print = print;
  }

  get(element: Element): Printed {
    if (this.#last !== undefined && this.#likeness.isLike(this.#last.element, element)) {
      return this.#last.printed;
    }
    const key = this.#likeness.keyOf(element);
    let printed = this.#known.get(key);
    if (printed === undefined) {
      printed = this.#print(element);
      if (this.#known.size < KEPT_MAX) this.#known.set(key, printed);
    }
    this.#last = { element, printed };
    return printed;
  }
}
