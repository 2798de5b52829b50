/**
 * Brings batches of updates into force in their order, each one whole or not at all: everything of
 * a batch that may fail is prepared before anything changes. What is large is prepared in slices,
 * and what a change has to wait for is waited for, while requests go on with what they have.
 */
import type { ResourceUpdate } from '../../shared/resources/resource-update.ts';
import { runInSlices, type Steps } from '../loop/sliced-work.ts';
import type { SliceTurns } from '../loop/slice-turns.ts';

/**
 * A change that was prepared and cannot fail any more. Returns what to wait for before it is in
 * force.
 */
export type Change = () => Promise<void> | void;

export interface ChangeQueueOptions {
  readonly loop: { readonly slices: SliceTurns; enter(): void; leave(): void };
  /** Does everything that may fail, or gives the steps of that where they are many. */
  readonly prepare: (update: ResourceUpdate) => Change | Steps<Change>;
  /** Everything is in force. */
  readonly onSettled: () => void;
}

export class ChangeQueue {
  readonly #options: ChangeQueueOptions;
  /** Resolves when what came so far is in force; undefined: it is. */
  #settled: Promise<void> | undefined = undefined;

  constructor(options: ChangeQueueOptions) {
    this.#options = options;
  }

  /**
   * Throws with nothing changed, or returns what to wait for: it rejects with nothing changed where
   * the batch is prepared in slices.
   */
  apply(updates: readonly ResourceUpdate[]): Promise<void> | undefined {
    const { loop, prepare } = this.#options;
    const prepared = updates.map((update) => prepare(update));
    if (!prepared.every(isChange)) {
      const inForce = this.#applyInSlices(this.#settled, prepared);
      this.#settled = inForce.catch(async () => this.#changeRest([]));
      return inForce;
    }
    if (this.#settled !== undefined) {
      this.#settled = this.#settled.then(async () => this.#changeRest(prepared));
      return this.#settled;
    }
    loop.enter();
    this.#change(prepared);
    loop.leave();
    return this.#settled;
  }

  async #applyInSlices(
    earlier: Promise<void> | undefined,
    prepared: readonly (Change | Steps<Change>)[],
  ): Promise<void> {
    await earlier;
    const changes: Change[] = [];
    for (const each of prepared) {
      changes.push(isChange(each) ? each : await runInSlices(this.#options.loop, each));
    }
    await this.#changeRest(changes);
  }

  /** What comes behind the first hosts of a large cluster waits for them. */
  #change(changes: readonly Change[]): void {
    for (const [at, change] of changes.entries()) {
      const settled = change();
      if (settled === undefined) continue;
      this.#settled = settled.then(async () => this.#changeRest(changes.slice(at + 1)));
      return;
    }
    this.#settled = undefined;
    this.#options.onSettled();
  }

  async #changeRest(changes: readonly Change[]): Promise<void> {
    const { loop } = this.#options;
    loop.enter();
    this.#change(changes);
    loop.leave();
    await this.#settled;
  }
}

function isChange(prepared: Change | Steps<Change>): prepared is Change {
  return typeof prepared === 'function';
}
