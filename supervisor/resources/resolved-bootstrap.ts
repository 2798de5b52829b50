/**
 * What the composition of the supervisor takes from a checked and resolved bootstrap: the resources
 * in the workers' form, and the few facts that the supervisor itself acts on. Types only.
 */
import type { AccessLogConfig } from '../../shared/resources/access-log.ts';
import type { ClusterHostsResource, ClusterResource } from '../../shared/resources/cluster.ts';
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { RuntimeLayer } from '../runtime/runtime-layers.ts';
import type { StatsConfig } from '../stats/stats-config.ts';
import type { AddressToBind } from '../sockets/listening-sockets.ts';

export interface ResolvedBootstrap {
  readonly node: NodeIdentity;
  /** In the order of the file. */
  readonly clusters: readonly ResolvedCluster[];
  readonly listeners: readonly ResolvedListener[];
  /** Absent without an `admin` section. */
  readonly admin?: ResolvedAdmin;
  readonly stats: StatsConfig;
  /** Of `layered_runtime`, in its order; empty without it. */
  readonly runtimeLayers: readonly RuntimeLayer[];
  /** `watchdogs.worker_watchdog.kill_timeout`; 30,000 when not set, 0: off. */
  readonly workerKillTimeoutMs: number;
}

/** After `--service-node`, `--service-cluster` and `--service-zone`. */
export interface NodeIdentity {
  readonly id: string;
  readonly cluster: string;
  readonly zone: string;
}

export interface ResolvedCluster {
  readonly resource: ClusterResource;
  readonly hosts: ClusterHostsResource;
}

export interface ResolvedListener {
  /** `addresses` are the configured ones; the composition replaces them by the bound ones. */
  readonly resource: ListenerResource;
  /** In the order of `resource.addresses`. */
  readonly addresses: readonly AddressToBind[];
  /** `enable_reuse_port`, true when not set. */
  readonly reusePort: boolean;
  /** `tcp_backlog_size`; undefined: the system's limit. */
  readonly backlog: number | undefined;
}

export interface ResolvedAdmin {
  readonly address: BoundAddress;
  /** Permission bits of a unix socket's file; 0 leaves them. */
  readonly mode: number;
  /** `allow_paths`; absent: all. The argument is the target as it was sent. */
  readonly allowPath?: (path: string) => boolean;
  /** `access_log`, then `access_log_path`. */
  readonly accessLogs: readonly AccessLogConfig[];
  readonly profilePath: string;
}
