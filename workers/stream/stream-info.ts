/**
 * What is known of one request and its response while they pass: the connection manager and the
 * router write it, access logs, header formatters and matchers read it. Holds facts, decides
 * nothing.
 *
 * Times are milliseconds of CLOCK_MONOTONIC with a fraction, -1 while the moment has not come;
 * `startWallMs` is for output only. Sizes are bytes.
 */
import type { Struct } from '../../shared/text/dictionary.ts';
import type { Metadata } from '../../shared/resources/routes/route.ts';
import type { ResolvedRoute } from './route.ts';
import type { Address, ConnectionInfo, TlsInfo } from '../net/connection-info.ts';
import type { HeaderMap } from './header-map.ts';
import type { RequestTrace } from './request-trace.ts';
import type { FilterState } from '../net/filter-state.ts';

/** What is said of the host that a request was sent to. */
export interface UpstreamHostInfo {
  /** `address:port` or a socket's path; of a logical host `name:port`. */
  readonly id: string;
  /** `address:port` or a socket's path, also of a logical host. */
  readonly address: string;
  readonly ip: string;
  readonly port: number;
  readonly hostname: string;
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
  readonly metadata: Metadata | undefined;
}

export type Protocol = 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2' | 'HTTP/3';

/** Envoy's names of the moments at which access logs are written. */
export type AccessLogType =
  | 'NotSet'
  | 'TcpConnectionStart'
  | 'TcpUpstreamConnected'
  | 'TcpPeriodic'
  | 'TcpConnectionEnd'
  | 'DownstreamStart'
  | 'DownstreamPeriodic'
  | 'DownstreamEnd'
  | 'UpstreamPoolReady'
  | 'UpstreamPeriodic'
  | 'UpstreamEnd'
  | 'DownstreamTunnelSuccessfullyEstablished'
  | 'UdpTunnelUpstreamConnected'
  | 'UdpPeriodic'
  | 'UdpSessionEnd';

/** Redirects of upstreams that were followed here for one request. */
export interface FollowedRedirects {
  readonly count: number;
  /** The steps taken, from one route's name to another's. */
  readonly routes: ReadonlySet<string>;
}

export class StreamInfo {
  readonly connection: ConnectionInfo;
  readonly startMs: number;
  readonly startWallMs: number;
  /** The client as x-forwarded-for handling decided it; the connection's peer until then. */
  downstreamRemoteAddress: Address;
  protocol: Protocol | undefined = undefined;

  // Times.
  lastDownstreamRxMs = -1;
  firstUpstreamTxMs = -1;
  lastUpstreamTxMs = -1;
  firstUpstreamRxMs = -1;
  lastUpstreamRxMs = -1;
  firstDownstreamTxMs = -1;
  lastDownstreamTxMs = -1;
  firstUpstreamBodyRxMs = -1;
  /** The upstream connection's own history: of another request's time when it was reused. */
  upstreamConnectStartMs = -1;
  upstreamConnectEndMs = -1;
  upstreamHandshakeEndMs = -1;
  /** When the request got its connection. */
  upstreamPoolReadyMs = -1;
  /** When the stream was over: what `%DURATION%` counts to. */
  endMs = -1;

  // Sizes. Bodies are counted without framing.
  bytesReceived = 0;
  bytesSent = 0;
  downstreamHeaderBytesReceived = 0;
  downstreamHeaderBytesSent = 0;
  downstreamWireBytesReceived = 0;
  downstreamWireBytesSent = 0;
  upstreamHeaderBytesReceived = 0;
  upstreamHeaderBytesSent = 0;
  upstreamWireBytesReceived = 0;
  upstreamWireBytesSent = 0;

  // The answer. 0 and '' mean none yet.
  responseCode = 0;
  responseCodeDetails = '';
  /** Set while the body of a local reply is being formatted. */
  localReplyBody = '';
  /** What an access log is being written for. */
  accessLogType: AccessLogType = 'NotSet';
  /** Bits of `ResponseFlag`. */
  responseFlags = 0;

  // The way the request took.
  route: ResolvedRoute | undefined = undefined;
  routeName = '';
  virtualHostName = '';
  virtualClusterName = '';
  /** Under which the route itself counts; empty: it does not. */
  routeStatPrefix = '';
  upstreamCluster = '';
  /** What logs call that cluster; empty where they call it by its name. */
  upstreamClusterAlias = '';
  upstreamClusterMetadata: Metadata | undefined = undefined;
  upstreamHost: UpstreamHostInfo | undefined = undefined;
  upstreamLocalAddress: Address | undefined = undefined;
  upstreamConnectionId = 0;
  upstreamProtocol: Protocol | undefined = undefined;
  upstreamTransportFailureReason = '';
  upstreamTls: TlsInfo | undefined = undefined;
  /** Tries made so far, retries included. */
  attemptCount = 0;

  /** The host that the request should go to, whatever balancing would choose. */
  overrideHost:
    | { readonly address: string; readonly isStrict: boolean; readonly strictStatus?: number }
    | undefined = undefined;
  followedRedirects: FollowedRedirects | undefined = undefined;

  // The messages.
  requestHeaders: HeaderMap | undefined = undefined;
  requestTrailers: HeaderMap | undefined = undefined;
  responseHeaders: HeaderMap | undefined = undefined;
  responseTrailers: HeaderMap | undefined = undefined;

  // What policy found out.
  requestId = '';
  /** Internal as x-forwarded-for handling decided it. */
  isInternalRequest = false;
  isHealthCheck = false;
  /** Set by filters that change what a request says it is: whether its client speaks gRPC. */
  isGrpcClient: boolean | undefined = undefined;
  traceReason: 'not_traceable' | 'sampling' | 'service_forced' | 'client_forced' = 'not_traceable';
  /** Undefined where the connection manager does not trace. */
  trace: RequestTrace | undefined = undefined;
  /** By filter name; made by the first filter that writes. */
  dynamicMetadata: Map<string, Struct> | undefined = undefined;
  /** The request goes there in place of its route's cluster. */
  overridingCluster: string | undefined = undefined;
  /** By namespace: the bytes of a google.protobuf.Any. */
  typedMetadata: Map<string, Uint8Array> | undefined = undefined;
  filterState: FilterState | undefined = undefined;
  /** The response comes in place of another one: what its maker has to know. */
  inPlaceOf: unknown = undefined;

  constructor(connection: ConnectionInfo, startMs: number, startWallMs: number) {
    this.connection = connection;
    this.startMs = startMs;
    this.startWallMs = startWallMs;
    this.downstreamRemoteAddress = connection.remoteAddress;
  }
}

/** What filters of the stream, or network filters of its connection, keep under a key. */
export function filterStateOf(info: StreamInfo, key: string): string | undefined {
  return info.filterState?.get(key) ?? info.connection.filterState?.get(key);
}

/** A google.protobuf.Struct that filters keep under the key. */
export function keptStructOf(info: StreamInfo, key: string): Struct | undefined {
  const holder = info.filterState?.has(key) === true ? info : info.connection;
  return holder.filterState?.structOf(key);
}

/** The same, of objects that can be hashed; undefined for all others. */
export function hashedFilterStateOf(info: StreamInfo, key: string): string | undefined {
  const holder = info.filterState?.has(key) === true ? info : info.connection;
  return holder.filterState?.hashedText(key);
}

/** The stream that a whole connection is: it sees what was known of the connection before. */
export function connectionStream(
  connection: ConnectionInfo,
  clock: { readonly ms: number; readonly wallMs: number },
): StreamInfo {
  const info = new StreamInfo(connection, clock.ms, clock.wallMs);
  info.dynamicMetadata = connection.dynamicMetadata;
  return info;
}
