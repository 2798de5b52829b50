/** Settings of the TCP proxy, which takes a connection's bytes to a host. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter, gauge } from '../../../stats/templates/spec.ts';
import type { Struct } from '../../../text/dictionary.ts';
import type { AccessLogConfig } from '../../access-loggers/access-loggers.ts';
import type { AccessLogFormat } from '../../access-log.ts';
import type { HeaderValueOption } from '../../routes/headers.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `tcp.<stat_prefix>.` */
export const TCP_PROXY = defineTemplate('tcp_proxy', {
  downstream_cx_drain_close: counter('Connections closed by draining'),
  downstream_cx_no_route: counter('Connections without a matching route or cluster'),
  downstream_cx_overload_close: counter('Connections closed by overload'),
  downstream_cx_rx_bytes_buffered: gauge('Received bytes that wait in connections'),
  downstream_cx_rx_bytes_total: counter('Bytes received'),
  downstream_cx_total: counter('Connections'),
  downstream_cx_tx_bytes_buffered: gauge('Always 0: the runtime and the kernel keep what waits'),
  downstream_cx_tx_bytes_total: counter('Bytes sent'),
  downstream_flow_control_paused_reading_total: counter('Times reading from clients stopped'),
  downstream_flow_control_resumed_reading_total: counter('Times reading from clients resumed'),
  early_data_received_count_total: counter(
    'Never counted: connections to the upstream wait for no data',
  ),
  idle_timeout: counter('Connections closed for being idle'),
  max_downstream_connection_duration: counter('Connections closed for their age'),
  route_delayed_total: counter('Never counted: routes of TCP connections are not fetched'),
  upstream_flush_active: gauge('Upstream connections that still send after the client has gone'),
  upstream_flush_total: counter('Upstream connections that sent on after the client had gone'),
});

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
  /** Waits between attempts grow from the first of these to the second; absent: no wait. */
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
  /** The path of POST. */
  readonly path: string;
  readonly headersToAdd: readonly HeaderValueOption[];
}

export const TCP_PROXY_DECLARATION = declareKind<TcpProxy>(TCP_PROXY);
