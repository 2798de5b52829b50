/**
 * What the composition of the supervisor takes from a checked and resolved bootstrap: the resources
 * in the workers' form, and the few facts that the supervisor itself acts on. Types only.
 */
import type { AdminPages } from './admin-pages.ts';
import type { FilterSkips } from './filter-skips.ts';
import type { OriginalDstOptions } from '../../shared/resources/clusters/provided-policy.ts';
import type { WorkerHeritage } from '../../shared/messages/heritage.ts';
import type { DnsCluster } from '../../shared/api/generated/envoy/extensions/clusters/dns/v3/dns_cluster.ts';
import type { RouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/route.ts';
import type { ScopedRouteConfiguration } from '../../shared/api/generated/envoy/config/route/v3/scoped_route.ts';
import type { LineLogConfig } from '../../shared/resources/access-loggers/lines.ts';
import type {
  ClusterHostsResource,
  ClusterResource,
  HostResource,
} from '../../shared/resources/clusters/cluster.ts';
import type { SocketOption } from '../../shared/addresses/socket-options.ts';
import type { GrpcTarget } from '../../shared/resources/grpc-target.ts';
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { ResourceLocator } from './resource-locator.ts';
import type { ConfigSource, GrpcSource } from './config-source.ts';
import type { OverloadConfig } from '../overload/overload-config.ts';
import type { OutlierSettings } from './outlier-settings.ts';
import type { RuntimeLayer } from './runtime-layer.ts';
import type { StatsConfig } from '../stats/stats-config.ts';
import type { NamedSecret } from './named-secret.ts';
import type { AddressToBind } from './address-to-bind.ts';

export interface ResolvedBootstrap {
  readonly node: NodeIdentity;
  /** The cluster that this server is one of. */
  readonly localCluster?: string;
  /** The file for the events of outlier detection. */
  readonly outlierLogPath?: string;
  /** In the order of the file. */
  readonly clusters: readonly ResolvedCluster[];
  readonly listeners: readonly ResolvedListener[];
  /** Absent without an `admin` section. */
  readonly admin?: ResolvedAdmin;
  /** Pages beside those of the program. */
  readonly adminPages: readonly AdminPages[];
  readonly stats: StatsConfig;
  /** The layers of `layered_runtime`, in its order; empty without it. */
  readonly runtimeLayers: readonly RuntimeLayer[];
  /** Absent without an overload manager. */
  readonly overload?: OverloadConfig;
  /** `watchdogs.worker_watchdog.kill_timeout`; 30,000 when not set, 0: off. */
  readonly workerKillTimeoutMs: number;
  /** Who is told how much the clusters have to do, and who has hosts checked. */
  readonly loadStats?: GrpcTarget;
  readonly healthDiscovery?: GrpcTarget;
  /** The folder whose file `drain` makes the server begin as one that drains. */
  readonly flagsPath?: string;
  /** The gauge `server.version` in place of the build's. */
  readonly versionGauge?: number;
  /** Where resources come from beside the file. */
  readonly dynamic: DynamicSources;
  /** Largest program of a regular expression, in RE2's measure. */
  readonly maxRegexProgramSize: number;
  /** `category/name` of extensions that no configuration may use. */
  readonly disabledExtensions: ReadonlySet<string>;
  /** Which filters that there are not may be left out; absent: none. */
  readonly filterSkips?: FilterSkips;
}

export interface DynamicSources {
  readonly clusters?: ConfigSource;
  /** Which clusters; absent: all that there are. */
  readonly clusterCollection?: ResourceLocator;
  readonly listeners?: ConfigSource;
  readonly listenerCollection?: ResourceLocator;
  /** The one stream of sources that say `ads`. */
  readonly aggregated?: GrpcSource;
}

/** Routes that a listener names instead of holding them. */
export interface NamedRoutes {
  /** Unique for a name and its source; what workers know the routes by. */
  readonly key: string;
  readonly name: string;
  readonly source: ConfigSource;
  /** The prefix of the connection manager that uses them. */
  readonly statPrefix: string;
}

/** Scopes of routes that a listener holds itself, as `/config_dump` shows them. */
export interface InlineScopes {
  readonly name: string;
  readonly scopes: readonly ScopedRouteConfiguration[];
}

/** Scopes of routes that a listener names instead of holding them. */
export interface NamedScopes {
  /** Unique for a name and its sources; what workers know the scopes by. */
  readonly key: string;
  readonly name: string;
  readonly source: ConfigSource;
  /** Where the route configurations come from that scopes name. */
  readonly routesSource?: ConfigSource;
  /** The prefix of the connection manager that uses them. */
  readonly statPrefix: string;
}

/** Settings of an HTTP filter that a connection manager or a cluster names instead of holding them. */
export interface NamedFilter {
  /** Unique for a name, its types and its source; what workers know the settings by. */
  readonly key: string;
  readonly name: string;
  readonly source: ConfigSource;
  /** Full names of the messages that the settings may be. */
  readonly types: readonly string[];
  /** Its owner is not ready before they are there. */
  readonly waits: boolean;
  /** The filter stands before the codec of attempts. */
  readonly isUpstream: boolean;
}

/** After `--service-node`, `--service-cluster` and `--service-zone`. */
export type NodeIdentity = WorkerHeritage['node'];

export interface ResolvedCluster {
  readonly resource: ClusterResource;
  /** Those that the configuration itself names; without hosts where they are discovered. */
  readonly hosts: ClusterHostsResource;
  /** What `/clusters` calls it beside its name. */
  readonly observabilityName: string;
  /** Absent: the hosts are those above. */
  readonly discovery?: Discovery;
  /** What its connections need beside it. */
  readonly secrets: readonly NamedSecret[];
  /** Settings of filters of its attempts. */
  readonly namedFilters?: readonly NamedFilter[];
  readonly outlierDetection?: OutlierSettings;
  /** Files for the events of active checks. */
  readonly checkEventLogs?: readonly (readonly string[])[];
  /** The cluster is in use before its first hosts are known. */
  readonly isUsedAtOnce?: true;
  /** `ignore_health_on_host_removal`: hosts go at once, though they pass their checks. */
  readonly ignoresHealthOnRemoval?: true;
  /** `update_merge_window` in milliseconds. */
  readonly mergeWindowMs?: number;
  /** `per_endpoint_stats`: the figures of each host are statistics, too. */
  readonly hasEndpointStats?: true;
}

/** Where hosts come from that the configuration does not name by address. */
export type Discovery =
  | DnsDiscovery
  | EndpointDiscovery
  | ({ readonly kind: 'requested' } & OriginalDstOptions)
  | ForwardProxyDiscovery
  | SubClusterDiscovery
  /** An aggregate of other clusters. */
  | { readonly kind: 'aggregate'; readonly clusters: readonly string[] };

/** A control plane or a file sends the hosts. */
export interface EndpointDiscovery {
  readonly kind: 'endpoints';
  readonly source: ConfigSource;
  /** The name by which the hosts are asked for. */
  readonly serviceName: string;
}

export interface DnsDiscovery {
  readonly kind: 'dns';
  /** Strict: each address of each name is a host. Logical: the only name is one host. */
  readonly isLogical: boolean;
  readonly targets: readonly DnsTarget[];
  readonly settings: DnsSettings;
}

/** The names that requests carry. */
export interface ForwardProxyDiscovery {
  readonly kind: 'forward_proxy';
  readonly cache: DnsCacheSettings;
}

/** Each name that requests carry is a cluster of its own. */
export interface SubClusterDiscovery {
  readonly kind: 'sub_clusters';
  readonly settings: SubClusterSettings;
}

export interface SubClusterSettings {
  /** As in the API. */
  readonly lbPolicy: string | number;
  readonly maxClusters: number;
  /** Clusters that were not used for so long are taken back. */
  readonly ttlMs: number;
  readonly touchIntervalMs: number;
  /** Settings of the clusters' type; absent: STRICT_DNS with those of the cluster itself. */
  readonly dnsCluster?: DnsCluster;
}

export interface DnsCacheSettings {
  readonly name: string;
  /** `refreshMs` counts for failures, for names without an address and for literal addresses. */
  readonly dns: DnsSettings;
  /** Names that were not used for so long are forgotten when they are due to be looked up again. */
  readonly hostTtlMs: number;
  readonly maxHosts: number;
  /** Requests that may wait for names. */
  readonly maxPending: number;
  readonly queryTimeoutMs: number;
  /** A name that could not be looked up is forgotten at once. */
  readonly noRefreshAfterFailure: boolean;
  /** Looked up at the start. */
  readonly preresolved: readonly { readonly host: string; readonly port: number }[];
  /** How often workers tell of a name in use. */
  readonly touchIntervalMs: number;
  /** Addresses that are left out of answers. */
  readonly addressFilter?: AddressFilterSettings;
  /** Where names are kept for the next start. */
  readonly kept?: KeptNamesSettings;
}

export interface AddressFilterSettings {
  readonly ranges: readonly { readonly address: string; readonly prefixLength: number }[];
  /** Those outside of the ranges are left out. */
  readonly isInverted: boolean;
}

export interface KeptNamesSettings {
  readonly path: string;
  /** 0: each change is written at once. */
  readonly flushMs: number;
  /** The oldest goes for a new one; 0: without a limit. */
  readonly maxEntries: number;
}

export interface DnsTarget {
  readonly name: string;
  readonly port: number;
  /** What each host of this name has beside its address. */
  readonly host: Omit<HostResource, 'id' | 'address'>;
}

export type DnsFamily = 'AUTO' | 'V4_ONLY' | 'V6_ONLY' | 'V4_PREFERRED' | 'ALL';

export interface DnsSettings {
  readonly family: DnsFamily;
  readonly refreshMs: number;
  /** Back-off after failures; absent: `refreshMs`. */
  readonly failure?: { readonly baseMs: number; readonly maxMs: number };
  /** Added to each wait, up to this. */
  readonly jitterMs: number;
  readonly respectsTtl: boolean;
  /** Least wait when the time to live counts. */
  readonly minRefreshMs: number;
  readonly resolver: ResolverSettings;
}

export interface ResolverSettings {
  /** `address:port`, IPv6 addresses in brackets; empty: the system's. */
  readonly servers: readonly string[];
  /** Ask `servers` only where the system names none. */
  readonly serversAreFallback: boolean;
  readonly noSearchDomains: boolean;
  /** Name servers are asked over TCP from the beginning. */
  readonly usesTcp: boolean;
  /** Leave out address families that no interface has. */
  readonly skipsUnroutable: boolean;
  readonly timeoutMs: number;
  readonly tries: number;
}

export interface ResolvedListener {
  /** `addresses` are the configured ones; the composition replaces them by the bound ones. */
  readonly resource: ListenerResource;
  /** In the order of `resource.addresses`. */
  readonly addresses: readonly AddressToBind[];
  /** `enable_reuse_port`, true when not set. */
  readonly reusePort: boolean;
  /** Messages of the route configurations that it holds itself. */
  readonly inlineRoutes: readonly RouteConfiguration[];
  readonly inlineScopes: readonly InlineScopes[];
  readonly namedRoutes: readonly NamedRoutes[];
  readonly namedScopes: readonly NamedScopes[];
  readonly namedFilters: readonly NamedFilter[];
  /** What its connections need beside it. */
  readonly secrets: readonly NamedSecret[];
  /** `tcp_backlog_size`; undefined: the system's limit. */
  readonly backlog: number | undefined;
}

export interface ResolvedAdmin {
  readonly address: BoundAddress;
  /** Permission bits of a unix socket's file; 0 leaves them. */
  readonly mode: number;
  /** In their order. */
  readonly socketOptions: readonly SocketOption[];
  /** `allow_paths`; absent: all. The argument is the target as it was sent. */
  readonly allowPath?: (path: string) => boolean;
  /** `access_log`, then `access_log_path`. */
  readonly accessLogs: readonly LineLogConfig[];
  readonly profilePath: string;
}
