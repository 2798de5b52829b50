/**
 * The request to end the server: made once, by the first to ask (a signal, the admin interface),
 * and awaited in one place. It ends nothing itself.
 */

export class Ending {
  /** Resolves with what asked for the end. */
  readonly requested: Promise<string>;
  #resolve: ((by: string) => void) | undefined;
  #isRequested = false;

  constructor() {
    this.requested = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get isRequested(): boolean {
    return this.#isRequested;
  }

  /** False when the end was requested before. */
  request(by: string): boolean {
    if (this.#isRequested) return false;
    this.#isRequested = true;
    this.#resolve?.(by);
    return true;
  }
}
