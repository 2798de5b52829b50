/**
 * The routing table: the one place that says which endpoints exist. Routing, the POST-only rule,
 * `/help` and the forms of the home page are made from it. The help texts are Envoy's,
 * since clients and people know them.
 */
import type { Profilers } from '../profiling/profilers.ts';
import type { ShownParam } from '../http-pages/params.ts';
import { PROMETHEUS_SHOWN, STATS_SHOWN } from '../stats-output/stats-params.ts';
import { mutate, offeredRoutes, read, type AdminRoute } from './admin-route.ts';
import { answerConfigDump, CONFIG_DUMP_PARAMS } from './config-dump/answer-config-dump.ts';
import { answerConfigHistory, CONFIG_HISTORY_PARAMS } from './config-dump/answer-config-history.ts';
import { answerCerts } from './endpoints/certs.ts';
import { answerClusters, CLUSTERS_PARAMS } from './endpoints/clusters.ts';
import {
  failHealthChecks,
  passHealthChecks,
  quit,
  reopenLogs,
  resetCounters,
} from './endpoints/commands.ts';
import { CLOSE_PARAMS, closeConnections } from './endpoints/connections/close-connections.ts';
import { CONNECTIONS_PARAMS, listConnections } from './endpoints/connections/list-connections.ts';
import { answerContention } from './endpoints/contention.ts';
import { DRAIN_PARAMS, drainListeners, undrainListeners } from './endpoints/drain.ts';
import { answerDrainStatus, DRAIN_STATUS_PARAMS } from './endpoints/drain-status.ts';
import { answerExplain, EXPLAIN_PARAMS } from './endpoints/explain.ts';
import { listFilters, reloadFilters } from './endpoints/filters.ts';
import { answerHeapSpaces } from './endpoints/heap-spaces.ts';
import { HOST_STATE_PARAMS, listOrders, orderHost } from './endpoints/host-orders.ts';
import { answerHotRestartVersion } from './endpoints/hot-restart-version.ts';
import { answerInitDump, INIT_DUMP_PARAMS } from './endpoints/init-dump.ts';
import { answerListeners, LISTENERS_PARAMS } from './endpoints/listeners.ts';
import { answerLogging, LOGGING_PARAMS } from './endpoints/logging.ts';
import { answerMemory } from './endpoints/memory.ts';
import {
  answerAllocationProfiler,
  answerCpuProfiler,
  answerHeapDump,
  answerHeapProfiler,
  answerPeakHeapDump,
  switchParams,
} from './endpoints/profilers.ts';
import { answerReady } from './endpoints/ready.ts';
import { answerRuntime, answerRuntimeModify } from './endpoints/runtime.ts';
import { answerServerInfo } from './endpoints/server-info.ts';
import { answerTap } from './endpoints/tap/tap.ts';
import { listenTap, TAP_LISTEN_PARAMS } from './endpoints/tap/tap-listen.ts';
import { WATCH_PARAMS, watchRequests } from './endpoints/watched/watch-requests.ts';
import { renderHelp } from './help.ts';
import { legacyRoutes } from './legacy/legacy-routes.ts';
import { answerHome } from './home/answer-home.ts';
import { textResponse } from './http/responses.ts';
import type { MessageTypes } from './message-types.ts';

/** What endpoints need besides the context; made once. */
export interface AdminRouteParts {
  readonly types: MessageTypes;
  readonly profilers: Profilers;
  /** Whether the dashboard's statistics sink is configured. */
  readonly hasDashboard?: boolean;
  /** Mutations are refused, so that no page offers one. */
  readonly isReadOnly?: boolean;
  /** Pages of Envoy's oldest builds take the place of newer ones. */
  readonly isLegacy?: boolean;
  /** Those of modules, for paths that are free. */
  readonly modulePages?: (taken: ReadonlySet<string>) => AdminRoute[];
}

/** All endpoints, sorted by path as `/help` prints them. */
export function adminRoutes({
  types,
  profilers,
  hasDashboard,
  modulePages,
  isReadOnly,
  isLegacy,
}: AdminRouteParts): readonly AdminRoute[] {
  const routes: AdminRoute[] = [
    read({
      path: '/',
      help: 'Admin home page',
      large: true,
      handle: async (request, context) =>
        await answerHome(request, offeredRoutes(routes, context), context, isReadOnly === true),
    }),
    read({
      path: '/help',
      help: 'print out list of admin commands',
      handle: (_request, context) => textResponse(renderHelp(offeredRoutes(routes, context))),
    }),
    ...stateRoutes(types),
    ...configurationRoutes(types),
    ...statsRoutes(),
    ...(hasDashboard === true ? dashboardRoutes() : []),
    ...drainRoutes(),
    ...commandRoutes(),
    ...diagnosticRoutes(),
    ...tapRoutes(),
    ...profilerRoutes(profilers),
  ];
  if (isLegacy === true) replaceRoutes(routes, legacyRoutes(types));
  routes.push(...(modulePages?.(new Set(routes.map(({ path }) => path))) ?? []));
  return routes.sort((left, right) => (left.path < right.path ? -1 : 1));
}

function replaceRoutes(routes: AdminRoute[], others: readonly AdminRoute[]): void {
  for (const other of others) {
    const at = routes.findIndex(({ path }) => path === other.path);
    if (at < 0) routes.push(other);
    else routes[at] = other;
  }
}

function stateRoutes(types: MessageTypes): AdminRoute[] {
  return [
    read({
      path: '/ready',
      help: 'print server state, return 200 if LIVE, otherwise return 503',
      handle: (_request, context) => answerReady(context),
    }),
    read({
      path: '/server_info',
      help: 'print server version/status information',
      handle: (_request, context) => answerServerInfo(context, types),
    }),
    read({
      path: '/hot_restart_version',
      help: 'print the hot restart compatibility version',
      handle: (_request, context) => answerHotRestartVersion(context),
    }),
    read({
      path: '/certs',
      help: 'print certs on machine',
      handle: (_request, context) => answerCerts(context),
    }),
    read({
      path: '/clusters',
      help: 'upstream cluster status',
      large: true,
      params: CLUSTERS_PARAMS,
      handle: answerClusters,
    }),
    read({
      path: '/connections',
      help: 'print open connections of clients: listener, client, protocol, route, cluster, host, age, bytes',
      large: true,
      params: CONNECTIONS_PARAMS,
      handle: listConnections,
    }),
    mutate({
      path: '/connections/close',
      help: 'close connections of clients by filter, a share of them over a time',
      params: CLOSE_PARAMS,
      handle: closeConnections,
    }),
    read({
      path: '/hosts',
      help: 'print hosts for which an operator has ordered a state or a weight',
      handle: (_request, context) => listOrders(context),
    }),
    mutate({
      path: '/hosts/state',
      help: 'drain a host, take it down or up again, or change its weight',
      params: HOST_STATE_PARAMS,
      handle: orderHost,
    }),
    read({
      path: '/listeners',
      help: 'print listener info',
      params: LISTENERS_PARAMS,
      handle: answerListeners,
    }),
  ];
}

function configurationRoutes(types: MessageTypes): AdminRoute[] {
  return [
    read({
      path: '/config_dump',
      help: 'dump current Sluice configs',
      large: true,
      params: CONFIG_DUMP_PARAMS,
      handle: (request, context) => answerConfigDump(request, context, types),
    }),
    read({
      path: '/config_history',
      help: 'print what changed in the configuration while the server ran, and what was refused',
      large: true,
      params: CONFIG_HISTORY_PARAMS,
      handle: (request, context) => answerConfigHistory(request, context, types),
    }),
    read({
      path: '/explain',
      help: 'print what becomes of a request: listener, filter chain, routes, filters, cluster and hosts',
      params: EXPLAIN_PARAMS,
      handle: answerExplain,
    }),
    read({
      path: '/filters',
      help: 'print modules that are filters, with their versions in each worker, and filters that were left out',
      handle: async (_request, context) => await listFilters(context),
    }),
    mutate({
      path: '/filters/reload',
      help: 'load modules again that have changed: all of them in all workers, or none',
      handle: async (_request, context) => await reloadFilters(context),
    }),
    read({
      path: '/init_dump',
      help: 'dump current Sluice init manager information (experimental)',
      params: INIT_DUMP_PARAMS,
      handle: answerInitDump,
    }),
    read({
      path: '/runtime',
      help: 'print runtime values',
      handle: (_request, context) => answerRuntime(context),
    }),
    mutate({
      path: '/runtime_modify',
      help: 'Adds or modifies runtime values as passed in query parameters. To delete a previously added key, use an empty string as the value. Note that deletion only applies to overrides added via this endpoint; values loaded from disk can be modified via override but not deleted. E.g. ?key1=value1&key2=value2...',
      handle: answerRuntimeModify,
    }),
  ];
}

/** The same stream by Envoy's path and by a neutral one. */
function dashboardRoutes(): AdminRoute[] {
  return ['/hystrix_event_stream', '/cb_dashboard_event_stream'].map((path) =>
    read({
      path,
      help: 'send hystrix event stream',
      handle: (_request, { stats }) =>
        stats.dashboardStream?.() ?? textResponse('the sink is not configured', 404),
    }),
  );
}

function statsRoutes(): AdminRoute[] {
  // They read their parameters themselves: a filter may be matched before the others are looked at.
  const page = (path: string, help: string, params: readonly ShownParam[]): AdminRoute => ({
    path,
    help,
    params,
    unshownParams: [],
    mutates: false,
    large: true,
    handle: async (request, { stats, recent }) =>
      await stats.read(path, { ...request, exemplars: async () => await recent.exemplars() }),
  });
  const lookups = (command: 'enable' | 'disable' | 'clear', help: string): AdminRoute =>
    mutate({
      path: `/stats/recentlookups/${command}`,
      help,
      handle: (_request, context) => context.stats.recentLookups(command),
    });
  return [
    page('/stats', 'print server stats', STATS_SHOWN),
    page('/stats/prometheus', 'print server stats in prometheus format', PROMETHEUS_SHOWN),
    page('/stats/recentlookups', 'Show recent stat-name lookups', []),
    lookups('clear', 'clear list of stat-name lookups and counter'),
    lookups('disable', 'disable recording of reset stat-name lookup names'),
    lookups('enable', 'enable recording of reset stat-name lookup names'),
    mutate({
      path: '/reset_counters',
      help: 'reset all counters to zero',
      handle: async (_request, context) => await resetCounters(context),
    }),
  ];
}

function drainRoutes(): AdminRoute[] {
  return [
    mutate({
      path: '/drain_listeners',
      help: 'drain listeners',
      params: DRAIN_PARAMS,
      handle: drainListeners,
    }),
    mutate({
      path: '/undrain_listeners',
      help: 'undo a drain of listeners, as long as none was closed',
      handle: (_request, context) => undrainListeners(context),
    }),
    read({
      path: '/drain_status',
      help: 'print how far the drain of each listener is',
      params: DRAIN_STATUS_PARAMS,
      handle: answerDrainStatus,
    }),
  ];
}

function commandRoutes(): AdminRoute[] {
  return [
    mutate({
      path: '/healthcheck/fail',
      help: 'cause the server to fail health checks',
      handle: (_request, context) => failHealthChecks(context),
    }),
    mutate({
      path: '/healthcheck/ok',
      help: 'cause the server to pass health checks',
      handle: (_request, context) => passHealthChecks(context),
    }),
    mutate({
      path: '/reopen_logs',
      help: 'reopen access logs',
      handle: (_request, context) => reopenLogs(context),
    }),
    mutate({
      path: '/quitquitquit',
      help: 'exit the server',
      handle: (_request, context) => quit(context),
    }),
    mutate({
      path: '/logging',
      help: 'query/change logging levels',
      params: LOGGING_PARAMS,
      handle: answerLogging,
    }),
    mutate({
      path: '/logging/trace',
      help: 'log the way of single requests at debug, whatever the levels are',
      params: WATCH_PARAMS,
      handle: watchRequests,
    }),
  ];
}

function diagnosticRoutes(): AdminRoute[] {
  return [
    read({
      path: '/contention',
      help: 'dump current Sluice mutex contention stats (if enabled)',
      handle: (_request, context) => answerContention(context),
    }),
    read({
      path: '/memory',
      help: 'print current allocation/heap usage',
      handle: answerMemory,
    }),
    read({
      path: '/memory/tcmalloc',
      help: 'print TCMalloc stats',
      handle: answerHeapSpaces,
    }),
  ];
}

function tapRoutes(): AdminRoute[] {
  return [
    mutate({
      path: '/tap',
      help: 'tap filter control',
      isOffered: ({ tap }) => tap.configIds().size > 0,
      handle: answerTap,
    }),
    mutate({
      path: '/tap/listen',
      help: 'record requests or connections at listeners, without a filter, as HAR, NDJSON or pcap',
      params: TAP_LISTEN_PARAMS,
      handle: listenTap,
    }),
  ];
}

function profilerRoutes(profilers: Profilers): AdminRoute[] {
  return [
    mutate({
      path: '/cpuprofiler',
      help: 'enable/disable the CPU profiler',
      params: switchParams('enables the CPU profiler'),
      handle: async (request) => await answerCpuProfiler(request, profilers),
    }),
    mutate({
      path: '/heapprofiler',
      help: 'enable/disable the heap profiler',
      params: switchParams('enable/disable the heap profiler'),
      handle: async (request) => await answerHeapProfiler(request, profilers),
    }),
    mutate({
      path: '/allocprofiler',
      help: 'enable/disable the allocation profiler (if supported)',
      params: switchParams('enable/disable the allocation profiler'),
      handle: async (request) => await answerAllocationProfiler(request, profilers),
    }),
    read({
      path: '/heap_dump',
      help: 'dump current Sluice heap (if supported)',
      large: true,
      handle: async () => await answerHeapDump(profilers),
    }),
    read({
      path: '/peak_heap_dump',
      help: 'dump peak Sluice heap (if supported)',
      large: true,
      handle: async () => await answerPeakHeapDump(profilers),
    }),
  ];
}
