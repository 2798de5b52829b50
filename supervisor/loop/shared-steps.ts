/**
 * Long work that several may wait for, made in the turns of those who do: when all of them are
 * gone it stands still, and the next one goes on where it was.
 */
import type { Steps } from './loop-turns.ts';

type Outcome<Result> =
  | { readonly isDone: true; readonly result: Result }
  | { readonly isDone: false; readonly error: unknown };

export class SharedSteps<Result> {
  readonly #steps: Steps<Result>;
  #outcome: Outcome<Result> | undefined;

  constructor(steps: Steps<Result>) {
    this.#steps = steps;
  }

  /** A failed one fails for everybody; who wants the result makes another. */
  get hasFailed(): boolean {
    return this.#outcome?.isDone === false;
  }

  /** Steps of one who waits. */
  *result(): Steps<Result, ''> {
    for (;;) {
      const outcome = (this.#outcome ??= this.#step());
      if (outcome?.isDone === true) return outcome.result;
      if (outcome?.isDone === false) throw outcome.error;
      yield '';
    }
  }

  #step(): Outcome<Result> | undefined {
    try {
      const step = this.#steps.next();
      return step.done === true ? { isDone: true, result: step.value } : undefined;
    } catch (error) {
      return { isDone: false, error };
    }
  }
}
