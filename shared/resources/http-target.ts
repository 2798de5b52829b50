/** A service that is asked by HTTP, at a cluster. */
import type { RetryPolicy } from './routes/retry-policy.ts';

export interface HttpTarget {
  readonly cluster: string;
  readonly scheme: string;
  /** As the URI has it, with its port. */
  readonly authority: string;
  /** With its query. */
  readonly path: string;
  readonly timeoutMs: number;
  /** Absent: one attempt is made. */
  readonly retryPolicy?: RetryPolicy;
}
