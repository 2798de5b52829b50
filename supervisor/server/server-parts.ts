/** The parts of a server that exist once its configuration is known, put together. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import { nodeMessage } from '../services/node-message.ts';
import { takeListenDescriptors } from '../../shared/systemd/listen-descriptors.ts';
import { statsForm } from '../admin/home/stats-form.ts';
import { CertificateStats } from '../tls/certificate-stats.ts';
import { secretsOf } from '../tls/loaded-certificates.ts';
import { ContentionTracer } from '../loop/contention.ts';
import type { WaitTracer } from '../loop/contention.ts';
import { EventLogs } from '../health/event-log.ts';
import { Drains } from '../drain/drains.ts';
import { hasDescriptorStore } from '../life-cycle/phase-reports.ts';
import type { Ending } from '../life-cycle/ending.ts';
import type { Configuration } from '../start/load-configuration.ts';
import { LoopDelay } from '../loop/loop-delay.ts';
import { ListenerGauges } from '../sockets/listener-gauges.ts';
import { Activation } from '../sockets/activation.ts';
import { OpenListeners } from '../sockets/open-listeners.ts';
import { OverloadManager } from '../overload/overload-manager.ts';
import { RuntimeStore } from '../runtime/runtime-store.ts';
import { ServerCommands } from './server-commands.ts';
import { ServerStats } from '../life-cycle/server-stats.ts';
import { LogServices } from '../services/log-services.ts';
import { makeServiceStreams, type ServiceStreams } from './service-streams.ts';
import type { StatStore } from '../stats/stat-store.ts';
import { sinkDependencies } from './sink-dependencies.ts';
import { StatsEngine } from '../stats-output/stats-engine.ts';
import type { StatsEngineOptions } from '../stats-output/stats-engine.ts';
import { TapSessions } from '../tap/tap-sessions.ts';
import { UpstreamClusters } from '../upstreams/upstream-clusters.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import { OwnRequests } from '../services/control-plane-clusters.ts';
import { DynamicConfiguration } from '../xds/dynamic-configuration.ts';
import { unknownFieldsOf } from '../xds/unknown-fields.ts';

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
  readonly drains: Drains;
  readonly taps: TapSessions;
  readonly logServices: LogServices;
  /** With `--enable-mutex-tracing` only. */
  readonly contention: ContentionTracer | undefined;
  readonly overload: OverloadManager;
  readonly upstreams: UpstreamClusters;
  readonly dynamic: DynamicConfiguration;
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
    deprecatedUses: configuration.featureUses.deprecated,
  });
  runtime.subscribe((snapshot) => {
    void pool.apply([{ op: 'put_runtime', values: [...snapshot] }]);
  });
  return runtime;
}

/** What is counted of waits, and what the statistics wait for. */
function makeContention(
  { options, clock, pool }: ServerPartsInput,
  upstreams: () => UpstreamClusters,
): {
  readonly contention?: ContentionTracer;
  readonly waits: Pick<StatsEngineOptions, 'collect' | 'traceWait'>;
} {
  const collect = async (limitMs: number): Promise<readonly number[]> => {
    // Who reads that an update was taken may count on its being in force.
    if (upstreams().tellNow()) await nextTurn();
    return await pool.flushStats(limitMs);
  };
  if (!options.enableMutexTracing) return { waits: { collect } };
  const contention = new ContentionTracer(clock);
  const traceWait: WaitTracer = async (work) => await contention.trace(work);
  pool.traceWaits(traceWait);
  return { contention, waits: { collect, traceWait } };
}

const LOGS_MESSAGE = 'envoy.service.accesslog.v3.StreamAccessLogsMessage';

/** Rejects when a runtime layer cannot be used. */
export async function makeServerParts(input: ServerPartsInput): Promise<ServerParts> {
  const { options, clock, configuration, pool } = input;
  const { resolved } = configuration;
  const listeners = makeListeners();
  const { contention, waits } = makeContention(input, () => upstreams);
  const streams = makeServiceStreams(input, () => ({ upstreams, store: stats.store }));
  const stats = new StatsEngine({
    config: resolved.stats,
    clock,
    ...waits,
    refresh: async () => {
      serverStats.refresh(pidsOf(pool), gauges.connections());
      await upstreams.refreshGauges();
    },
    htmlForm: statsForm,
    runtime: () => runtime.snapshot(),
    ...sinkDependencies(streams, () => ({ upstreams, store: stats.store })),
    log: getLogger('stats').log,
  });
  const serverStats = makeServerStats(input, stats);
  for (const { index } of pool.status()) stats.workerSpawned(index);
  const runtime = await openRuntime(input, stats);
  const gauges = new ListenerGauges(configuration.store, stats.store);
  const drains = makeDrains(input, listeners, serverStats);
  const eventLogs = new EventLogs(getLogger('upstream').warning);
  const commands = new ServerCommands({ pool, drains, eventLogs, ending: input.ending });
  const taps = makeTaps(input);
  const logServices = makeLogServices(streams, () => stats.store);
  const overload = makeOverload(input, stats, listeners);
  let loopDelay: LoopDelay | undefined;
  const certificates = new CertificateStats(configuration.store, stats.store, serverStats);
  const known = { stats, serverStats, listeners, commands, runtime, certificates };
  const dynamic = makeDynamic(input, known, () => upstreams);
  const upstreams = makeUpstreams(input, { stats, serverStats, dynamic, runtime, eventLogs });
  return {
    configuration,
    stats,
    serverStats,
    listeners,
    runtime,
    commands,
    drains,
    taps,
    logServices,
    overload,
    contention,
    upstreams,
    dynamic,
    listenersBound: () => {
      certificates.publish();
      serverStats.bound(resolved.clusters.length, listeners.size);
    },
    workersStarted: () => {
      gauges.defineAll();
      serverStats.listenersCreated(listeners.size * options.concurrency);
      serverStats.setListenerCount(listeners.size);
      serverStats.initialized();
      overload.start();
      stats.start();
      loopDelay = new LoopDelay(clock, stats.store);
    },
    stop: () => {
      loopDelay?.stop();
      for (const part of [taps, overload, stats, commands]) part.stop();
      for (const part of [logServices, runtime, dynamic, upstreams]) part.close();
    },
  };
}

/** Sockets of the service manager are taken before others are bound. */
function makeListeners(): OpenListeners {
  const warn = (text: string): void => getLogger('main').warning(text);
  const activation = new Activation(takeListenDescriptors(process.env), warn);
  return new OpenListeners(activation, hasDescriptorStore(process.env));
}

function makeOverload(
  { configuration, clock, pool }: ServerPartsInput,
  { store }: StatsEngine,
  listeners: OpenListeners,
): OverloadManager {
  return new OverloadManager({
    config: configuration.resolved.overload,
    stats: store,
    clock,
    pids: () => [process.pid, ...pidsOf(pool)],
    publish: (state) => pool.apply([{ op: 'put_overload', state }]),
    holdConnections: (isHeld) => {
      const names = listeners.hold(isHeld);
      void (isHeld ? pool.stopListening(names) : pool.adoptListeners());
    },
    log: getLogger('main').log,
  });
}

function makeDynamic(
  { options, clock, configuration, pool, version }: ServerPartsInput,
  parts: Pick<ServerParts, 'stats' | 'serverStats' | 'listeners' | 'commands' | 'runtime'> & {
    readonly certificates: CertificateStats;
  },
  upstreams: () => UpstreamClusters,
): DynamicConfiguration {
  const { bootstrap, resolved } = configuration;
  const configured = (bootstrap.node ?? {}) as JsonObject;
  const node = nodeMessage({ configured, identity: resolved.node, version });
  return new DynamicConfiguration({
    clusters: new OwnRequests(
      (name) => upstreams().get(name),
      parts.stats.store,
      secretsOf(configuration.store),
      clock,
    ),
    runtime: parts.runtime,
    node,
    ...configuration,
    statStore: parts.stats.store,
    serverStats: parts.serverStats,
    clock,
    open: parts.listeners,
    workers: {
      concurrency: options.concurrency,
      // What names clusters comes after them.
      apply: async (updates) => {
        void upstreams().flush();
        return await pool.apply(updates);
      },
      adoptListeners: () => pool.adoptListeners(),
      endListening: (names) => pool.endListening(names),
    },
    drainTimeMs: options.drainTimeS * 1000,
    unknownFields: unknownFieldsOf(options),
    isStopped: (direction) => parts.commands.isStopped(direction),
    keptPath: process.env['SLUICE_XDS_KEEP_PATH'] || undefined,
    secretChanged: (key) => parts.certificates.secretChanged(key),
  });
}

function makeLogServices(
  { openGrpc, identifier }: ServiceStreams,
  stats: () => StatStore,
): LogServices {
  return new LogServices({
    stats,
    open: openGrpc,
    identifier: (logName) => identifier(LOGS_MESSAGE, { log_name: logName }),
    onLost: (reason) => getLogger('main').warning(`a log service is lost: ${reason}`),
  });
}

function makeTaps({ clock, pool }: ServerPartsInput): TapSessions {
  return new TapSessions({
    clock,
    notify: (notice) => pool.notify(notice),
    log: getLogger('tap').warning,
  });
}

function makeUpstreams(
  { options, configuration, clock, pool }: ServerPartsInput,
  {
    stats,
    serverStats,
    dynamic,
    runtime,
    eventLogs,
  }: Pick<ServerParts, 'stats' | 'serverStats' | 'dynamic' | 'runtime'> & {
    readonly eventLogs: EventLogs;
  },
): UpstreamClusters {
  return new UpstreamClusters({
    store: configuration.store,
    writer: stats.store,
    clock,
    random: Math.random,
    pages: pool.pages,
    concurrency: options.concurrency,
    runtime: () => runtime.snapshot(),
    eventLogs,
    outlierLogPath: configuration.resolved.outlierLogPath,
    send: async (updates) => await pool.apply(updates),
    tell: (updates) => pool.tell(updates),
    makeEndpointSource: (resolved, sink) => dynamic.makeEndpointSource(resolved, sink),
    makeSubClusterSource: (name, settings, sink) =>
      dynamic.makeSubClusterSource(name, settings, sink),
    useSecret: (secret) => dynamic.secrets.use(secret),
    counted: (active, warming) => {
      serverStats.setClusterCounts(active, warming);
      dynamic.clustersWarming(warming);
    },
    countUpdate: (counter) => serverStats.clusterUpdated(counter),
  });
}

function makeDrains(
  { options, clock, ending, pool }: ServerPartsInput,
  listeners: OpenListeners,
  serverStats: ServerStats,
): Drains {
  return new Drains({
    pool,
    listeners,
    ending,
    clock,
    drainTimeMs: options.drainTimeS * 1000,
    drainsImmediately: options.drainStrategy === 'immediate',
    listenersClosed: (count) => {
      serverStats.listenersStopped(count);
      serverStats.setListenerCount(listeners.size);
    },
  });
}

function makeServerStats(input: ServerPartsInput, stats: StatsEngine): ServerStats {
  const { options, clock } = input;
  return new ServerStats({
    writer: stats.store,
    clock,
    concurrency: options.concurrency,
    restartEpoch: options.restartEpoch,
    revision: input.version,
    staticUnknownFields: input.configuration.unknownFieldCount,
    workInProgress: input.configuration.featureUses.workInProgress,
  });
}

function pidsOf(pool: WorkerPool): readonly number[] {
  return pool.status().map(({ pid }) => pid);
}
