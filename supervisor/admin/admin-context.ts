/**
 * Everything that the admin interface reads and commands, as one interface. The composition of the
 * supervisor implements it; the admin knows no other part of the supervisor, so that its endpoints
 * are tested with a plain object. Readers are synchronous and return what is true now; an endpoint
 * that yields between two reads must not assume that both saw the same state.
 */
import type { ServerState } from '../life-cycle/server-state.ts';
import type { RuntimeView } from '../runtime/runtime-view.ts';
import type { ScriptReload } from '../scripts/script-reload.ts';
import type { StatsPages } from '../stats-output/stats-questions.ts';
import type { ConfigHistory } from '../store/config-history.ts';
import type { RefusedUpdate, UnreadyTargets } from '../store/discovery-status.ts';
import type { CertificateStatus } from '../tls/certificate-status.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type {
  CloseOrder,
  ConnectionQuestion,
  WorkerConnections,
} from '../../shared/connections/connections.ts';
import type { AskedRequest, Explanation } from '../../shared/explain/explanation.ts';
import type { LogLevels } from '../../shared/logging/log-settings.ts';
import type { WatchOrder } from '../../shared/logging/watch-order.ts';
import type { TimedLevels } from '../../shared/logging/timed-levels.ts';
import type { LogLevel } from '../../shared/logging/levels.ts';
import type {
  CircuitBreakerThresholds,
  HostAddress,
} from '../../shared/resources/clusters/cluster.ts';
import type { HealthFlag } from '../../shared/resources/clusters/host-health.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { ContentionCounts } from '../loop/contention.ts';
import type { HostOrder, NamedOrder } from '../upstreams/hosts/host-orders.ts';
import type { LoopTurns, Steps } from '../loop/loop-turns.ts';
import type { RecentView } from '../recent/recent-view.ts';
import type { SkippedFilter } from './views/skipped-filters.ts';
import type { TapRequest } from '../tap/tap-sessions.ts';
import type { DrainCommands } from '../drain/drain-view.ts';

export interface AdminContext {
  readonly clock: Clock;
  /** Shared by everything that takes long. */
  readonly turns: LoopTurns;
  readonly server: ServerView;
  readonly config: ConfigView;
  readonly clusters: ClustersView;
  readonly listeners: ListenersView;
  /** `/stats`, `/stats/prometheus` and `/stats/recentlookups*`. */
  readonly stats: StatsPages;
  /** Where the admin counts its own `http.admin.*` and `listener.admin.*`. */
  readonly statWriter: StatWriter;
  readonly logging: LoggingView;
  readonly runtime: RuntimeView;
  readonly commands: AdminCommands;
  readonly tap: TapView;
  readonly hosts: HostOrdersView;
  readonly connections: ConnectionsView;
  readonly recent: RecentView;
  /** What would become of a request; rejects where no worker can say. */
  explain(asked: AskedRequest): Promise<Explanation>;
  /** Filters of the present listeners and clusters that were left out of them. */
  skippedFilters(): Steps<readonly SkippedFilter[], ''>;
  /** Modules of the operator's own, in all workers. */
  readonly scripts: Pick<ScriptReload, 'list' | 'reload'>;
  /** A line of the process log, logger `admin`. Never called with a secret. */
  log(level: 'debug' | 'info' | 'warning' | 'error', text: string): void;
}

export interface ServerView {
  state(): ServerState;
  /** Five fields separated by slashes, as `--version` prints them. */
  readonly version: string;
  /** What `--hot-restart-version` prints; `disabled` with `--disable-hot-restart`. */
  readonly hotRestartVersion: string;
  readonly restartEpoch: number;
  /** CLOCK_MONOTONIC nanoseconds. */
  readonly startedAtNs: bigint;
  /** Unix seconds at which epoch 0 started; handed down from parent to child. */
  readonly firstEpochStartUnixSeconds: number;
  /** envoy.admin.v3.CommandLineOptions in JSON form with every key present, defaults included. */
  commandLineOptions(): JsonObject;
  /** envoy.config.core.v3.Node as the server uses it, after `--service-*`. */
  node(): JsonObject;
  /** Undefined without `--enable-mutex-tracing`. */
  contention(): ContentionCounts | undefined;
  workers(): readonly WorkerStatus[];
}

/** For the home page's live view. */
interface WorkerStatus {
  readonly index: number;
  readonly pid: number;
  readonly state: 'starting' | 'running' | 'stopping' | 'restarting';
  readonly restarts: number;
}

/** A configuration resource as it was loaded, with what the dump says beside it. */
export interface DumpedResource {
  readonly name: string;
  /** Empty for static resources. */
  readonly versionInfo: string;
  /** Unix milliseconds. */
  readonly lastUpdatedMs: number;
  /** The normalised message, `@type` included. */
  readonly message: JsonObject;
  /** The last update that was refused for this name. */
  readonly error?: RefusedUpdate;
  /** Makes the message in steps, where it may be large. */
  readonly messageInSteps?: () => Steps<JsonObject, ''>;
}

export interface ConfigView {
  /** What became of dynamic resources. */
  readonly history: Pick<ConfigHistory, 'newest' | 'forgotten' | 'lastId'>;
  /** Another number than before after each change of what the other members say. */
  changes(): number;
  bootstrap(): { readonly message: JsonObject; readonly lastUpdatedMs: number };
  /** `versionInfo` is the version of the last CDS or LDS update as a whole, empty before one. */
  clusters(): {
    readonly versionInfo: string;
    readonly static: Iterable<DumpedResource>;
    readonly dynamicActive: Iterable<DumpedResource>;
    readonly dynamicWarming: Iterable<DumpedResource>;
  };
  listeners(): {
    readonly versionInfo: string;
    readonly static: Iterable<DumpedResource>;
    readonly dynamic: Iterable<DumpedListener>;
  };
  routes(): {
    /** False while no connection manager is there: the dump then has no sections of routes. */
    readonly isUsed: boolean;
    readonly static: Iterable<DumpedResource>;
    readonly dynamic: Iterable<DumpedResource>;
    /** `message` holds `scoped_route_configs`. */
    readonly inlineScopes: Iterable<DumpedResource>;
    readonly dynamicScopes: Iterable<DumpedResource>;
  };
  /** Settings of HTTP filters that came apart from them. */
  extensions(): {
    /** False while no filter waits for any: the dump then has no section of them. */
    readonly isUsed: boolean;
    readonly filters: Iterable<DumpedResource>;
  };
  secrets(): {
    readonly static: Iterable<DumpedResource>;
    readonly dynamicActive: Iterable<DumpedResource>;
    readonly dynamicWarming: Iterable<DumpedResource>;
  };
  /** ClusterLoadAssignment messages; only asked for with `include_eds`. */
  endpoints(): {
    readonly static: Iterable<DumpedResource>;
    readonly dynamic: Iterable<DumpedResource>;
  };
  /** Targets that still have to be ready before the server is LIVE, by component. */
  unreadyTargets(): readonly UnreadyTargets[];
}

/** A dynamic listener has up to three versions at once. */
export interface DumpedListener {
  readonly name: string;
  readonly active?: DumpedResource;
  readonly warming?: DumpedResource;
  readonly draining?: DumpedResource;
  readonly error?: RefusedUpdate;
}

interface ListenersView {
  /** Listeners that are open now, in the order of their configuration. */
  list(): readonly ListenerStatus[];
}

export interface ListenerStatus {
  readonly name: string;
  /** After binding. The first one is `local_address`, the rest are additional addresses. */
  readonly addresses: readonly BoundAddress[];
  /** Has no socket and no address but its name. */
  readonly isInternal?: boolean;
}

export interface ClustersView {
  /** Bounded refresh of the workers' counts, so that a read includes the request just made. */
  refresh(): Promise<void>;
  /** Names in a stable order. */
  names(): readonly string[];
  /** Undefined when the cluster is gone since `names()`. */
  status(name: string): ClusterStatus | undefined;
  /** Certificates that clusters and listeners have loaded. */
  certificates(): Iterable<CertificateStatus>;
}

export interface ClusterStatus {
  readonly name: string;
  /** `alt_stat_name` when set. */
  readonly observabilityName: string;
  readonly addedViaApi: boolean;
  readonly edsServiceName?: string | undefined;
  readonly circuitBreakers: Readonly<Record<'DEFAULT' | 'HIGH', CircuitBreakerThresholds>>;
  /** Present only with an outlier detector. Each is -1 without enough data. */
  readonly outlier?: OutlierStatus | undefined;
  readonly hosts: HostStatuses;
}

/** Each is made when it is asked for: there may be a hundred thousand. */
export interface HostStatuses {
  readonly length: number;
  at(index: number): HostStatus | undefined;
}

/** Single hosts as an operator orders them. */
export interface HostOrdersView {
  /** Why it is not in force; undefined: it is. */
  put(order: NamedOrder): 'no_cluster' | 'no_host' | 'too_many' | undefined;
  /** Returns whether there was one. */
  takeBack(cluster: string, host: string): boolean;
  list(): Iterable<NamedOrder>;
}

export interface OutlierStatus {
  readonly externalAverage: number;
  readonly externalThreshold: number;
  readonly localAverage: number;
  readonly localThreshold: number;
}

export interface HostStatus {
  readonly address: HostAddress;
  readonly hostname: string;
  readonly healthFlags: readonly HealthFlag[];
  /** As EDS or the configuration says; `HEALTHY` when nothing was said. */
  readonly edsHealth: 'UNKNOWN' | 'HEALTHY' | 'UNHEALTHY' | 'DRAINING' | 'TIMEOUT' | 'DEGRADED';
  readonly weight: number;
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
  readonly canary: boolean;
  readonly priority: number;
  /** 0 to 100, or -1 without enough requests in the interval. */
  readonly successRate: number;
  readonly localOriginSuccessRate: number;
  /** What an operator has ordered for it. */
  readonly order?: HostOrder | undefined;
  readonly stats: HostStats;
}

export type HostStats = Readonly<
  Record<`cx_${'active' | 'connect_fail' | 'total'}`, number> &
    Record<`rq_${'active' | 'pending_active' | 'error' | 'success' | 'timeout' | 'total'}`, number>
>;

export interface LoggingView {
  /** All loggers with their present level, in the order in which they are printed. */
  levels(): readonly { readonly name: string; readonly level: LogLevel }[];
  setAll(level: LogLevel): void;
  /** False when no such logger exists. */
  set(logger: string, level: LogLevel): boolean;
  /** All files that log as one component; only with per-file loggers. */
  setGroup(name: string, level: LogLevel): boolean;
  /** All levels, to go back to. */
  snapshot(): LogLevels;
  /** Levels that go back by themselves. */
  readonly timed: Pick<TimedLevels, 'begin' | 'keep' | 'leftMs'>;
  /** Logs the way of these requests, or of none. */
  watchRequests(order: WatchOrder | undefined): void;
  /** Per-file loggers with glob names (`--enable-fine-grain-logging`). */
  readonly fineGrain: boolean;
}

/** Open connections of clients. */
interface ConnectionsView {
  /** One reader for each worker. */
  list(question: ConnectionQuestion): readonly WorkerConnections[];
  /** How many each worker has chosen, or why it has not. */
  close(order: CloseOrder): Promise<readonly (number | Error)[]>;
}

/** Requests recorded for a client. */
export interface TapView {
  /** The ids of filters that wait for a client; `/tap` exists only where there is one. */
  configIds(): ReadonlySet<string>;
  isAttached(): boolean;
  /** What the client asks for, or the text of an error. */
  read(body: Uint8Array): Promise<TapRequest | string>;
  /** Records until the reader closes. */
  begin(request: TapRequest): AsyncIterable<Uint8Array>;
}

/** A command that was carried out, or why not. The text is shown to the client. */
export type CommandResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface AdminCommands extends DrainCommands {
  setHealthCheckFailed(failed: boolean): CommandResult;
  reopenLogs(): CommandResult;
  /** Begins a clean exit; returns at once, the answer is still sent. */
  shutdown(): CommandResult;
}
