/**
 * A cluster and its hosts as workers receive them. They travel apart, because hosts change without
 * their cluster (DNS, EDS, health) and the cluster without its hosts.
 * Source: envoy.config.cluster.v3 and envoy.config.endpoint.v3.
 */
import type { MetadataExchangeOptions } from '../filters/network/metadata-exchange.ts';
import type { HttpFilter } from '../filters/http-filters.ts';
import type { ThriftTransport } from '../../thrift/thrift-message.ts';
import type { GcpAudience } from './gcp-audience.ts';
import type { Struct } from '../../text/dictionary.ts';
import type { LbPolicy, NamedHostStatus } from './lb-policy.ts';
import type { HealthCheckResource } from './health-check.ts';
import type { OutlierThresholds } from './outlier-detection.ts';
import type { Http1ServerOptions } from '../listener.ts';
import type { Http2Options } from '../http2-options.ts';
import type { RetryPolicy } from '../routes/retry-policy.ts';
import type { HashPolicy, Metadata, RequestMirrorPolicy } from '../routes/route.ts';
import type { SocketOption } from '../../addresses/socket-options.ts';
import type { RedisUpstreamAuth } from './redis.ts';
import type { UpstreamSocketOptions } from '../transport-sockets.ts';

/** For hosts whose metadata holds all of the criteria. */
export interface SocketMatch extends UpstreamSocketOptions {
  readonly name: string;
  readonly criteria: Struct;
}

export interface ClusterResource extends UpstreamSocketOptions {
  readonly name: string;
  /** `alt_stat_name` when set, without colons: what stands behind `cluster.` in statistic names. */
  readonly statName: string;
  /** What access logs call the cluster, where that is not its name. */
  readonly observabilityName?: string;
  /** What carries Thrift messages to its hosts; absent: as with the client. */
  readonly thriftTransport?: ThriftTransport;
  readonly connectTimeoutMs: number;
  readonly lbPolicy: LbPolicy;
  /** Percent below which all hosts are used. */
  readonly healthyPanicThreshold: number;
  /**
   * A host that a filter names is taken while it is one of these; absent: while it is not
   * unhealthy.
   */
  readonly namedHostStatuses?: readonly NamedHostStatus[];
  readonly perConnectionBufferLimitBytes: number;
  readonly circuitBreakers: Readonly<Record<'DEFAULT' | 'HIGH', CircuitBreakerThresholds>>;
  readonly maxRequestsPerConnection?: number;
  /** Connections for as many requests as there are, times this; absent: as many as there are. */
  readonly preconnect?: PreconnectRatios;
  /** The family that is tried first for hosts with several addresses; absent: the first. */
  readonly firstFamily?: 'v4' | 'v6';
  /** Connections of one client's connection serve no other. */
  readonly hasPoolPerClient?: true;
  readonly upstreamHttp: UpstreamHttpOptions;
  /** How long a connection waits for a client of a TCP proxy; 0: for ever. */
  readonly tcpIdleTimeoutMs: number;
  /** As whom the Redis proxy comes to its hosts; absent: as nobody. */
  readonly redis?: RedisUpstreamAuth;
  /** Absent: the socket options of the cluster hold for all hosts. See socket-match.ts. */
  readonly socketMatches?: readonly SocketMatch[];
  /** Hosts are told which workload this is, before the first bytes of a connection. */
  readonly metadataExchange?: MetadataExchangeOptions;
  /** By family of the host's address; absent: as the system has them. */
  readonly localSockets?: Readonly<Record<'v4' | 'v6', LocalSocket>>;
  /** Not empty; a host is well when it passes all of them. */
  readonly healthChecks?: readonly HealthCheckResource[];
  readonly outlierDetection?: OutlierThresholds;
  readonly closeConnectionsOnHostHealthFailure: boolean;
  readonly ignoreNewHostsUntilFirstHealthCheck: boolean;
  /** When hosts come or go, later requests to all others get connections of their own. */
  readonly renewsPoolsWithHosts?: true;
  /** The audience of its typed metadata: whom tokens for its hosts are for. */
  readonly gcpAudience?: GcpAudience;
  readonly metadata?: Metadata;
  readonly trackClusterStats: {
    readonly timeoutBudgets: boolean;
    readonly requestResponseSizes: boolean;
  };
}

/** What came of looking a name up for a cluster that forwards to any. */
export interface HostAnswer {
  /** `name:port`, IPv6 addresses in brackets. */
  readonly host: string;
  /** What was found is for all requests that wait for the name; an overflow for one of them. */
  readonly outcome: 'found' | 'failed' | 'cache_overflow' | 'pending_overflow' | 'cluster_overflow';
  /** The request that asked, see `host_wanted`. */
  readonly ticket: number;
  /** Why it failed, in the words of access logs; empty for none. */
  readonly details: string;
}

/** envoy.config.cluster.v3.CircuitBreakers.Thresholds with the defaults filled in. */
export interface CircuitBreakerThresholds {
  readonly maxConnections: number;
  readonly maxPendingRequests: number;
  readonly maxRequests: number;
  readonly maxRetries: number;
  readonly maxConnectionPools?: number;
  /** The limit of each host, whose connections of both priorities count. */
  readonly maxConnectionsPerHost?: number;
  /** Publish what is left until each limit. */
  readonly trackRemaining?: boolean;
  readonly retryBudget?: { readonly budgetPercent: number; readonly minRetryConcurrency: number };
}

export interface Http1ClientOptions extends Pick<
  Http1ServerOptions,
  'enableTrailers' | 'allowChunkedLength' | 'headerCase'
> {
  /** Targets in absolute form (RFC 9112, section 3.2.2), as other proxies want them. */
  readonly sendsFullUrl?: true;
}

export interface UpstreamHttpOptions {
  readonly protocol: 'HTTP1' | 'HTTP2' | 'DOWNSTREAM' | 'AUTO';
  /** 0 disables. The API's default is one hour. */
  readonly idleTimeoutMs: number;
  readonly maxConnectionDurationMs?: number;
  /** The share of it that is added at random at most; absent: nothing. */
  readonly maxConnectionDurationJitter?: number;
  /**
   * The time limit of one attempt of a request, from the moment that it has a connection; 0: none.
   */
  readonly maxStreamDurationMs: number;
  readonly maxResponseHeadersKb: number;
  readonly maxHeadersCount: number;
  /** Absent: names in lower case, no trailers, no length beside chunks. */
  readonly http1?: Http1ClientOptions;
  /** Requests say what their host is called, in TLS towards it. */
  readonly names?: UpstreamNameOptions;
  /** Present wherever connections may speak HTTP/2. */
  readonly http2?: Http2Options;
  /** In place of those of routes. */
  readonly hashPolicies?: readonly HashPolicy[];
  readonly mirrorPolicies?: readonly RequestMirrorPolicy[];
  /** But for its time limits of attempts, which stay those of routes, as in Envoy. */
  readonly retryPolicy?: RetryPolicy;
  /** What each attempt passes before the codec, in place of the router's filters; never empty. */
  readonly filters?: readonly HttpFilter[];
}

export interface UpstreamNameOptions {
  /** As server name. */
  readonly sendsName: boolean;
  /** It has to be among the names of the host's certificate. */
  readonly checksName: boolean;
  /** Lower case: where a request has it, it holds the name instead of the authority. */
  readonly overrideHeader?: string;
}

/** From 1 to 3. */
interface PreconnectRatios {
  /** Connections by the requests to a host. */
  readonly perHost: number;
  /** Connections by the requests to all hosts: those to hosts that will be chosen next. */
  readonly predictive: number;
}

/** This side of connections to hosts. */
export interface LocalSocket {
  /** Port 0: any. */
  readonly source?: { readonly address: string; readonly port: number };
  /** In their order. */
  readonly options: readonly SocketOption[];
}

/** What a control plane wants dropped of a cluster's requests, and what it calls that. */
export interface DropOverload {
  readonly category: string;
  /** Above 0, at most 1. */
  readonly share: number;
}

/** What a cluster's hosts are now; replaces the earlier set of that cluster as a whole. */
export interface ClusterHostsResource {
  readonly cluster: string;
  readonly hosts: readonly HostResource[];
  readonly overprovisioningFactor: number;
  /** Requests that are answered instead of being sent; absent: none. */
  readonly dropOverload?: DropOverload;
  /**
   * The version of a cluster with checks that the hosts are of; it tells of what checks find.
   */
  readonly version?: number;
  /** Where open connections and requests of each priority are counted; see breaker-page.ts. */
  readonly breakerSlots?: { readonly DEFAULT: number; readonly HIGH: number };
  /** Set once any worker had a request for the cluster: its checks come more often then. */
  readonly hasTraffic?: true;
}

export type HostAddress =
  | { readonly kind: 'ip'; readonly address: string; readonly port: number }
  | { readonly kind: 'pipe'; readonly path: string }
  /** A listener without a socket, in the same worker. */
  | { readonly kind: 'internal'; readonly listener: string; readonly endpointId: string };

/** Where a connection inside of a worker goes to, as Envoy prints it. */
export function printInternal(listener: string, endpointId: string): string {
  return `envoy://${listener}/${endpointId}`;
}

/** What a host has of its own for active checks. */
interface HostCheckOptions {
  readonly address?: HostAddress;
  readonly port?: number;
  readonly hostname?: string;
  readonly isDisabled?: true;
}

export type HostHealth = 'healthy' | 'degraded' | 'unhealthy';

export interface HostResource {
  /**
   * Unique within a cluster: `address:port` or the socket's path; where requests name their hosts,
   * `name:port`. An address that two names share has something behind it. What is shown is
   * `addressOf` (host-address.ts).
   */
  readonly id: string;
  readonly address: HostAddress;
  /** Further addresses with the same port, tried in turn where a connection is not taken. */
  readonly moreAddresses?: readonly string[];
  readonly hostname: string;
  readonly weight: number;
  readonly priority: number;
  readonly health: HostHealth;
  /** Bits of shared/resources/clusters/host-health.ts that `health` follows from; absent: none. */
  readonly healthBits?: number;
  /** An active check of this host has ended before. */
  readonly wasChecked?: true;
  readonly check?: HostCheckOptions;
  /**
   * Monotonic milliseconds: when the host came or was found healthy; where new hosts start slowly.
   */
  readonly readySinceMs?: number;
  /** Where outlier detection counts; see shared/limits/outlier-page.ts. */
  readonly outlierSlot?: number;
  /**
   * Where connections of both priorities to this host alone are counted, when the cluster limits
   * them.
   */
  readonly breakerSlot?: number;
  /** What the configuration or EDS said, where it said something else than that it is healthy. */
  readonly configuredHealth?: 'UNHEALTHY' | 'DRAINING' | 'TIMEOUT' | 'DEGRADED';
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
  readonly localityWeight?: number;
  readonly canary: boolean;
  readonly metadata?: Metadata;
}
