/**
 * How long a host is ejected or held to be degraded: longer each time that it soon happens again.
 */

/** Milliseconds. */
export interface PenaltyTimes {
  readonly baseEjectionMs: number;
  readonly maxEjectionMs: number;
  readonly maxEjectionJitterMs: number;
}

export class Penalty {
  #sinceMs: number | undefined;
  /** How many base times it lasts. */
  #backOff = 0;
  #jitterMs = 0;

  get isActive(): boolean {
    return this.#sinceMs !== undefined;
  }

  /** `draw`: from 0, below 1. */
  begin(nowMs: number, times: PenaltyTimes, draw: number): void {
    const { baseEjectionMs, maxEjectionMs, maxEjectionJitterMs } = times;
    if (this.#backOff * baseEjectionMs < maxEjectionMs + baseEjectionMs) this.#backOff += 1;
    this.#jitterMs = draw * maxEjectionJitterMs;
    this.#sinceMs = nowMs;
  }

  end(): void {
    this.#sinceMs = undefined;
  }

  /** An interval is over: says whether the penalty is, too; one that is not active gets shorter. */
  endInterval(nowMs: number, { baseEjectionMs, maxEjectionMs }: PenaltyTimes): boolean {
    if (this.#sinceMs === undefined) {
      if (this.#backOff > 0) this.#backOff -= 1;
      return false;
    }
    const lastsMs = Math.min(baseEjectionMs * this.#backOff, maxEjectionMs) + this.#jitterMs;
    return nowMs - this.#sinceMs >= lastsMs;
  }
}
