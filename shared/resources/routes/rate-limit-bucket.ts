/** Tokens of a rate limit, as the HTTP and the network filter configure them. */
export interface RateLimitBucket {
  readonly maxTokens: number;
  readonly tokensPerFill: number;
  readonly fillIntervalMs: number;
  /** Where it is configured: tells the limits of one listener apart. */
  readonly place: string;
}
