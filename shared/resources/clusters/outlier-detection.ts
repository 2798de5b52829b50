/**
 * Outlier detection of a cluster. Source: envoy.config.cluster.v3.OutlierDetection, defaults filled
 * in.
 */

export type ConsecutiveKind =
  | 'consecutive_5xx'
  | 'consecutive_gateway_failure'
  | 'consecutive_local_origin_failure';

/** What workers tell of a host: a threshold reached, or its own word. */
export type OutlierSign = ConsecutiveKind | 'degraded';

/** What workers count; the rest is the supervisor's. 0: never. */
export interface OutlierThresholds {
  readonly splitsErrors: boolean;
  /** Answers that say so degrade their host. */
  readonly detectsDegraded: boolean;
  readonly consecutive: Readonly<Record<ConsecutiveKind, number>>;
}
