/**
 * Pages as Envoy's oldest builds have them, for `--legacy-admin`: `/routes`, `/ready` and
 * `/server_info` with the words `live` and `draining`.
 */
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { text } from '../../http-pages/params.ts';
import type { AdminContext, DumpedResource } from '../admin-context.ts';
import { read, type AdminRoute, type RequestOf } from '../admin-route.ts';
import { redact } from '../config-dump/redact.ts';
import { answerReady } from '../endpoints/ready.ts';
import { answerServerInfo } from '../endpoints/server-info.ts';
import { JSON_TYPE, textResponse } from '../http/responses.ts';
import { printJsonAt, printJsonInSteps } from '../json-printer.ts';
import type { MessageTypes } from '../message-types.ts';

const ROUTES = 'envoy.config.route.v3.RouteConfiguration';
const ROUTES_PARAMS = { route_config_name: text('The name of the route tables to dump') };
const INFO_PARAMS = { format: text('json: the page of newer builds') };

/** The pages that take the place of others of the same path, and those that are added. */
export function legacyRoutes(types: MessageTypes): AdminRoute[] {
  return [
    read({
      path: '/routes',
      help: 'print route tables that came from a control plane or a file (--legacy-admin)',
      large: true,
      params: ROUTES_PARAMS,
      // Only with RDS.
      isOffered: ({ config }) => !isEmpty(config.routes().dynamic),
      handle: (request, context) => answerRoutes(request, context, types),
    }),
    read({
      path: '/ready',
      help: 'print live or draining, return 200 if live, otherwise return 503',
      handle: (_request, context) => ({
        ...answerReady(context),
        body: `${healthWord(context)}\n`,
      }),
    }),
    read({
      path: '/server_info',
      help: 'print one line: process, build, live or draining, seconds of this epoch and of all, epoch',
      params: INFO_PARAMS,
      handle: async ({ params: { format } }, context) =>
        format === 'json' ? await answerServerInfo(context, types) : oneLineInfo(context),
    }),
  ];
}

/** Other states keep their names: the oldest builds have no admin interface in them. */
function healthWord({ server }: AdminContext): string {
  const state = server.state();
  return state === 'LIVE' || state === 'DRAINING' ? state.toLowerCase() : state;
}

function oneLineInfo(context: AdminContext): AdminResponse {
  const { server, clock } = context;
  const uptimeS = Number((clock.monotonicNs() - server.startedAtNs) / 1_000_000_000n);
  const allS = Math.floor(clock.wallMs() / 1000) - server.firstEpochStartUnixSeconds;
  const [revision = '', , , build = ''] = server.version.split('/');
  const all = Math.max(allS, uptimeS);
  return textResponse(
    `envoy ${revision}/${build} ${healthWord(context)} ${uptimeS} ${all} ${server.restartEpoch}\n`,
  );
}

function answerRoutes(
  { params: { route_config_name: name } }: RequestOf<typeof ROUTES_PARAMS>,
  { config }: AdminContext,
  types: MessageTypes,
): AdminResponse {
  const body = printTables(config.routes().dynamic, name, types);
  return { status: 200, contentType: JSON_TYPE, body };
}

function* printTables(
  tables: Iterable<DumpedResource>,
  name: string | undefined,
  types: MessageTypes,
): Generator<string> {
  let before = '[';
  for (const table of tables) {
    yield '';
    if (name !== undefined && name !== table.name) continue;
    const { versionInfo, lastUpdatedMs, message } = table;
    const fields = {
      version_info: versionInfo,
      route_config_name: table.name,
      last_updated: new Date(lastUpdatedMs).toISOString(),
    };
    yield `${before}${printJsonAt(fields, 0).slice(0, -2)},\n "route_table_dump": `;
    yield* printJsonInSteps(redact(types, ROUTES, message));
    yield '}\n';
    before = ',';
  }
  yield before === '[' ? '[]\n' : ']\n';
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}
