/** Tokens that come back a few at a time; the clock is the event loop's. */

export interface TokenBucketOptions {
  readonly maxTokens: number;
  readonly tokensPerFill: number;
  readonly fillIntervalMs: number;
}

export class TokenBucket {
  readonly maxTokens: number;
  private readonly options: TokenBucketOptions;
  private tokens: number;
  private filledMs: number;

  /** Full at first. */
  constructor(options: TokenBucketOptions, nowMs: number) {
    this.options = options;
    this.maxTokens = options.maxTokens;
    this.tokens = options.maxTokens;
    this.filledMs = nowMs;
  }

  take(nowMs: number): boolean {
    this.fill(nowMs);
    if (this.tokens < 1) return false;
    this.tokens--;
    return true;
  }

  get remaining(): number {
    return this.tokens;
  }

  /** Seconds until the next token comes, rounded up. */
  secondsToFill(nowMs: number): number {
    return Math.ceil((this.filledMs + this.options.fillIntervalMs - nowMs) / 1000);
  }

  private fill(nowMs: number): void {
    const { maxTokens, tokensPerFill, fillIntervalMs } = this.options;
    const fills = Math.floor((nowMs - this.filledMs) / fillIntervalMs);
    if (fills <= 0) return;
    this.filledMs += fills * fillIntervalMs;
    this.tokens = Math.min(maxTokens, this.tokens + fills * tokensPerFill);
  }
}
