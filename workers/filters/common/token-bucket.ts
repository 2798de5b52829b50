/**
 * Tokens that come back evenly with time. A bucket is one number, the moment at which it was last
 * empty, held by one worker or in the page that all workers take from.
 */
import type { RateLimitPage } from '../../../shared/limits/rate-limit-page.ts';
import type { RateLimitBucket } from '../../../shared/resources/routes/rate-limit-bucket.ts';

/**
 * Where the moment is kept; 0 for a bucket that was never touched. CLOCK_MONOTONIC milliseconds.
 */
export interface BucketState {
  load(): number;
  /** False when it is no longer `expected`. */
  exchange(expected: number, next: number): boolean;
}

/** What the sum of many equal parts may lack of a whole token. */
const ROUNDING = 1e-6;

export class TokenBucket {
  readonly maxTokens: number;
  readonly #msPerToken: number;
  readonly #state: BucketState;

  /** Full at first. Without `state` it is nobody else's. */
  constructor(options: RateLimitBucket, state: BucketState = new OwnState()) {
    this.maxTokens = options.maxTokens;
    this.#msPerToken = options.fillIntervalMs / options.tokensPerFill;
    this.#state = state;
  }

  take(nowMs: number): boolean {
    for (;;) {
      const before = this.#state.load();
      const emptyMs = this.#emptyMs(before, nowMs);
      if (this.#tokensSince(emptyMs, nowMs) < 1) return false;
      if (this.#state.exchange(before, emptyMs + this.#msPerToken)) return true;
    }
  }

  /** As many as there are, up to `count`. */
  takeUpTo(count: number, nowMs: number): number {
    for (;;) {
      const before = this.#state.load();
      const emptyMs = this.#emptyMs(before, nowMs);
      const taken = Math.min(count, Math.floor(this.#tokensSince(emptyMs, nowMs)));
      if (taken <= 0) return 0;
      if (this.#state.exchange(before, emptyMs + taken * this.#msPerToken)) return taken;
    }
  }

  /** A bucket that was never touched has so many tokens instead of being full. */
  startWith(tokens: number, nowMs: number): void {
    if (this.#state.load() !== 0) return;
    this.#state.exchange(0, nowMs - Math.min(tokens, this.maxTokens) * this.#msPerToken);
  }

  /** Whole tokens. */
  remaining(nowMs: number): number {
    return Math.floor(this.#tokensSince(this.#emptyMs(this.#state.load(), nowMs), nowMs));
  }

  /** Until there is a token, rounded up; 0 when there is one. */
  secondsToNext(nowMs: number): number {
    const tokens = this.#tokensSince(this.#emptyMs(this.#state.load(), nowMs), nowMs);
    return tokens < 1 ? Math.ceil(((1 - tokens) * this.#msPerToken) / 1000) : 0;
  }

  #tokensSince(emptyMs: number, nowMs: number): number {
    return (nowMs - emptyMs) / this.#msPerToken + ROUNDING;
  }

  /** A full bucket does not fill on. */
  #emptyMs(state: number, nowMs: number): number {
    const full = nowMs - this.maxTokens * this.#msPerToken;
    return state === 0 ? full : Math.max(state, full);
  }
}

/** A number of one worker. */
export class OwnState implements BucketState {
  #moment = 0;

  load(): number {
    return this.#moment;
  }

  exchange(_expected: number, next: number): boolean {
    this.#moment = next;
    return true;
  }
}

/** The bucket that all workers have for `limit`; of this worker alone when the page is full. */
export function sharedBucket(
  options: RateLimitBucket,
  page: RateLimitPage,
  listener: string,
): TokenBucket {
  const { place, maxTokens, tokensPerFill, fillIntervalMs } = options;
  const limit = JSON.stringify([listener, place, maxTokens, tokensPerFill, fillIntervalMs]);
  return new TokenBucket(options, sharedState(limit, page));
}

/** The number that all workers have under a name; of this worker alone when the page is full. */
function sharedState(name: string, page: RateLimitPage): BucketState {
  const slot = page.slotOf(name);
  if (slot === undefined) return new OwnState();
  return {
    load: () => page.load(slot),
    exchange: (expected, next) => page.exchange(slot, expected, next),
  };
}

interface SharedLimits {
  sharedBucket(options: RateLimitBucket): TokenBucket;
  sharedState(name: string): BucketState;
  processState(name: string): BucketState;
}

/** Those of one owner, such as a listener. */
export function sharedLimits(page: () => RateLimitPage, owner: string): SharedLimits {
  return {
    sharedBucket: (options) => sharedBucket(options, page(), owner),
    sharedState: (name) => sharedState(JSON.stringify([owner, name]), page()),
    processState: (name) => sharedState(JSON.stringify([name]), page()),
  };
}
