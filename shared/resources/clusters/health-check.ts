/**
 * Active health checks of a cluster as workers receive them. Source:
 * envoy.config.core.v3.HealthCheck.
 */

import type { Struct } from '../../text/dictionary.ts';
import type { HeaderChanges } from '../routes/headers.ts';
import type { StringMatcher } from '../routes/matchers.ts';
import type { ProxyProtocolSender } from './proxy-protocol.ts';

export interface HealthCheckResource {
  /** Part of its statistics' names; checks of a cluster that has several are named. */
  readonly name?: string;
  /** Chooses among the cluster's sockets in the place of the host's metadata. */
  readonly socketCriteria?: Struct;
  /** What is offered over TLS, in the place of the cluster's protocols. */
  readonly alpn?: readonly string[];
  readonly timeoutMs: number;
  readonly intervalMs: number;
  readonly unhealthyIntervalMs: number;
  /** While a threshold is being counted. */
  readonly healthyEdgeIntervalMs: number;
  readonly unhealthyEdgeIntervalMs: number;
  /** Before the cluster carried any traffic. */
  readonly noTrafficIntervalMs: number;
  readonly noTrafficHealthyIntervalMs: number;
  readonly initialJitterMs: number;
  readonly intervalJitterMs: number;
  readonly intervalJitterPercent: number;
  readonly unhealthyThreshold: number;
  readonly healthyThreshold: number;
  readonly reuseConnection: boolean;
  /** Changes of a host's state are told; so are, where wanted, all failures and all successes. */
  readonly eventLog?: { readonly failures: boolean; readonly successes: boolean };
  readonly probe: HttpProbe | TcpProbe | GrpcProbe | RedisProbe;
}

export interface HttpProbe {
  readonly kind: 'http';
  readonly isHttp2: boolean;
  /** Absent: the host's own name for checks, or the cluster's. */
  readonly authority?: string;
  readonly path: string;
  readonly method: string;
  readonly headers: HeaderChanges;
  /** Half-open ranges. */
  readonly expectedStatuses: readonly StatusRange[];
  readonly retriableStatuses: readonly StatusRange[];
  /** Bytes as hexadecimal digits, where the request has a body. */
  readonly payload?: string;
  /** What has to be in the answer's body in this order, within so many bytes of it. */
  readonly receive?: readonly string[];
  /** 0: no limit. */
  readonly receiveBytesMax: number;
  /** What the answer says of the service's name has to match. */
  readonly serviceName?: StringMatcher;
}

export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** The health service of gRPC, over HTTP/2. */
export interface GrpcProbe {
  readonly kind: 'grpc';
  /** Empty: the server as a whole. */
  readonly service: string;
  readonly authority?: string;
  readonly headers: HeaderChanges;
}

/** A command of Redis. */
export interface RedisProbe {
  readonly kind: 'redis';
  /** The host must not have it; absent: the host answers PING. */
  readonly key?: string;
}

/** Bytes as hexadecimal digits. Without any, a connection is all that is asked for. */
export interface TcpProbe {
  readonly kind: 'tcp';
  readonly send: string;
  /** Comes before the first bytes of a connection. */
  readonly proxyProtocol?: ProxyProtocolSender;
  readonly receive: readonly string[];
}
