/** Which requests an operator wants in the log. */
export interface WatchOrder {
  /** A glob of the path without its query. */
  readonly path?: string;
  /** An IP address or a range. */
  readonly client?: string;
  /** The name in lower case. */
  readonly header?: { readonly name: string; readonly value: string };
  /** Requests at most, in each worker. */
  readonly count: number;
  readonly forMs: number;
}
