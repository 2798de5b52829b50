/** A connection that waits for a module's promise: it decides once, or its time limit does. */
import type { ConnectionVerdict } from '../../../../shared/scripts/network-filter.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import type { Resume, Waiting } from '../../network-gate.ts';

/** What became of the promise. */
export type Outcome =
  | { readonly kind: 'verdict'; readonly verdict: ConnectionVerdict }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'timeout' };

export interface AwaitedParts {
  readonly loop: WorkerLoop;
  readonly timeoutMs: number;
  /** Whether the connection goes on. */
  decide(outcome: Outcome): boolean;
}

export class AwaitedVerdict implements Waiting, TimerOwner {
  readonly #parts: AwaitedParts;
  readonly #resume: Resume;
  readonly #timer = new LoopTimer(this, 0);
  #isOver = false;

  constructor(promise: Promise<ConnectionVerdict>, parts: AwaitedParts, resume: Resume) {
    this.#parts = parts;
    this.#resume = resume;
    parts.loop.timers.list(Math.max(1, parts.timeoutMs)).arm(this.#timer);
    promise.then(
      (verdict) => this.#settleLater({ kind: 'verdict', verdict }),
      (error: unknown) => this.#settleLater({ kind: 'error', error }),
    );
  }

  onTimer(): void {
    this.#settle({ kind: 'timeout' });
  }

  /** Code that worked for the verdict threw. */
  onException(): void {
    this.cancel();
    this.#resume(false);
  }

  cancel(): void {
    this.#isOver = true;
    this.#timer.disarm();
  }

  #settleLater(outcome: Outcome): void {
    this.#parts.loop.run(this, () => this.#settle(outcome));
  }

  #settle(outcome: Outcome): void {
    if (this.#isOver) return;
    this.cancel();
    this.#resume(this.#parts.decide(outcome));
  }
}
