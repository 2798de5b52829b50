/**
 * What the event log of outlier detection says. Source:
 * envoy.data.cluster.v3.OutlierDetectionEvent.
 */
import type { OutlierKind } from '../resolved/outlier-settings.ts';

export interface OutlierEvent {
  readonly cluster: string;
  readonly host: string;
  readonly kind: OutlierKind | 'degraded';
  readonly action: 'EJECT' | 'UNEJECT';
  readonly wallMs: number;
  /** Since the host was let in, or ejected, last; undefined: it never was. */
  readonly sinceLastMs: number | undefined;
  readonly ejections: number;
  readonly isEnforced: boolean;
  /** Percentages of the interval. */
  readonly rates: { readonly host: number; readonly average: number; readonly threshold: number };
}

/** Where a type is not called as the statistic. */
const EVENT_TYPES: Partial<Record<OutlierEvent['kind'], string>> = {
  local_origin_success_rate: 'SUCCESS_RATE_LOCAL_ORIGIN',
  local_origin_failure_percentage: 'FAILURE_PERCENTAGE_LOCAL_ORIGIN',
};

export function outlierEventMessage(event: OutlierEvent): object {
  const { cluster, host, kind, action, wallMs, sinceLastMs, ejections, isEnforced } = event;
  return {
    type: EVENT_TYPES[kind] ?? kind.toUpperCase(),
    timestamp: new Date(wallMs).toISOString(),
    ...(sinceLastMs === undefined
      ? {}
      : { secs_since_last_action: String(Math.floor(sinceLastMs / 1000)) }),
    cluster_name: cluster,
    upstream_url: host,
    action,
    num_ejections: ejections,
    enforced: isEnforced,
    ...(action === 'EJECT' ? ejection(event) : {}),
  };
}

function ejection({ kind, rates }: OutlierEvent): object {
  const host = { host_success_rate: Math.floor(rates.host) };
  switch (kind) {
    case 'success_rate':
    case 'local_origin_success_rate':
      return {
        eject_success_rate_event: {
          ...host,
          cluster_average_success_rate: Math.floor(rates.average),
          cluster_success_rate_ejection_threshold: Math.floor(rates.threshold),
        },
      };
    case 'failure_percentage':
    case 'local_origin_failure_percentage':
      return { eject_failure_percentage_event: host };
    default:
      return { eject_consecutive_event: {} };
  }
}
