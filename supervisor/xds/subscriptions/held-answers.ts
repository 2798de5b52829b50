/**
 * What a type has to say of the answers it got while it is held back: every answer in its order
 * where each has a nonce of its own to acknowledge, else only the latest.
 */

/** What a request answers. */
export interface Answered {
  readonly nonce: string;
  /** Why it was refused. */
  readonly refusal: string | undefined;
}

/** The limit, past which the oldest is acknowledged early. */
export const HELD_MAX = 1000;

export class HeldAnswers {
  readonly #isEachWanted: boolean;
  #answers: Answered[] = [];

  constructor(isEachWanted: boolean) {
    this.#isEachWanted = isEachWanted;
  }

  get isEmpty(): boolean {
    return this.#answers.length === 0;
  }

  /** Returns what can be kept no longer. */
  add(answered: Answered): Answered | undefined {
    if (!this.#isEachWanted) this.#answers = [];
    this.#answers.push(answered);
    return this.#answers.length > HELD_MAX ? this.#answers.shift() : undefined;
  }

  /** All of them, which are not held any more. */
  take(): readonly Answered[] {
    const answers = this.#answers;
    this.#answers = [];
    return answers;
  }
}
