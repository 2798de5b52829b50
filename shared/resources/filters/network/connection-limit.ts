/** Settings of connection_limit: connections at one time. */
export interface ConnectionLimit {
  readonly kind: 'connection_limit';
  readonly statPrefix: string;
  /** Of all workers together. */
  readonly maxConnections: number;
  /** How long a connection above the limit is held before it is closed; 0: not at all. */
  readonly delayMs: number;
  readonly enabled: { readonly isDefault: boolean; readonly runtimeKey: string };
  /** Where the filter stands in the configuration: connections are counted under it. */
  readonly place: string;
}
