/**
 * The statistics that the supervisor itself keeps: `server.`, the watchdogs, the listener and
 * cluster managers and what happened to workers. It counts what it is told and decides nothing.
 */
import type { Clock } from '../../shared/process/clock.ts';
import {
  CLUSTER_MANAGER,
  THREAD_LOCAL_CLUSTER_MANAGER,
} from '../../shared/stats/templates/cluster-manager.ts';
import { ROUTER } from '../../shared/stats/templates/http-connection-manager.ts';
import { LISTENER_MANAGER } from '../../shared/stats/templates/listener.ts';
import {
  FILESYSTEM,
  OVERLOAD_ACTIONS,
  SERVER,
  WATCHDOG,
} from '../../shared/stats/templates/server.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { WorkerExit } from '../processes/worker-process.ts';
import { daysUntil } from '../../shared/tls/days-until.ts';
import { residentBytes } from './resident-bytes.ts';
import { STATE_VALUES, type ServerState } from './server-state.ts';
import type { MergeCounter } from '../upstreams/merge-window.ts';

/** What Envoy prints without certificates. */
const NO_CERTIFICATE_DAYS = 0xffffffff;

export interface ServerStatsOptions {
  readonly writer: StatWriter;
  readonly clock: Clock;
  readonly concurrency: number;
  readonly restartEpoch: number;
  /** What `server.version` shows. */
  readonly version: number;
  /** Fields that the API does not know and an option let pass. */
  readonly staticUnknownFields: number;
  /** Messages and fields of the bootstrap that are marked as work in progress. */
  readonly workInProgress: number;
}

type Offsets<T> = T extends { readonly index: Readonly<Record<infer Name, number>> } ? Name : never;

export class ServerStats {
  readonly #writer: StatWriter;
  readonly #clock: Clock;
  readonly #server: number;
  readonly #listenerManager: number;
  readonly #clusterManager: number;
  readonly #startedMs: number;
  #firstExpirationMs: number | undefined = undefined;
  /** Block of the main thread and of each worker. */
  readonly #threads: number[] = [];
  readonly #concurrency: number;
  #connections = 0;
  #mostListeners = 0;
  #shownParentConnections = 0;
  #parent = { connections: 0, memoryBytes: 0 };

  constructor(options: ServerStatsOptions) {
    const { writer, clock, concurrency } = options;
    this.#writer = writer;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
    this.#server = writer.defineBlock(SERVER, 'server.');
    this.#listenerManager = writer.defineBlock(LISTENER_MANAGER, 'listener_manager.');
    this.#clusterManager = writer.defineBlock(CLUSTER_MANAGER, 'cluster_manager.');
    this.#setServer('concurrency', concurrency);
    if (options.restartEpoch > 0) this.#setServer('hot_restart_epoch', options.restartEpoch);
    this.#setServer('version', options.version);
    this.#addServer('static_unknown_fields', options.staticUnknownFields);
    this.#addServer('wip_protos', options.workInProgress);
    this.#showExpiration();
    this.#writeZeros();
    this.#concurrency = concurrency;
    this.#defineTheRest();
  }

  /** Open connections of this epoch at the last refresh. */
  get connections(): number {
    return this.#connections;
  }

  /** What the epoch before adds while it drains. */
  setParent(parent: { readonly connections: number; readonly memoryBytes: number }): void {
    this.#parent = parent;
  }

  setState(state: ServerState): void {
    this.#setServer('state', STATE_VALUES[state]);
    this.#setServer('live', state === 'DRAINING' ? 0 : 1);
  }

  initialized(): void {
    const tookMs = this.#clock.monotonicMs() - this.#startedMs;
    this.#writer.record(this.#server + SERVER.index.initialization_time_ms, Math.round(tookMs));
    this.#setListeners('workers_started', 1);
    const { index } = CLUSTER_MANAGER;
    const clusters = this.#writer.valueOf(this.#clusterManager + index.active_clusters);
    for (let worker = 0; worker < this.#concurrency; worker++) {
      this.#defineThread(`worker_${worker}`, clusters);
    }
  }

  /** Unix milliseconds; undefined without certificates. */
  setFirstExpiration(expiresMs: number | undefined): void {
    this.#firstExpirationMs = expiresMs;
    this.#showExpiration();
  }

  clusterAdded(): void {
    this.#addClusters('cluster_added');
  }

  clusterModified(): void {
    this.#addClusters('cluster_modified');
  }

  clusterRemoved(): void {
    this.#addClusters('cluster_removed');
  }

  /** The hosts of a cluster that is in use changed. */
  clusterUpdated(counter: MergeCounter): void {
    this.#addClusters(counter);
  }

  setClusterCounts(active: number, warming: number): void {
    const { index } = CLUSTER_MANAGER;
    for (const block of this.#threads) {
      this.#writer.setGauge(block + THREAD_LOCAL_CLUSTER_MANAGER.index.clusters_inflated, active);
    }
    this.#writer.setGauge(this.#clusterManager + index.active_clusters, active);
    this.#writer.setGauge(this.#clusterManager + index.warming_clusters, warming);
  }

  listenerModified(): void {
    this.#addListeners('listener_modified', 1);
  }

  listenerRemoved(): void {
    this.#addListeners('listener_removed', 1);
  }

  listenerCreateFailed(): void {
    this.#addListeners('listener_create_failure', 1);
  }

  listenerUpdatedInPlace(): void {
    this.#addListeners('listener_in_place_updated', 1);
  }

  setListenersInBetween(warming: number, draining: number, drainingChains: number): void {
    this.#setListeners('total_listeners_warming', warming);
    this.#setListeners('total_listeners_draining', draining);
    this.#setListeners('total_filter_chains_draining', drainingChains);
  }

  unknownDynamicFields(count: number): void {
    this.#addServer('dynamic_unknown_fields', count);
  }

  workInProgress(count: number): void {
    if (count > 0) this.#addServer('wip_protos', count);
  }

  setListenerCount(count: number): void {
    // Without any listener so far the gauge counts as never used.
    if (count === 0 && this.#mostListeners === 0) return;
    this.#mostListeners = Math.max(this.#mostListeners, count);
    this.#setListeners('total_listeners_active', count);
  }

  /** What the bootstrap configures is there. */
  bound(clusters: number, listeners: number): void {
    this.#clustersAdded(clusters);
    this.listenersAdded(listeners);
    this.setListenerCount(listeners);
  }

  #clustersAdded(count: number): void {
    const { index } = CLUSTER_MANAGER;
    for (const block of this.#threads) {
      this.#writer.setGauge(block + THREAD_LOCAL_CLUSTER_MANAGER.index.clusters_inflated, count);
    }
    this.#writer.add(this.#clusterManager + index.cluster_added, count);
    this.#writer.setGauge(this.#clusterManager + index.active_clusters, count);
  }

  listenersAdded(count: number): void {
    if (count > 0) this.#setListeners('total_listeners_warming', 0);
    this.#addListeners('listener_added', count);
  }

  /** One per listener and worker, as in Envoy. */
  listenersCreated(count: number): void {
    this.#addListeners('listener_create_success', count);
  }

  listenersStopped(count: number): void {
    this.#addListeners('listener_stopped', count);
  }

  /** Statistics of our own exist only once something happened to a worker. */
  workerGone(exit: WorkerExit): void {
    if (exit.reason === 'asked') return;
    if (exit.reason === 'worn_out') return this.#countOwn('sluice.worker.worn_out');
    this.#countOwn('sluice.worker.exits_unasked');
    if (exit.reason === 'watchdog') this.#countOwn('sluice.worker.killed_by_watchdog');
    if (exit.reason === 'build_mismatch') this.#countOwn('sluice.worker.build_mismatches');
  }

  /** Counts an exception of the supervisor itself. */
  exceptionCaught(): void {
    this.#countOwn('sluice.main_thread.exceptions');
  }

  workerReplaced(): void {
    this.#countOwn('sluice.worker.restarts');
  }

  /** Values that are read rather than counted. `connections` are those of all listeners. */
  refresh(workerPids: readonly number[], connections: number): void {
    const memory = process.memoryUsage();
    const workers = workerPids.reduce((sum, pid) => sum + residentBytes(pid), 0);
    const own = memory.heapUsed + memory.external;
    this.#setServer('memory_allocated', own + this.#parent.memoryBytes);
    this.#setServer('memory_heap_size', memory.heapTotal + memory.external);
    this.#setServer('memory_physical_size', memory.rss + workers);
    this.#showExpiration();
    this.#setServer('uptime', Math.floor((this.#clock.monotonicMs() - this.#startedMs) / 1000));
    this.#connections = connections;
    // Without a parent the gauge counts as never used.
    if (this.#parent.connections !== this.#shownParentConnections) {
      this.#shownParentConnections = this.#parent.connections;
      this.#setServer('parent_connections', this.#parent.connections);
    }
    this.#setServer('total_connections', connections + this.#parent.connections);
  }

  /** Blocks that exist from the start, so that their zeros are printed. */
  #defineTheRest(): void {
    for (const prefix of ['main_thread.', 'workers.']) this.#writer.defineBlock(WATCHDOG, prefix);
    this.#defineThread('main_thread', 0);
    this.#writer.defineBlock(ROUTER, 'http.async-client.');
    this.#writer.defineBlock(FILESYSTEM, 'filesystem.');
    this.#writer.defineBlock(OVERLOAD_ACTIONS, 'envoy.overload_actions.');
  }

  /** A worker's are there when it serves. */
  #defineThread(thread: string, clusters: number): void {
    this.#writer.defineBlock(WATCHDOG, `server.${thread}.`);
    const block = this.#writer.defineBlock(
      THREAD_LOCAL_CLUSTER_MANAGER,
      `thread_local_cluster_manager.${thread}.`,
    );
    const { index } = THREAD_LOCAL_CLUSTER_MANAGER;
    if (clusters > 0) this.#writer.setGauge(block + index.clusters_inflated, clusters);
    this.#threads.push(block);
  }

  /** Envoy writes these at its start, so that `usedonly` shows their zeros. */
  #writeZeros(): void {
    this.#setServer('compilation_settings.fips_mode', 0);
    this.#addServer('dynamic_unknown_fields', 0);
    const { index } = CLUSTER_MANAGER;
    this.#writer.setGauge(this.#clusterManager + index.warming_clusters, 0);
  }

  #showExpiration(): void {
    const expiresMs = this.#firstExpirationMs;
    const days =
      expiresMs === undefined ? NO_CERTIFICATE_DAYS : daysUntil(expiresMs, this.#clock.wallMs());
    this.#setServer('days_until_first_cert_expiring', days);
  }

  #addClusters(name: Offsets<typeof CLUSTER_MANAGER>): void {
    this.#writer.increment(this.#clusterManager + CLUSTER_MANAGER.index[name]);
  }

  #addServer(name: Offsets<typeof SERVER>, count: number): void {
    this.#writer.add(this.#server + SERVER.index[name], count);
  }

  #setServer(name: Offsets<typeof SERVER>, value: number): void {
    this.#writer.setGauge(this.#server + SERVER.index[name], value);
  }

  #setListeners(name: Offsets<typeof LISTENER_MANAGER>, value: number): void {
    this.#writer.setGauge(this.#listenerManager + LISTENER_MANAGER.index[name], value);
  }

  #addListeners(name: Offsets<typeof LISTENER_MANAGER>, count: number): void {
    this.#writer.add(this.#listenerManager + LISTENER_MANAGER.index[name], count);
  }

  #countOwn(name: string): void {
    this.#writer.increment(this.#writer.defineCounter(name));
  }
}
