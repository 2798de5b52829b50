/**
 * What counters gained since somebody last looked: the sinks at their flushes, a child epoch at its
 * questions. A reset of the counters takes nothing from it.
 */

export class CounterLatch {
  /** Each counter's value when it was last read, lowered by resets. */
  #seen = new Float64Array(1024);

  /** The gain of a counter that stands at `value` now. */
  take(index: number, value: number): number {
    const gain = value - (this.#seen[index] ?? 0);
    if (gain !== 0) this.#set(index, value);
    return gain;
  }

  /** What a counter stood at when it was last read. */
  seen(index: number): number {
    return this.#seen[index] ?? 0;
  }

  /** The counter was set from one value to another without losing what it gained. */
  gained(index: number, from: number, to: number): void {
    if (from !== to) this.#set(index, (this.#seen[index] ?? 0) + to - from);
  }

  /** A counter goes on under another index. */
  move(from: number, to: number): void {
    this.#set(to, this.#seen[from] ?? 0);
  }

  /** The indices are another's now. */
  clear(base: number, size: number): void {
    this.#seen.fill(0, base, base + size);
  }

  #set(index: number, value: number): void {
    if (index >= this.#seen.length) {
      const larger = new Float64Array(Math.max(index + 1, Math.ceil(this.#seen.length * 1.5)));
      larger.set(this.#seen);
      this.#seen = larger;
    }
    this.#seen[index] = value;
  }
}
