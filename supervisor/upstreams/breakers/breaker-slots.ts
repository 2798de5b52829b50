/**
 * Gives out the slots of the page in which workers count what they have open, and takes back what a
 * worker that died had.
 */
import {
  BreakerPage,
  DOWNSTREAM_SLOT,
  LIMITED_RESOURCES,
} from '../../../shared/limits/breaker-page.ts';

/** One slot per priority. */
export interface SlotPair {
  readonly DEFAULT: number;
  readonly HIGH: number;
}

export class BreakerSlots {
  readonly page: BreakerPage;
  readonly #returned: number[] = [];
  #next = 0;

  constructor(fd: number, workers: number) {
    this.page = BreakerPage.map(fd, workers);
  }

  /** Undefined when all are in use: the limits hold within each worker alone then. */
  takePair(): SlotPair | undefined {
    const DEFAULT = this.take();
    const HIGH = this.take();
    if (DEFAULT !== undefined && HIGH !== undefined) return { DEFAULT, HIGH };
    if (DEFAULT !== undefined) this.#returned.push(DEFAULT);
    return undefined;
  }

  /** Undefined when all are in use, as for pairs. */
  take(): number | undefined {
    const at = this.#returned.findIndex((slot) => this.#isIdle(slot));
    const [slot] = at < 0 ? [] : this.#returned.splice(at, 1);
    if (slot !== undefined) this.page.reset(slot);
    else if (this.#next < DOWNSTREAM_SLOT) return this.#next++;
    return slot;
  }

  /** Workers may still have something open there, which ends in its time. */
  giveBack(slot: number): void {
    this.#returned.push(slot);
  }

  giveBackPair({ DEFAULT, HIGH }: SlotPair): void {
    this.#returned.push(DEFAULT, HIGH);
  }

  /** Slots under which anything was counted since they were given out. */
  used(): readonly number[] {
    const used: number[] = [];
    for (let slot = 0; slot < this.#next; slot++) if (this.page.wasAnyUsed(slot)) used.push(slot);
    return used;
  }

  /** A worker died, and with it all that it had open. */
  clearWorker(worker: number): void {
    for (let slot = 0; slot < this.#next; slot++) this.page.clear(worker, slot);
    this.page.clear(worker, DOWNSTREAM_SLOT);
    this.page.clearNamed(worker);
  }

  #isIdle(slot: number): boolean {
    return LIMITED_RESOURCES.every((resource) => this.page.count(slot, resource) === 0);
  }
}
