/**
 * Ends something once nobody uses it: statistics of a removed host or cluster stay defined while
 * requests that began before the removal still count into them.
 */
export class Retained {
  readonly #release: () => void;
  #holders = 0;
  #isEnded = false;

  constructor(release: () => void) {
    this.#release = release;
  }

  hold(): void {
    this.#holders++;
  }

  letGo(): void {
    this.#holders--;
    if (this.#isEnded && this.#holders === 0) this.#release();
  }

  /** No new holders are expected; releases now or with the last of them. Called once. */
  end(): void {
    this.#isEnded = true;
    if (this.#holders === 0) this.#release();
  }
}
