/** What the admin interface reads and commands, put together from the parts of one server. */
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { Clock } from '../../shared/process/clock.ts';
import { TimedLevels } from '../../shared/logging/timed-levels.ts';
import { getLogger, processLog } from '../../shared/logging/process-log.ts';
import type { Options } from '../../shared/process/options.ts';
import type {
  AdminContext,
  HostOrdersView,
  LoggingView,
  ServerView,
  TapView,
} from '../admin/admin-context.ts';
import type { Phase } from '../life-cycle/life-cycle.ts';
import type { RecentView } from '../recent/recent-view.ts';
import type { ServerParts } from './server-parts.ts';
import { serverStateOf } from '../life-cycle/server-state.ts';
import { ScriptReload } from '../scripts/script-reload.ts';
import type { WorkerPool } from '../processes/worker-pool.ts';
import { tapConfigIds } from '../tap/tap-config-ids.ts';
import { makeClustersView } from '../admin/views/clusters-view.ts';
import { skippedFilters } from '../admin/views/skipped-filters.ts';
import { knownExtensions } from '../resources/known-extensions.ts';
import { makeConfigView } from '../admin/views/config-view.ts';

const log = getLogger('admin');
/** The time limit of a worker that is busy with requests. */
const EXPLAIN_LIMIT_MS = 5_000;
/** The home page waits for it. */
const RECALL_LIMIT_MS = 200;
/** The same; it looks at all its connections first. */
const CONNECTIONS_LIMIT_MS = 10_000;

export interface AdminContextInput {
  readonly options: Options;
  readonly commandLine: JsonObject;
  readonly version: string;
  readonly hotRestartVersion: string;
  readonly clock: Clock;
  readonly parts: ServerParts;
  readonly pool: WorkerPool;
  /** Unix seconds. */
  readonly firstEpochStartUnixSeconds: number | undefined;
  phase(): Phase;
}

export function makeAdminContext(input: AdminContextInput): AdminContext {
  const { parts, clock } = input;
  const { configuration, stats, listeners, upstreams } = parts;
  const node = parts.node.message;
  return {
    clock,
    turns: stats.turns,
    server: makeServerView(input, node),
    config: makeConfigView({
      store: configuration.store,
      bootstrap: configuration.bootstrap,
      node,
      loadedAtMs: configuration.loadedAtMs,
      assignmentOf: (name) => upstreams.assignmentOf(name),
      unreadyTargets: () => (input.phase() === 'loading' ? [] : parts.dynamic.unreadyTargets()),
      isStarting: () => input.phase() === 'warming' || input.phase() === 'initializing',
    }),
    clusters: makeClustersView({
      resources: configuration.store,
      upstreams,
      orders: parts.hostOrders,
      stats: stats.store,
      refresh: () => stats.beforeRead(),
    }),
    // They are shown from the moment on when only what they need is waited for.
    listeners: { list: () => (isShown(input.phase()) ? listeners.status() : []) },
    stats: stats.pages,
    statWriter: stats.store,
    logging: makeLoggingView(clock, input.pool),
    runtime: parts.runtime,
    commands: parts.commands,
    hosts: makeHostOrdersView(parts),
    tap: makeTapView(parts),
    connections: {
      list: (question) => input.pool.listConnections(question, CONNECTIONS_LIMIT_MS),
      close: async (order) => await input.pool.closeConnections(order, CONNECTIONS_LIMIT_MS),
    },
    recent: makeRecentView(input),
    scripts: new ScriptReload({
      workers: () => input.pool.scriptWorkers(),
      ownModules: configuration.resolved.adminPages.map(({ module }) => module.entry),
      log: (level, text) => log.log(level, text),
    }),
    skippedFilters: () =>
      skippedFilters(configuration.store, configuration.resolved.filterSkips, isKnownType),
    explain: async (asked) => await input.pool.explain(asked, EXPLAIN_LIMIT_MS),
    log: log.log,
  };
}

function isKnownType(type: string): boolean {
  return knownExtensions().some((known) => known.type === type);
}

function makeRecentView({ parts: { recent }, pool }: AdminContextInput): RecentView {
  return {
    intervals: () => recent.intervals(),
    activeHosts: () => recent.activeHosts(),
    openByWorker: () => recent.openByWorker(),
    sickClusters: () => recent.sickClusters(),
    refusals: async () => await pool.recallRefusals(RECALL_LIMIT_MS),
    exemplars: async () => await pool.recallExemplars(RECALL_LIMIT_MS),
  };
}

function makeHostOrdersView({ hostOrders, upstreams }: ServerParts): HostOrdersView {
  return {
    put(order) {
      const cluster = upstreams.get(order.cluster);
      if (cluster === undefined) return 'no_cluster';
      if (cluster.host(order.host) === undefined) return 'no_host';
      return hostOrders.put(order) ? undefined : 'too_many';
    },
    takeBack: (cluster, host) => hostOrders.takeBack(cluster, host),
    list: () => hostOrders.list(),
  };
}

function makeTapView({ taps, listeners }: ServerParts): TapView {
  return {
    configIds: () => tapConfigIds(listeners.resources()),
    isAttached: () => taps.isAttached,
    read: async (body) => {
      const { readTapRequest } = await import('../tap/read-tap-request.ts');
      return await readTapRequest(body);
    },
    begin: (request) => taps.begin(request),
  };
}

function isShown(phase: Phase): boolean {
  return (
    phase === 'warming' || phase === 'initializing' || phase === 'live' || phase === 'draining'
  );
}

function makeServerView(input: AdminContextInput, node: JsonObject): ServerView {
  const { options, parts, pool } = input;
  const startedAtNs = input.clock.monotonicNs();
  const startedAtUnixSeconds = Math.floor(input.clock.wallMs() / 1000);
  return {
    state: () => serverStateOf(input.phase(), parts.commands.isUnready),
    version: input.version,
    hotRestartVersion: input.hotRestartVersion,
    restartEpoch: options.restartEpoch,
    startedAtNs,
    firstEpochStartUnixSeconds: input.firstEpochStartUnixSeconds ?? startedAtUnixSeconds,
    commandLineOptions: () => input.commandLine,
    node: () => node,
    contention: () => parts.contention?.counts(),
    workers: () => pool.status(),
  };
}

function makeLoggingView(clock: Clock, pool: WorkerPool): LoggingView {
  const { registry } = processLog;
  return {
    levels: () => registry.levels(),
    setAll: (level) => registry.setAll(level),
    set: (name, level) => registry.set(name, level),
    setGroup: (name, level) => registry.setGroup(name, level),
    fineGrain: registry.fineGrain,
    snapshot: () => registry.allLevels,
    timed: new TimedLevels(registry, clock),
    watchRequests: (order) =>
      pool.notify({ kind: 'watch_requests', ...(order !== undefined && { order }) }),
  };
}
