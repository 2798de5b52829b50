/** How many connections may be opened to one host: so many each second, saved up for one second. */
export class ConnectionRate {
  readonly #perSecond: number;
  #tokens: number;
  #filledMs: number;

  constructor(perSecond: number, nowMs: number) {
    this.#perSecond = perSecond;
    this.#tokens = perSecond;
    this.#filledMs = nowMs;
  }

  take(nowMs: number): boolean {
    const gained = ((nowMs - this.#filledMs) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#perSecond, this.#tokens + gained);
    this.#filledMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
