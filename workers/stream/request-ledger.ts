/**
 * The events of one request that statistics count, from its first header to its end. Each layer
 * that a request passes has one ledger, in one file, and counts requests nowhere else:
 *
 * - the connection manager in manager/manager-ledger.ts: `http.<prefix>.downstream_rq_*`,
 * - the router in router/ledger/router-ledger.ts: `http.<prefix>.rq_*`, virtual clusters, routes,
 * - the cluster in router/ledger/cluster-ledger.ts: `cluster.<name>.upstream_rq_*`, its hosts,
 *   outlier detection, reported loads.
 *
 * What waits for a connection or is on one is counted by the pool, as requests of its own queue.
 * A ledger is called in passing: it keeps what it counts in the statistics and in `Subject`, the
 * layer's own record of the request.
 */
export interface RequestLedger<Subject> {
  /** The layer took the request on. */
  routed(subject: Subject): void;
  /** A status was given for it, by a host or here; also an informational one. */
  answered(subject: Subject, status: number): void;
  /** It broke off before it was complete. */
  reset(subject: Subject): void;
  /** It is over; `tookMs` is negative where the answer did not come to its end. */
  ended(subject: Subject, tookMs: number): void;
}

/** The ledger of a layer that sees the attempts of a request, and the host of each. */
export interface AttemptLedger<Subject, Host> extends RequestLedger<Subject> {
  /** An attempt got its connection. */
  attempted(subject: Subject, host: Host): void;
}
