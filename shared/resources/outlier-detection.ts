/** Outlier detection of a cluster. Source: envoy.config.cluster.v3.OutlierDetection, defaults filled in. */

export type ConsecutiveKind =
  | 'consecutive_5xx'
  | 'consecutive_gateway_failure'
  | 'consecutive_local_origin_failure';

/** What workers count; the rest is the supervisor's. 0: never. */
export interface OutlierThresholds {
  readonly splitsErrors: boolean;
  readonly consecutive: Readonly<Record<ConsecutiveKind, number>>;
}
