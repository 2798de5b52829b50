/** Calls of observers, which get some time after their request to hear what they were sent. */
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { LoopTimers } from '../../../loop/timers.ts';
import type { ProcessorCall } from './processor.ts';

/** The limit of one filter; any further one ends with its request. */
const LINGERING_MAX = 4096;

export class LingeringCalls {
  readonly #timers: LoopTimers;
  readonly #delayMs: number;
  readonly #onClosed: () => void;
  readonly #calls = new Set<LingeringCall>();

  constructor(timers: LoopTimers, delayMs: number, onClosed: () => void) {
    this.#timers = timers;
    this.#delayMs = delayMs;
    this.#onClosed = onClosed;
  }

  keep(call: ProcessorCall): void {
    const kept = new LingeringCall(call, () => {
      this.#calls.delete(kept);
      this.#onClosed();
    });
    if (this.#delayMs <= 0 || this.#calls.size >= LINGERING_MAX) return kept.close();
    this.#calls.add(kept);
    this.#timers.list(Math.max(1, this.#delayMs)).arm(kept.timer);
  }

  release(): void {
    for (const call of this.#calls) call.close();
  }
}

class LingeringCall implements TimerOwner {
  readonly #call: ProcessorCall;
  readonly #onClosed: () => void;
  readonly timer = new LoopTimer(this, 0);

  constructor(call: ProcessorCall, onClosed: () => void) {
    this.#call = call;
    this.#onClosed = onClosed;
  }

  close(): void {
    this.timer.disarm();
    this.#onClosed();
    this.#call.close(true);
  }

  onTimer(): void {
    this.close();
  }

  onException(): void {
    this.close();
  }
}
