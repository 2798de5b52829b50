/**
 * Writes that wait for the end of the loop's turn instead of the end of their event: a connection
 * that many others write to, as those of HTTP/2 are, sends what all events of a turn left for it in
 * one system call.
 */
import type { Flushable } from './worker-loop.ts';

/** The loop as this sees it. */
interface TurningLoop {
  run(owner: undefined, act: () => void): void;
  flushLater(task: Flushable): void;
}

export class TurnEnd {
  readonly #loop: TurningLoop;
  /** Each at most once; given to the loop when all events of the turn are over. */
  #waiting: Flushable[] = [];

  constructor(loop: TurningLoop) {
    this.#loop = loop;
  }

  /** Calls `flush` when the turn ends. The caller adds itself once. */
  add(task: Flushable): void {
    // What the runtime calls at once comes after it has asked all sockets.
    if (this.#waiting.length === 0) setImmediate(this.#onTurnEnd);
    this.#waiting.push(task);
  }

  readonly #onTurnEnd = (): void => {
    const tasks = this.#waiting;
    this.#waiting = [];
    this.#loop.run(undefined, () => {
      for (const task of tasks) this.#loop.flushLater(task);
    });
  };
}
