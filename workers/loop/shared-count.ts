/**
 * A number that all workers together keep below a limit, in shared memory: of connections, mostly.
 */
import { BreakerPage } from '../../shared/limits/breaker-page.ts';
import type { RateLimitPage } from '../../shared/limits/rate-limit-page.ts';

export interface SharedPages {
  readonly workerIndex: number;
  /** Mapped with the first limit. */
  breakerPage(): BreakerPage;
  rateLimitPage(): RateLimitPage;
}

export class SharedCount {
  readonly #page: BreakerPage;
  readonly #worker: number;
  readonly #slot: number;

  /**
   * All that ask under the same name count together; of this worker alone when the pages are full.
   */
  constructor(name: string, pages: SharedPages) {
    const slot = pages.rateLimitPage().slotOf(`connections ${name}`);
    this.#page = slot === undefined ? BreakerPage.single() : pages.breakerPage();
    this.#worker = slot === undefined ? 0 : pages.workerIndex;
    this.#slot = slot === undefined ? 0 : BreakerPage.namedSlot(slot);
  }

  /**
   * Counts one more, until `closed`; false with nothing counted where that is more than `limit`.
   */
  tryOpen(limit: number): boolean {
    this.add(1);
    if (this.#page.count(this.#slot, 'connections') <= limit) return true;
    this.add(-1);
    return false;
  }

  /** The count of all workers. */
  count(): number {
    return this.#page.count(this.#slot, 'connections');
  }

  add(change: number): void {
    this.#page.add(this.#worker, this.#slot, 'connections', change);
  }
}
