/** Gives out the slots of the page in which workers count the answers of hosts. */
import { OUTLIER_SLOT, OUTLIER_SLOTS_MAX, OutlierPage } from '../../shared/limits/outlier-page.ts';

export class OutlierSlots {
  readonly page: OutlierPage;
  readonly #free: number[] = [];
  #next = 0;

  constructor(fd: number) {
    this.page = new OutlierPage(fd);
  }

  /** Undefined when all are in use: that host is not watched. */
  take(): number | undefined {
    if (this.#next < OUTLIER_SLOTS_MAX) return this.#next++;
    const slot = this.#free.shift();
    if (slot === undefined) return undefined;
    for (const offset of Object.values(OUTLIER_SLOT)) this.page.clear(slot, offset);
    return slot;
  }

  /** Used again as late as can be: workers may still hold it for a moment. */
  giveBack(slot: number): void {
    this.#free.push(slot);
  }
}
