/** What pools carry and could carry, and when that calls for one more connection. */

export interface PoolLoad {
  readonly pending: number;
  readonly active: number;
  /** Requests that its connections could take, those included that are being made. */
  readonly capacity: number;
}

/** A pool, whatever it carries, as the maker of connections ahead of requests sees it. */
export interface PreconnectedPool {
  readonly load: PoolLoad;
  /**
   * Makes one more connection when there are fewer than `ratio` times its requests and the next one
   * need; false when not.
   */
  preconnect(ratio: number): boolean;
}

/** Whether requests, with those that are expected, times the ratio need more than there is. */
export function needsConnection(
  { pending, active, capacity }: PoolLoad,
  ratio: number,
  expected: number,
): boolean {
  return (pending + active + expected) * ratio > capacity + active;
}
