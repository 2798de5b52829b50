/** The parts of a server that exist once its configuration is known, put together. */
import type { Clock } from '../shared/clock.ts';
import { getLogger } from '../shared/logging/process-log.ts';
import type { Options } from '../shared/options.ts';
import { LISTENER } from '../shared/stats/templates/listener.ts';
import { statsForm } from './admin/home/stats-form.ts';
import { ClusterStats } from './cluster-stats.ts';
import { ContentionTracer } from './contention.ts';
import type { Ending } from './ending.ts';
import type { Configuration } from './load-configuration.ts';
import { OpenListeners } from './open-listeners.ts';
import { RuntimeStore } from './runtime/runtime-store.ts';
import { ServerCommands } from './server-commands.ts';
import { ServerStats } from './server-stats.ts';
import type { ResolvedCluster } from './resources/resolved-bootstrap.ts';
import { StatsEngine, type SinkCluster } from './stats/stats-engine.ts';
import type { WorkerPool } from './worker-pool.ts';

export interface ServerPartsInput {
  readonly options: Options;
  readonly version: string;
  readonly clock: Clock;
  readonly ending: Ending;
  readonly configuration: Configuration;
  readonly pool: WorkerPool;
}

export interface ServerParts {
  readonly configuration: Configuration;
  readonly stats: StatsEngine;
  readonly serverStats: ServerStats;
  readonly listeners: OpenListeners;
  readonly runtime: RuntimeStore;
  readonly commands: ServerCommands;
  /** With `--enable-mutex-tracing` only. */
  readonly contention: ContentionTracer | undefined;
  /** Counts what was bound. */
  listenersBound(): void;
  /** Counts what workers made, and begins what needs a live server. */
  workersStarted(): void;
  /** Cancels every timer and watch. */
  stop(): void;
}

/** Workers get each change. Rejects when a layer cannot be used. */
async function openRuntime(
  { configuration, pool }: ServerPartsInput,
  stats: StatsEngine,
): Promise<RuntimeStore> {
  const runtime = await RuntimeStore.open({
    layers: configuration.resolved.runtimeLayers,
    statWriter: stats.store,
    log: getLogger('runtime').log,
  });
  runtime.subscribe((snapshot) => {
    void pool.apply([{ op: 'put_runtime', values: [...snapshot] }]);
  });
  return runtime;
}

function collectFrom(
  pool: WorkerPool,
  contention: ContentionTracer | undefined,
): (limitMs: number) => Promise<readonly number[]> {
  const flush = async (limitMs: number) => await pool.flushStats(limitMs);
  if (contention === undefined) return flush;
  return async (limitMs) => await contention.trace(async () => await flush(limitMs));
}

/** Rejects when a runtime layer cannot be used. */
export async function makeServerParts(input: ServerPartsInput): Promise<ServerParts> {
  const { options, clock, configuration, pool } = input;
  const { resolved } = configuration;
  const listeners = new OpenListeners();
  /** Index of each listener's gauge of open connections. */
  const connectionGauges: number[] = [];
  const contention = options.enableMutexTracing ? new ContentionTracer(clock) : undefined;
  const stats = new StatsEngine({
    config: resolved.stats,
    clock,
    collect: collectFrom(pool, contention),
    refresh: () => serverStats.refresh(pidsOf(pool), sumOf(stats, connectionGauges)),
    htmlForm: statsForm,
    runtime: () => runtime.snapshot(),
    clusters: () => resolved.clusters.map(sinkCluster),
    log: getLogger('stats').log,
  });
  const serverStats = new ServerStats({
    writer: stats.store,
    clock,
    concurrency: options.concurrency,
    restartEpoch: options.restartEpoch,
    revision: input.version,
    staticUnknownFields: configuration.unknownFieldCount,
  });
  for (const { index } of pool.status()) stats.workerSpawned(index);
  const runtime = await openRuntime(input, stats);
  const commands = new ServerCommands({
    pool,
    listeners,
    ending: input.ending,
    clock,
    serverStats,
    drainTimeMs: options.drainTimeS * 1000,
    drainsImmediately: options.drainStrategy === 'immediate',
  });
  return {
    configuration,
    stats,
    serverStats,
    listeners,
    runtime,
    commands,
    contention,
    listenersBound: () => {
      for (const { statName } of listeners.resources()) {
        const block = stats.store.defineBlock(LISTENER, `listener.${statName}.`);
        connectionGauges.push(block + LISTENER.index.downstream_cx_active);
      }
      new ClusterStats(stats.store).putAll(resolved.clusters);
      serverStats.clustersAdded(resolved.clusters.length);
      serverStats.listenersAdded(listeners.size);
    },
    workersStarted: () => {
      serverStats.listenersCreated(listeners.size * options.concurrency);
      serverStats.setListenerCount(listeners.size);
      serverStats.initialized();
      stats.start();
    },
    stop: () => {
      stats.stop();
      commands.stop();
      runtime.close();
    },
  };
}

function pidsOf(pool: WorkerPool): readonly number[] {
  return pool.status().map(({ pid }) => pid);
}

function sumOf(stats: StatsEngine, indices: readonly number[]): number {
  return indices.reduce((sum, index) => sum + stats.store.valueOf(index), 0);
}

function sinkCluster({ resource, hosts }: ResolvedCluster): SinkCluster {
  const { maxRequests, maxPendingRequests } = resource.circuitBreakers.DEFAULT;
  return {
    configuredName: resource.name,
    name: resource.statName,
    maxRequests,
    maxPendingRequests,
    hosts: hosts.hosts.flatMap(({ address }) =>
      address.kind === 'ip' ? [{ address: address.address, port: address.port }] : [],
    ),
  };
}
