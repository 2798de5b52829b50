/**
 * Settings of network filters, HTTP connection managers aside, as workers receive them.
 * Source: envoy.extensions.filters.network.*.v3.
 */
import type { Struct } from '../text/dictionary.ts';
import type { AccessLogConfig } from './access-loggers/access-loggers.ts';
import type { AccessLogFormat } from './access-log.ts';
import type { HeaderValueOption } from './routes/headers.ts';
import type { RbacRules } from './filters/common/rbac.ts';
import type { RateLimitBucket } from './routes/rate-limit-bucket.ts';

/** Filters that end a chain of bytes. */
export type TcpTerminalFilter = TcpProxy | EchoFilter | DirectResponse;

/** Filters that only decide whether a connection may go on, in front of any terminal filter. */
export type GateFilter =
  | NetworkRateLimit
  | NetworkRbac
  | SniCluster
  | ConnectionLimit
  | SetFilterState
  | SniForwardProxy;

export interface TcpProxy {
  readonly kind: 'tcp_proxy';
  /** What stands behind `tcp.` in statistic names, without the trailing dot. */
  readonly statPrefix: string;
  /** One with any weight, or several to choose from at random. */
  readonly clusters: readonly TcpCluster[];
  readonly totalWeight: number;
  /**
   * What hosts must have in their `envoy.lb` metadata, where a network filter names the cluster.
   */
  readonly subset?: SubsetWish;
  /** Looked at by clusters that choose hosts by a hash; absent: they choose at random. */
  readonly hashPolicy?:
    | { readonly kind: 'source_ip' }
    | { readonly kind: 'filter_state'; readonly key: string };
  /** Absent: bytes go to the host as they are. */
  readonly tunnel?: TcpTunneling;
  readonly maxConnectAttempts: number;
  /** Waits between tries grow from the first of these to the second; absent: no wait. */
  readonly retryBackOff?: { readonly baseMs: number; readonly maxMs: number };
  /** 0 disables each of these. */
  readonly idleTimeoutMs: number;
  readonly maxConnectionDurationMs: number;
  /** By how much of itself that duration grows at random, from 0 to 1. */
  readonly durationJitter: number;
  /** A connection that receives something while its listener drains is closed. */
  readonly closesWhileDraining: boolean;
  /** Additions to the PROXY protocol for hosts, where the client came without it. */
  readonly proxyTlvs?: readonly ProxyTlv[];
  readonly accessLogs: readonly AccessLogConfig[];
  readonly logOnStart: boolean;
  readonly logOnConnected: boolean;
  /** 0: no lines between a connection's begin and end. */
  readonly logIntervalMs: number;
}

type SubsetWish = Struct;

/** A fixed value in base64, or a format of one. */
export type ProxyTlv = { readonly type: number } & (
  | { readonly value: string }
  | { readonly format: AccessLogFormat }
);

export interface TcpCluster {
  readonly name: string;
  readonly weight: number;
  readonly subset?: SubsetWish;
}

/** Bytes travel inside of an HTTP request to the host, which is another proxy. */
export interface TcpTunneling {
  /** Substitution format of the request's authority. */
  readonly hostname: string;
  readonly method: 'CONNECT' | 'POST';
  /** Of POST. */
  readonly path: string;
  readonly headersToAdd: readonly HeaderValueOption[];
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

/** The connection waits for the address of the name that its TLS client asked for. */
export interface SniForwardProxy {
  readonly kind: 'sni_dynamic_forward_proxy';
  /** Of the TCP proxy behind it. */
  readonly clusters: readonly string[];
  /** Where nothing else says one. */
  readonly port: number;
}

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

/** Keeps facts of the connection for the filters behind it, and for access logs. */
export interface SetFilterState {
  readonly kind: 'set_filter_state';
  readonly onNewConnection: readonly FilterStateValue[];
  readonly onTlsHandshake: readonly FilterStateValue[];
  readonly onFirstBytes: readonly FilterStateValue[];
}

export interface FilterStateValue {
  readonly key: string;
  readonly format: AccessLogFormat;
  readonly skipsEmpty: boolean;
  /** Nothing replaces it later. */
  readonly isReadOnly: boolean;
  /** Balancers may hash it. */
  readonly isHashable: boolean;
}
