/** What the settings of outlier detection resolve to. Types only. */
import type { OutlierThresholds } from '../../shared/resources/clusters/outlier-detection.ts';

/** What the supervisor decides with; percentages from 0 to 100. */
export interface OutlierSettings {
  readonly thresholds: OutlierThresholds;
  readonly intervalMs: number;
  readonly baseEjectionMs: number;
  readonly maxEjectionMs: number;
  readonly maxEjectionJitterMs: number;
  readonly maxEjectionPercent: number;
  readonly alwaysEjectsOne: boolean;
  /** A passed active check ends an ejection. */
  readonly endsByCheck: boolean;
  readonly successRate: {
    readonly minimumHosts: number;
    readonly requestVolume: number;
    readonly deviationFactor: number;
  };
  readonly failurePercentage: {
    readonly minimumHosts: number;
    readonly requestVolume: number;
    readonly threshold: number;
  };
  /** By the names that the statistics have. */
  readonly enforcing: Readonly<Record<OutlierKind, number>>;
}

export type OutlierKind =
  | 'consecutive_5xx'
  | 'consecutive_gateway_failure'
  | 'consecutive_local_origin_failure'
  | 'success_rate'
  | 'local_origin_success_rate'
  | 'failure_percentage'
  | 'local_origin_failure_percentage';
