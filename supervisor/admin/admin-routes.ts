/**
 * The routing table: the one place that says which endpoints exist. Routing, the POST-only rule,
 * `/help` and the forms of the home page are made from it. The help texts are Envoy's,
 * since clients and people know them.
 */
import type { Profilers } from '../profiling/profilers.ts';
import type { AdminRoute } from './admin-route.ts';
import { flag, offeredRoutes, oneOf, text } from './admin-route.ts';
import { answerConfigDump } from './config-dump/answer-config-dump.ts';
import { answerCerts } from './endpoints/certs.ts';
import { answerClusters } from './endpoints/clusters.ts';
import {
  failHealthChecks,
  passHealthChecks,
  quit,
  reopenLogs,
  resetCounters,
} from './endpoints/commands.ts';
import { answerContention } from './endpoints/contention.ts';
import { answerDrainStatus, drainListeners, undrainListeners } from './endpoints/drain.ts';
import { answerHeapSpaces } from './endpoints/heap-spaces.ts';
import { answerHotRestartVersion } from './endpoints/hot-restart-version.ts';
import { answerInitDump } from './endpoints/init-dump.ts';
import { answerListeners } from './endpoints/listeners.ts';
import { answerLogging } from './endpoints/logging.ts';
import { answerMemory } from './endpoints/memory.ts';
import {
  answerAllocationProfiler,
  answerCpuProfiler,
  answerHeapDump,
  answerHeapProfiler,
  answerPeakHeapDump,
} from './endpoints/profilers.ts';
import { answerReady } from './endpoints/ready.ts';
import { answerRuntime, answerRuntimeModify } from './endpoints/runtime.ts';
import { answerServerInfo } from './endpoints/server-info.ts';
import { answerTap } from './endpoints/tap.ts';
import { renderHelp } from './help.ts';
import { answerHome } from './home/answer-home.ts';
import { textResponse } from './http/responses.ts';
import type { MessageTypes } from './message-types.ts';
import { OWN_DRAIN_PARAMS } from './drain-params.ts';
import { STATS_PARAMS, PROMETHEUS_PARAMS } from './stats-params.ts';

type Read = Omit<AdminRoute, 'mutates' | 'params'> & Partial<Pick<AdminRoute, 'params'>>;

function read(route: Read): AdminRoute {
  return { params: [], ...route, mutates: false };
}

function mutate(route: Read): AdminRoute {
  return { params: [], ...route, mutates: true };
}

/** What endpoints need besides the context; made once. */
export interface AdminRouteParts {
  readonly types: MessageTypes;
  readonly profilers: Profilers;
  /** Whether the dashboard's statistics sink is configured. */
  readonly hasDashboard?: boolean;
}

/** All endpoints, sorted by path as `/help` prints them. */
export function adminRoutes({
  types,
  profilers,
  hasDashboard,
}: AdminRouteParts): readonly AdminRoute[] {
  const routes: AdminRoute[] = [
    read({
      path: '/',
      help: 'Admin home page',
      large: true,
      handle: async (_request, context) =>
        await answerHome(offeredRoutes(routes, context), context),
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
    tapRoute(),
    ...profilerRoutes(profilers),
  ];
  return routes.sort((left, right) => (left.path < right.path ? -1 : 1));
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
      params: [text('filter', 'Regular expression (Google re2) for filtering clusters by name')],
      handle: answerClusters,
    }),
    read({
      path: '/listeners',
      help: 'print listener info',
      params: [oneOf('format', ['text', 'json'], 'File format to use')],
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
      params: [
        text('resource', 'The resource to dump'),
        text(
          'mask',
          'The mask to apply. When both resource and mask are specified, the mask is applied to every element in the desired repeated field so that only a subset of fields are returned. The mask is parsed as a Protobuf::FieldMask',
        ),
        text(
          'name_regex',
          'Dump only the currently loaded configurations whose names match the specified regex. Can be used with both resource and mask query parameters.',
        ),
        flag(
          'include_eds',
          'Dump currently loaded configuration including EDS. See the response definition for more information',
        ),
      ],
      handle: (request, context) => answerConfigDump(request, context, types),
    }),
    read({
      path: '/init_dump',
      help: 'dump current Sluice init manager information (experimental)',
      params: [
        text(
          'mask',
          'The desired component to dump unready targets. The mask is parsed as a Protobuf::FieldMask. For example, get the unready targets of all listeners with /init_dump?mask=listener`',
        ),
      ],
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
  const page = (path: string, help: string, params: AdminRoute['params']): AdminRoute =>
    read({
      path,
      help,
      params,
      large: true,
      handle: async (request, context) => await context.stats.read(path, request),
    });
  const lookups = (command: 'enable' | 'disable' | 'clear', help: string): AdminRoute =>
    mutate({
      path: `/stats/recentlookups/${command}`,
      help,
      handle: (_request, context) => context.stats.recentLookups(command),
    });
  return [
    page('/stats', 'print server stats', STATS_PARAMS),
    page('/stats/prometheus', 'print server stats in prometheus format', PROMETHEUS_PARAMS),
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
      params: [
        flag(
          'graceful',
          'When draining listeners, enter a graceful drain period prior to closing listeners. This behaviour and duration is configurable via server options or CLI',
        ),
        flag(
          'skip_exit',
          'When draining listeners, drain the connections but never stop the listeners. The graceful parameter has no effect when this is set, since the drain period only delays stopping the listeners',
        ),
        flag(
          'inboundonly',
          'Drains all inbound listeners. traffic_direction field in envoy_v3_api_msg_config.listener.v3.Listener is used to determine whether a listener is inbound or outbound.',
        ),
        ...OWN_DRAIN_PARAMS,
      ],
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
      params: [oneOf('format', ['json', 'stream'], 'One JSON document, or an event stream')],
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
      params: [
        text(
          'paths',
          'Change multiple logging levels by setting to <logger_name1>:<desired_level1>,<logger_name2>:<desired_level2>. If fine grain logging is enabled, use __FILE__ or a glob experision as the logger name. For example, source/common*:warning',
        ),
        text(
          'group',
          'Change given logger group to desired level, set to <logger_group_name>:<desired_level>. logger_group_name must be a logger name.',
        ),
        oneOf(
          'level',
          ['', 'trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'],
          "desired logging level, this will change all loggers's level",
        ),
      ],
      handle: answerLogging,
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

function tapRoute(): AdminRoute {
  return mutate({
    path: '/tap',
    help: 'tap filter control',
    isOffered: ({ tap }) => tap.configIds().size > 0,
    handle: answerTap,
  });
}

function profilerRoutes(profilers: Profilers): AdminRoute[] {
  const enable = (help: string) => [oneOf('enable', ['y', 'n'], help)];
  return [
    mutate({
      path: '/cpuprofiler',
      help: 'enable/disable the CPU profiler',
      params: enable('enables the CPU profiler'),
      handle: async (request) => await answerCpuProfiler(request, profilers),
    }),
    mutate({
      path: '/heapprofiler',
      help: 'enable/disable the heap profiler',
      params: enable('enable/disable the heap profiler'),
      handle: async (request) => await answerHeapProfiler(request, profilers),
    }),
    mutate({
      path: '/allocprofiler',
      help: 'enable/disable the allocation profiler (if supported)',
      params: enable('enable/disable the allocation profiler'),
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
