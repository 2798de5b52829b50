/** A promise of a module that a message waits for, for as long as it may. */
import type { Endable } from '../../../../shared/process/exceptions.ts';
import { LoopTimer, type TimerOwner } from '../../../loop/timers.ts';
import type { ScriptInstance } from './script-instance.ts';

export class ScriptWait implements TimerOwner {
  readonly #instance: ScriptInstance;
  readonly #owner: Endable;
  readonly #timer = new LoopTimer(this, 0);
  #failed: ((error: unknown) => void) | undefined = undefined;
  /** The number of the promise that is waited for; others are of no interest any more. */
  #turn = 0;
  #isWaiting = false;

  constructor(instance: ScriptInstance, owner: Endable) {
    this.#instance = instance;
    this.#owner = owner;
  }

  /** Calls one of the two, within an event of the loop. */
  begin(
    promise: PromiseLike<unknown>,
    settled: (value: unknown) => void,
    failed: (error: unknown) => void,
  ): void {
    const { context, parts, moduleId } = this.#instance;
    const turn = ++this.#turn;
    this.#failed = failed;
    context.loop.timers.list(parts.settings.options.callbackTimeoutMs).arm(this.#timer);
    parts.marks.awaits(moduleId);
    this.#isWaiting = true;
    const end = (act: () => void): void => {
      if (turn !== this.#turn) return;
      this.end();
      context.loop.run(this.#owner, act);
    };
    promise.then(
      (value) => end(() => settled(value)),
      (error: unknown) => end(() => failed(error)),
    );
  }

  end(): void {
    this.#turn++;
    if (this.#isWaiting) this.#instance.parts.marks.awaitsNoMore();
    this.#isWaiting = false;
    this.#timer.disarm();
  }

  onTimer(): void {
    this.end();
    this.#instance.count('timeouts');
    this.#failed?.(new Error('a function of the module did not settle in time'));
  }

  onException(): void {
    this.#owner.onException();
  }
}
