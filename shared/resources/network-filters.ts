/**
 * Settings of network filters, HTTP connection managers aside, as workers receive them.
 * Source: envoy.extensions.filters.network.*.v3.
 */
import type { AccessLogConfig } from './access-log.ts';

export interface TcpProxy {
  readonly kind: 'tcp_proxy';
  /** What stands behind `tcp.` in statistic names, without the trailing dot. */
  readonly statPrefix: string;
  /** One with any weight, or several to choose from at random. */
  readonly clusters: readonly { readonly name: string; readonly weight: number }[];
  readonly totalWeight: number;
  readonly maxConnectAttempts: number;
  /** 0 disables each of these. */
  readonly idleTimeoutMs: number;
  readonly maxConnectionDurationMs: number;
  readonly accessLogs: readonly AccessLogConfig[];
  readonly logOnConnected: boolean;
  /** 0: no lines between a connection's begin and end. */
  readonly logIntervalMs: number;
}
