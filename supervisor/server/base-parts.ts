/**
 * The lowest tier of a server's parts: its statistics, its listening sockets, the runtime, and what
 * watches and drains them. None of these needs a cluster.
 */
import type { Clock } from '../../shared/process/clock.ts';
import { getLogger } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import { takeListenDescriptors } from '../../shared/systemd/listen-descriptors.ts';
import { Drains } from '../drain/drains.ts';
import { EventLogs } from '../health/event-log.ts';
import type { Ending } from '../life-cycle/ending.ts';
import { hasDescriptorStore } from '../life-cycle/phase-reports.ts';
import { ServerStats } from '../life-cycle/server-stats.ts';
import { OverloadManager } from '../overload/overload-manager.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import { RuntimeStore } from '../runtime/runtime-store.ts';
import { Activation } from '../sockets/activation.ts';
import { ListenerGauges } from '../sockets/listener-gauges.ts';
import { OpenListeners } from '../sockets/open-listeners.ts';
import type { Configuration } from '../start/load-configuration.ts';
import { acceptedNames } from '../stats/name-matcher.ts';
import { StatStore } from '../stats/stat-store.ts';
import { CertificateStats } from '../tls/certificate-stats.ts';
import { OwnNode } from './own-node.ts';

/** Defined with the first filter that is left out. */
const SKIPPED_FILTERS = 'sluice.filters_skipped';

export interface ServerPartsInput {
  readonly options: Options;
  readonly version: string;
  readonly clock: Clock;
  readonly ending: Ending;
  readonly configuration: Configuration;
  readonly pool: WorkerPool;
}

export interface BaseParts {
  readonly node: OwnNode;
  readonly statStore: StatStore;
  readonly serverStats: ServerStats;
  readonly listeners: OpenListeners;
  /** What the listeners have open. */
  readonly gauges: ListenerGauges;
  readonly certificates: CertificateStats;
  readonly runtime: RuntimeStore;
  readonly overload: OverloadManager;
  readonly drains: Drains;
  readonly eventLogs: EventLogs;
}

/** Rejects when a runtime layer cannot be used. */
export async function makeBaseParts(input: ServerPartsInput): Promise<BaseParts> {
  const { store, resolved } = input.configuration;
  const listeners = makeListeners();
  const statStore = new StatStore(acceptedNames(resolved.stats.matcher));
  resolved.filterSkips?.countInto((count) => {
    statStore.add(statStore.defineCounter(SKIPPED_FILTERS), count);
  });
  const serverStats = makeServerStats(input, statStore);
  return {
    node: new OwnNode(input.configuration, input.version),
    statStore,
    serverStats,
    listeners,
    runtime: await openRuntime(input, statStore),
    gauges: new ListenerGauges(store, statStore),
    certificates: new CertificateStats(store, statStore, serverStats),
    overload: makeOverload(input, statStore, listeners),
    drains: makeDrains(input, listeners, serverStats),
    eventLogs: new EventLogs(getLogger('upstream').warning),
  };
}

export function workerPids(pool: WorkerPool): readonly number[] {
  return pool.status().map(({ pid }) => pid);
}

/** Sockets of the service manager are taken before others are bound. */
function makeListeners(): OpenListeners {
  const warn = (text: string): void => getLogger('main').warning(text);
  const activation = new Activation(takeListenDescriptors(process.env), warn);
  return new OpenListeners(activation, hasDescriptorStore(process.env));
}

/** The first six hexadecimal digits of the commit that was built, unless the bootstrap names another number. */
function versionGauge({ version, configuration }: ServerPartsInput): number {
  const { versionGauge: own } = configuration.resolved;
  return own ?? (Number.parseInt(version.slice(0, 6), 16) || 0);
}

function makeServerStats(input: ServerPartsInput, writer: StatStore): ServerStats {
  const { options, clock } = input;
  return new ServerStats({
    writer,
    clock,
    concurrency: options.concurrency,
    restartEpoch: options.restartEpoch,
    version: versionGauge(input),
    staticUnknownFields: input.configuration.unknownFieldCount,
    workInProgress: input.configuration.featureUses.workInProgress,
  });
}

/** Workers get each change. */
async function openRuntime(
  { configuration, pool }: ServerPartsInput,
  statWriter: StatStore,
): Promise<RuntimeStore> {
  const runtime = await RuntimeStore.open({
    layers: configuration.resolved.runtimeLayers,
    statWriter,
    log: getLogger('runtime').log,
    deprecatedUses: configuration.featureUses.deprecated,
  });
  runtime.subscribe((snapshot) => {
    void pool.apply([{ op: 'put_runtime', values: [...snapshot] }]);
  });
  return runtime;
}

function makeOverload(
  { configuration, clock, pool }: ServerPartsInput,
  stats: StatStore,
  listeners: OpenListeners,
): OverloadManager {
  return new OverloadManager({
    config: configuration.resolved.overload,
    stats,
    clock,
    pids: () => [process.pid, ...workerPids(pool)],
    publish: (state) => pool.apply([{ op: 'put_overload', state }]),
    holdConnections: (isHeld) => {
      const names = listeners.hold(isHeld);
      void (isHeld ? pool.stopListening(names) : pool.adoptListeners());
    },
    log: getLogger('main').log,
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
