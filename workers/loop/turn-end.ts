/**
 * Writes that wait for the end of the loop's turn instead of the end of their event. A connection
 * that many others write to, as those of HTTP/2 are, sends what all events of a turn left for it in
 * one system call; and peers that are written to one right after the other are woken once, where
 * each would else sleep again before the next.
 */
import type { Flushable } from './worker-loop.ts';

/** The loop as this sees it. */
interface TurningLoop {
  run(owner: undefined, act: () => void): void;
  flushLater(task: Flushable): void;
}

/** So many transports wait at most: with more the first would wait for long. */
const MOST_WAITING = 64;

export class TurnEnd {
  readonly #loop: TurningLoop;
  /** Each at most once; given to the loop when all events of the turn are over. */
  #waiting: Flushable[] = [];
  #isAsked = false;

  constructor(loop: TurningLoop) {
    this.#loop = loop;
  }

  /** Calls `flush` when the turn ends. The caller adds itself once. */
  add(task: Flushable): void {
    // What the runtime calls at once comes after it has asked all sockets.
    if (!this.#isAsked) setImmediate(this.#onTurnEnd);
    this.#isAsked = true;
    if (this.#waiting.push(task) >= MOST_WAITING) this.#giveToLoop();
  }

  /** They are written at the end of the present event. */
  #giveToLoop(): void {
    const tasks = this.#waiting;
    this.#waiting = [];
    for (const task of tasks) this.#loop.flushLater(task);
  }

  readonly #onTurnEnd = (): void => {
    this.#isAsked = false;
    this.#loop.run(undefined, () => this.#giveToLoop());
  };
}
