/**
 * A listener as workers receive it. The supervisor keeps the listening sockets and hands their
 * descriptors out; a worker never binds anything itself.
 * Source: envoy.config.listener.v3 and the network filters' own messages.
 */
import type { TracingSettings } from './tracing/tracing.ts';
import type { HeaderMutationRule } from './filters/http/header-mutation.ts';
import type { AddressRange, StringMatcher } from './routes/matchers.ts';
import type { AccessLogConfig } from './access-loggers/access-loggers.ts';
import type { HttpFilter } from './filters/http-filters.ts';
import type { Http2Options } from './http2-options.ts';
import type { ListenerFilter } from './filters/listener-filters.ts';
import type { LocalReplyOptions } from './local-reply.ts';
import type { MatcherTree } from './routes/matcher-tree.ts';
import type { GateFilter, TcpTerminalFilter } from './filters/network-filters.ts';
import type { RouteConfigurationResource } from './routes/route.ts';
import type { ScopedRoutes } from './routes/scoped-routes.ts';
import type { DownstreamSocketOptions } from './transport-sockets.ts';
import type { UdpListenerResource } from './udp-listener.ts';

export type BoundAddress =
  | {
      readonly kind: 'ip';
      readonly family: 'v4' | 'v6';
      readonly address: string;
      readonly port: number;
      /** UDP, not TCP. */
      readonly isDatagram?: true;
    }
  | { readonly kind: 'pipe'; readonly path: string };

export interface ListenerResource {
  readonly name: string;
  /** What stands behind `listener.` in statistic names: `stat_prefix` or the address, as Envoy. */
  readonly statName: string;
  /** Addresses after binding: a configured port 0 shows the port it got. */
  readonly addresses: readonly BoundAddress[];
  readonly direction: 'UNSPECIFIED' | 'INBOUND' | 'OUTBOUND';
  readonly perConnectionBufferLimitBytes: number;
  readonly filterChains: readonly FilterChain[];
  readonly defaultFilterChain?: FilterChain;
  /** Gives a chain's name; then no chain's own match counts. */
  readonly chainMatcher?: MatcherTree<string>;
  readonly listenerFilters: readonly ListenerFilter[];
  /** 0: no limit. */
  readonly listenerFiltersTimeoutMs: number;
  /** A connection whose filters wait too long is served instead of closed. */
  readonly continuesAfterTimeout: boolean;
  readonly accessLogs: readonly AccessLogConfig[];
  readonly ignoreGlobalConnLimit: boolean;
  /** Connections that were meant for another listener's address become that listener's. */
  readonly handsOffToOriginal: boolean;
  /** `drain_type` DEFAULT: a failed health check drains it, too. */
  readonly drainsOnHealthCheckFailure: boolean;
  /** Has no socket: connections come from clusters of the same worker. */
  readonly isInternal?: true;
  /** Takes connections and requests whatever the overload manager says. */
  readonly bypassesOverload: boolean;
  /** Takes datagrams, not connections: nothing above that speaks of connections counts. */
  readonly udp?: UdpListenerResource;
}

export interface FilterChain extends DownstreamSocketOptions {
  readonly name: string;
  /** Absent: takes every connection. */
  readonly match?: FilterChainMatch;
  /** Milliseconds for the handshake; absent: no limit of its own. */
  readonly handshakeTimeoutMs?: number;
  readonly networkFilters: readonly NetworkFilter[];
}

export interface CidrRange {
  readonly address: string;
  readonly prefixLength: number;
}

/** envoy.config.listener.v3.FilterChainMatch. Empty lists and texts ask for nothing. */
export interface FilterChainMatch {
  readonly destinationPort?: number;
  readonly prefixRanges: readonly CidrRange[];
  /** Lower case; `*.suffix` stands for any label before it. */
  readonly serverNames: readonly string[];
  readonly transportProtocol: string;
  readonly applicationProtocols: readonly string[];
  readonly directSourcePrefixRanges: readonly CidrRange[];
  readonly sourceType: 'ANY' | 'SAME_IP_OR_LOOPBACK' | 'EXTERNAL';
  readonly sourcePrefixRanges: readonly CidrRange[];
  readonly sourcePorts: readonly number[];
}

export type NetworkFilter = HttpConnectionManager | TcpTerminalFilter | GateFilter;

export interface LogMoments {
  /** When the route is known. */
  readonly newRequest: boolean;
  /** When an upgrade or a CONNECT was accepted. */
  readonly tunnelEstablished: boolean;
  /** Every so many milliseconds; absent: never. */
  readonly intervalMs?: number;
}

/** How the client behind trusted proxies is found out. Source: envoy.http.original_ip_detection. */
export type IpDetection =
  | {
      readonly kind: 'xff';
      readonly numTrustedHops: number;
      /** There: these proxies are trusted, however many there are. */
      readonly trusted?: readonly AddressRange[];
      readonly appends: boolean;
    }
  | {
      readonly kind: 'custom_header';
      /** Lower case. */
      readonly name: string;
      readonly isTrusted: boolean;
      /** Answers requests whose header has no address; absent: they go on. */
      readonly rejectStatus?: number;
    };

export interface HttpConnectionManager {
  readonly kind: 'http_connection_manager';
  /** What stands behind `http.` in statistic names, without the trailing dot. */
  readonly statPrefix: string;
  readonly routes:
    | { readonly kind: 'inline'; readonly config: RouteConfigurationResource }
    | { readonly kind: 'named'; readonly name: string }
    | ScopedRoutes;
  readonly filters: readonly HttpFilter[];
  readonly accessLogs: readonly AccessLogConfig[];
  /** Absent: answers made here keep Envoy's own words. */
  readonly localReplies?: LocalReplyOptions;
  /** What its clients may speak; `AUTO`: as ALPN or the first bytes say. */
  readonly codec: 'AUTO' | 'HTTP1' | 'HTTP2';
  readonly http1: Http1ServerOptions;
  readonly http2: Http2Options;
  readonly useRemoteAddress: boolean;
  readonly skipXffAppend: boolean;
  readonly xffNumTrustedHops: number;
  /** Tried in order in place of `x-forwarded-for` alone; absent with `use_remote_address`. */
  readonly ipDetection?: readonly IpDetection[];
  /** Change a request before anything is read from it. */
  readonly earlyMutations?: readonly HeaderMutationRule[];
  /** Tells upstreams the port that the client came to. */
  readonly appendXForwardedPort?: boolean;
  /** A log line at these moments besides the end of a request. */
  readonly logMoments?: LogMoments;
  /** Absent: requests are not traced. */
  readonly tracing?: TracingSettings;
  /** Says when it has refused a request for overload. */
  readonly tellsOverload?: boolean;
  /** The last request of a connection that is too old is never cut off. */
  readonly isDurationSafe?: boolean;
  /** Whether clients that come over a Unix socket are internal ones. */
  readonly hasInternalSockets?: boolean;
  readonly internalCidrs?: readonly { readonly address: string; readonly prefixLength: number }[];
  readonly generateRequestId: boolean;
  readonly preserveExternalRequestId: boolean;
  readonly alwaysSetRequestIdInResponse: boolean;
  readonly serverName: string;
  readonly serverHeader: 'OVERWRITE' | 'APPEND_IF_ABSENT' | 'PASS_THROUGH';
  readonly via: string;
  /** Answers that a failure here made say which; absent: they do not. */
  readonly proxyStatus?: ProxyStatusOptions;
  /** Which scheme a destination port of the PROXY protocol stands for; the first list wins. */
  readonly forwardedProtoPorts?: {
    readonly https: readonly number[];
    readonly http: readonly number[];
  };
  /** Counts and times the searches for routes. */
  readonly timesRoutes?: boolean;
  readonly suppressEnvoyHeaders: boolean;
  /** 0 disables each of these. */
  readonly streamIdleTimeoutMs: number;
  /** The time limit in HTTP/2 until what is left of a whole answer has been taken by the client. */
  readonly streamFlushTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly requestHeadersTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly maxConnectionDurationMs: number;
  /** The share of its time by which a connection may last longer; each draws its own. */
  readonly maxConnectionDurationJitter: number;
  readonly maxStreamDurationMs: number;
  readonly maxRequestsPerConnection: number;
  readonly delayedCloseTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly drainTimeoutJitter: number;
  readonly maxRequestHeadersKb: number;
  readonly maxRequestHeadersCount: number;
  readonly normalizePath: boolean;
  readonly mergeSlashes: boolean;
  readonly escapedSlashes:
    | 'KEEP_UNCHANGED'
    | 'REJECT_REQUEST'
    | 'UNESCAPE_AND_REDIRECT'
    | 'UNESCAPE_AND_FORWARD';
  readonly underscoresInHeaders: 'ALLOW' | 'REJECT_REQUEST' | 'DROP_HEADER';
  readonly stripHostPort: 'none' | 'matching' | 'any';
  readonly stripTrailingHostDot: boolean;
  readonly proxy100Continue: boolean;
  readonly streamErrorOnInvalidHttpMessage: boolean;
  readonly upgrades: readonly { readonly type: string; readonly enabled: boolean }[];
  /** Whether a request without a user agent gets the node's cluster as one. */
  readonly addUserAgent: boolean;
  /** Whether `x-forwarded-client-cert` passes whatever the connection is; else it is dropped. */
  readonly forwardsClientCert: boolean;
  /** How client certificates are told to upstreams; absent: not at all. */
  readonly clientCert?: ClientCertForwarding;
  readonly schemeOverwrite?: 'http' | 'https';
  /** The scheme that hosts are told is that of the connection to them. */
  readonly schemeMatchesUpstream?: true;
  readonly internalAddressMatchers?: readonly StringMatcher[];
}

/** RFC 9209. */
export interface ProxyStatusOptions {
  readonly name: string;
  /** Undefined: no word of what happened but the error's type. */
  readonly details?: { readonly termination: boolean; readonly flags: boolean };
  /** The status becomes the one that the RFC recommends for the error. */
  readonly setsStatus: boolean;
}

export interface ClientCertForwarding {
  readonly mode: 'FORWARD_ONLY' | 'APPEND_FORWARD' | 'SANITIZE_SET';
  readonly details: readonly ('subject' | 'cert' | 'chain' | 'dns' | 'uri')[];
}

export interface Http1ServerOptions {
  readonly acceptHttp10: boolean;
  readonly defaultHostForHttp10: string;
  readonly allowAbsoluteUrl: boolean;
  readonly enableTrailers: boolean;
  readonly allowChunkedLength: boolean;
  /** Methods may be any token, not those of Envoy's list alone. */
  readonly allowsAnyMethod?: boolean;
  /** Protocols that clients may ask for in vain: their requests are served as plain ones. */
  readonly ignoredUpgrades?: readonly StringMatcher[];
  readonly headerCase: 'lower' | 'proper' | 'preserve';
}
