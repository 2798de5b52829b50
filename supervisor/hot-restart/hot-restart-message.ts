/**
 * The messages that two epochs exchange, and their wire form: Envoy's own protocol.
 *
 *   stream:   u64 big endian length | protobuf HotRestartMessage, cut into datagrams of 4,096 bytes
 *
 *   HotRestartMessage        1 request | 2 reply; 3 didnt_recognize_your_last_message
 *   request  (child → parent)  1 pass_listen_socket { 1 address, 2 worker_index } | 2
 * shutdown_admin
 *                            | 3 stats | 4 drain_listeners | 5 terminate
 *   reply    (parent → child)  1 pass_listen_socket { 1 fd }, -1 for none, else by SCM_RIGHTS
 *                            | 2 shutdown_admin { 1 original_start_time_unix_seconds,
 *                                                 2 enable_reuse_port_default }
 *                            | 3 stats { 1 memory_allocated, 2 num_connections,
 *                                        3 counter_deltas, 4 gauges, 5 dynamics }
 *
 * Three additions of our own, which Envoy passes over as unknown fields: a stats request of a
 * Sluice carries { 1000 is_sluice }, { 1000 are_totals } is in the answer that holds totals, and
 * { 1000 host_orders } in that of shutdown_admin, where there are any.
 *
 * Source: the traffic between two processes of Envoy (hot restart version 11).
 */
export type HotRestartRequest =
  /** Asks for the listening socket of one worker; `address` such as `tcp://127.0.0.1:80`. */
  | { readonly kind: 'pass_listen_socket'; readonly address: string; readonly workerIndex: number }
  /** The child is about to open its admin listener. Reply: `shutdown_admin`. */
  | { readonly kind: 'shutdown_admin' }
  /** On each of the child's flushes until the parent is ended. Reply: `stats`. */
  | { readonly kind: 'stats'; readonly isSluice: boolean }
  /** The child is live. No reply. */
  | { readonly kind: 'drain_listeners' }
  /** No reply; the parent exits. */
  | { readonly kind: 'terminate' };

export type HotRestartReply =
  /** `hasSocket` tells whether a descriptor came with the message. */
  | { readonly kind: 'pass_listen_socket'; readonly hasSocket: boolean }
  | {
      readonly kind: 'shutdown_admin';
      readonly originalStartTimeUnixSeconds: number;
      readonly enableReusePortDefault: boolean;
      /** What an operator has ordered for single hosts, as the next epoch reads it. */
      readonly hostOrders?: string;
    }
  | { readonly kind: 'stats'; readonly stats: ParentStats };

export interface ParentStats {
  readonly memoryAllocated: number;
  readonly numConnections: number;
  /** What was added to each counter since the last such message. */
  readonly counterDeltas: ReadonlyMap<string, number>;
  readonly gauges: ReadonlyMap<string, number>;
  /**
   * `counterDeltas` are the whole values, which sinks have been told already. Only in the first
   * answer of a Sluice to a Sluice.
   */
  readonly areTotals: boolean;
}

export type HotRestartMessage =
  | { readonly kind: 'request'; readonly request: HotRestartRequest }
  | { readonly kind: 'reply'; readonly reply: HotRestartReply }
  /** The answer to a message that the other build knows and this one does not. */
  | { readonly kind: 'not_recognised' }
  /** A message of a newer build. Never sent. */
  | { readonly kind: 'unknown' };
