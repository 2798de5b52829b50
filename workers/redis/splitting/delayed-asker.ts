/** Keeps the answer to a command for as long as a fault says. */
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { RespValue } from '../codec/resp-value.ts';
import type { CommandHandle } from '../upstream/command-handle.ts';
import type { CommandCounter } from './command-counter.ts';
import type { Asker } from './command-run.ts';

interface DelayedAskerParts {
  readonly asker: Asker;
  readonly counter: CommandCounter;
  readonly loop: WorkerLoop;
  readonly delayMs: number;
}

export class DelayedAsker implements Asker, CommandHandle, TimerOwner {
  readonly #parts: DelayedAskerParts;
  readonly #startedMs: number;
  readonly #timer = new LoopTimer(this, 0);
  #value: RespValue | undefined = undefined;
  /** What will bring the answer. */
  run: CommandHandle | undefined = undefined;

  constructor(parts: DelayedAskerParts) {
    this.#parts = parts;
    this.#startedMs = parts.loop.clock.ms;
  }

  answer(value: RespValue): void {
    const { loop, delayMs } = this.#parts;
    this.#value = value;
    loop.timers.list(delayMs).arm(this.#timer);
  }

  cancel(): void {
    this.#timer.disarm();
    this.run?.cancel();
  }

  onTimer(): void {
    const { asker, counter } = this.#parts;
    const value = this.#value;
    if (value === undefined) return;
    counter.delayed(this.#startedMs);
    asker.answer(value);
  }

  onException(): void {
    this.cancel();
  }
}
