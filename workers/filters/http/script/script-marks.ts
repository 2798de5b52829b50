/**
 * Which module a worker runs at the moment, in memory that the supervisor sees: it tells a loop
 * without end from a worker that only has much to do, and knows whose loop it is.
 */

export class ScriptMarks {
  readonly #words: Int32Array;
  readonly #at: number;

  constructor(words: Int32Array, at: number) {
    this.#words = words;
    this.#at = at;
  }

  /** `id` is above 0. */
  enter(id: number): void {
    this.#words[this.#at] = id;
  }

  leave(): void {
    this.#words[this.#at] = 0;
  }

  /** What goes on after a promise is not marked: the module that waited last is held for it. */
  awaits(id: number): void {
    this.#words[this.#at + 1] = id;
  }
}
