/**
 * How many requests each host of a cluster has open in this worker, side by side: a balancer that
 * looks at some of ten thousand hosts touches a few bytes of each, not the host.
 */

const FIRST_SIZE = 8;

export class ActiveRequests {
  #counts = new Int32Array(FIRST_SIZE);
  #taken = 0;
  readonly #free: number[] = [];

  /** A slot for a host, with nothing open. */
  take(): number {
    const slot = this.#free.pop() ?? this.#taken++;
    if (slot === this.#counts.length) {
      const counts = new Int32Array(2 * slot);
      counts.set(this.#counts);
      this.#counts = counts;
    }
    return slot;
  }

  /** The host is gone. A slot in which something is open is not used again. */
  giveBack(slot: number): void {
    if (this.#counts[slot] === 0) this.#free.push(slot);
  }

  of(slot: number): number {
    return this.#counts[slot] ?? 0;
  }

  add(slot: number, change: number): void {
    (this.#counts[slot] as number) += change;
  }
}
