/** What filters keep under keys for those behind them: texts, of which some may be hashed. */
export class FilterState extends Map<string, string> {
  readonly #hashable = new Set<string>();

  /**
   * Replaces what was under the key; only kinds of objects that Envoy can hash are `isHashable`.
   */
  keep(key: string, value: string, isHashable: boolean): void {
    this.set(key, value);
    if (isHashable) this.#hashable.add(key);
    else this.#hashable.delete(key);
  }

  /** What balancers that hash take from the key, undefined when there is nothing to be hashed. */
  hashedText(key: string): string | undefined {
    return this.#hashable.has(key) ? this.get(key) : undefined;
  }
}
