/**
 * What a listener of datagrams does with them, as workers receive it.
 * Source: envoy.config.listener.v3.UdpListenerConfig, envoy.extensions.filters.udp.udp_proxy.v3.
 */
import type { AccessLogConfig } from './access-loggers/access-loggers.ts';
import type { MatcherTree } from './routes/matcher-tree.ts';

export interface UdpListenerResource {
  /** Longer ones are dropped. */
  readonly maxDatagramBytes: number;
  /** Absent: datagrams are read and thrown away. */
  readonly filter?: UdpFilter;
}

/** What takes the datagrams of a listener. */
export type UdpFilter = UdpProxy;

export interface UdpProxy {
  readonly kind: 'udp_proxy';
  /** What stands behind `udp.` in statistic names. */
  readonly statPrefix: string;
  /** Where datagrams go: to one cluster, or to the one that a matcher names. */
  readonly route:
    | { readonly kind: 'cluster'; readonly name: string }
    | { readonly kind: 'matcher'; readonly tree: MatcherTree<string> };
  readonly idleTimeoutMs: number;
  /** The limit of answers; longer ones are dropped. */
  readonly maxAnswerBytes: number;
  readonly hash?: { readonly kind: 'source_ip' } | { readonly kind: 'key'; readonly key: string };
  /** Each datagram has its own choice of a host, and not each client. */
  readonly balancesDatagrams: boolean;
  /** One line for each session, when it ends. */
  readonly accessLogs: readonly AccessLogConfig[];
  /** 0: no lines while a session lasts. */
  readonly logIntervalMs: number;
  /** One line when the proxy ends. */
  readonly proxyAccessLogs: readonly AccessLogConfig[];
}
