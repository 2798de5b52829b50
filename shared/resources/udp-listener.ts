/**
 * What a listener of datagrams does with them, as workers receive it.
 * Source: envoy.config.listener.v3.UdpListenerConfig, envoy.extensions.filters.udp.udp_proxy.v3.
 */
import type { AccessLogConfig } from './access-loggers/access-loggers.ts';
import type { HeaderValueOption } from './routes/headers.ts';
import type { MatcherTree } from './routes/matcher-tree.ts';

export interface UdpListenerResource {
  /** Longer ones are dropped. */
  readonly maxDatagramBytes: number;
  /** Absent: datagrams are read and thrown away. */
  readonly filter?: UdpFilter;
}

/** What takes the datagrams of a listener. */
export type UdpFilter = UdpProxy | DnsFilter;

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
  /** Datagrams of clients go to hosts inside capsules, and those of hosts are taken out of them. */
  readonly usesCapsules: boolean;
  /** Absent: hosts get datagrams. */
  readonly tunnel?: UdpTunneling;
}

/** Hosts are proxies, which get a client's datagrams in a stream of HTTP. */
export interface UdpTunneling {
  /** Substitution formats of the proxy's name and of the target's. */
  readonly proxyHost: string;
  readonly proxyPort?: number;
  readonly targetHost: string;
  readonly targetPort: number;
  /** The path of POST; absent: the request is a CONNECT-UDP. */
  readonly postPath?: string;
  readonly headersToAdd: readonly HeaderValueOption[];
  readonly maxConnectAttempts: number;
  /** Waits between attempts grow from the first of these to the second; absent: no wait. */
  readonly retryBackOff?: { readonly baseMs: number; readonly maxMs: number };
  /** What waits while there is no stream; absent: it is dropped. */
  readonly buffer?: { readonly maxDatagrams: number; readonly maxBytes: number };
  readonly logOnConnected: boolean;
}

/** Answers questions of DNS. Source: envoy.extensions.filters.udp.dns_filter.v3. */
export interface DnsFilter {
  readonly kind: 'dns_filter';
  /** What stands behind `dns_filter.` in statistic names. */
  readonly statPrefix: string;
  /** Names are compared in lower case, in which they stand here then. */
  readonly ignoresCase: boolean;
  readonly domains: readonly DnsDomain[];
  /** Absent: what is not known here is not known. */
  readonly forward?: DnsForwarding;
}

export interface DnsDomain {
  /** `*.` at its beginning stands for one or more labels. */
  readonly name: string;
  readonly ttlS: number;
  readonly endpoint:
    | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
    | { readonly kind: 'cluster'; readonly name: string }
    | { readonly kind: 'services'; readonly services: readonly DnsService[] };
}

/** Services of one name, such as `_sip._tcp`. */
export interface DnsService {
  readonly name: string;
  readonly ttlS: number;
  readonly targets: readonly DnsServiceTarget[];
}

interface DnsServiceTarget {
  readonly kind: 'host' | 'cluster';
  readonly name: string;
  readonly priority: number;
  readonly weight: number;
  /** 0: the port of the cluster's hosts. */
  readonly port: number;
}

/** Name servers for what is not known here. */
export interface DnsForwarding {
  readonly servers: readonly { readonly ip: string; readonly port: number }[];
  readonly timeoutMs: number;
  readonly tries: number;
  /** Questions that wait for name servers; more get no answer. */
  readonly maxPending: number;
}
