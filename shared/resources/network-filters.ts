/**
 * Settings of network filters, HTTP connection managers aside, as workers receive them.
 * Source: envoy.extensions.filters.network.*.v3.
 */
import type { AccessLogConfig } from './access-log.ts';
import type { RbacRules } from './http-filters.ts';
import type { RateLimitBucket } from './rate-limit-bucket.ts';

/** Filters that end a chain of bytes. */
export type TcpTerminalFilter = TcpProxy | EchoFilter | DirectResponse;

/** Filters that only decide whether a connection may go on, in front of any terminal filter. */
export type GateFilter = NetworkRateLimit | NetworkRbac | SniCluster;

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

interface EchoFilter {
  readonly kind: 'echo';
}

interface DirectResponse {
  readonly kind: 'direct_response';
  /** A byte string: one character per byte. */
  readonly response: string;
}

export interface NetworkRateLimit {
  readonly kind: 'network_local_ratelimit';
  readonly statPrefix: string;
  readonly bucket: RateLimitBucket;
  readonly enabled: { readonly isDefault: boolean; readonly runtimeKey: string };
}

export interface NetworkRbac {
  readonly kind: 'network_rbac';
  /** Whole prefixes of statistic names, with the trailing dot. */
  readonly statPrefix: string;
  readonly shadowStatPrefix: string;
  readonly rules?: RbacRules;
  readonly shadowRules?: RbacRules;
}

/** The TCP proxy behind it goes to the cluster that the TLS client named. */
interface SniCluster {
  readonly kind: 'sni_cluster';
}
