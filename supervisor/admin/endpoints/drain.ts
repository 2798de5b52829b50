/**
 * `/drain_listeners` with Envoy's parameters and our own (docs/drain.md), and `/undrain_listeners`.
 * A parameter of Envoy counts when it is there, whatever its value.
 */
import type { DrainRequest, OwnDrainParams } from '../../drain/drain-view.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, flag, type Param, type ParamValues } from '../../http-pages/params.ts';
import type { Query } from '../../http-pages/query.ts';
import type { AdminContext } from '../admin-context.ts';
import type { RequestOf } from '../admin-route.ts';
import { okResponse, textResponse } from '../http/responses.ts';

const OWN_PARAMS = ['listener', 'wait', 'min', 'max', 'exit', 'close_idle'];

/** Without a value, connections are closed that are idle for this long. */
const CLOSE_IDLE_DEFAULT_MS = 1_000;

const SECONDS = /^\d{1,6}(\.\d{1,3})?$/;

export const DRAIN_PARAMS = {
  graceful: flag(
    'When draining listeners, enter a graceful drain period prior to closing listeners. This behaviour and duration is configurable via server options or CLI',
  ),
  skip_exit: refusing(
    flag(
      'When draining listeners, drain the connections but never stop the listeners. The graceful parameter has no effect when this is set, since the drain period only delays stopping the listeners',
    ),
    (isGiven, query) => isGiven && OWN_PARAMS.some((name) => query.has(name)),
    `skip_exit cannot be used together with ${OWN_PARAMS.join(', ')}`,
  ),
  inboundonly: flag(
    'Drains all inbound listeners. traffic_direction field in envoy_v3_api_msg_config.listener.v3.Listener is used to determine whether a listener is inbound or outbound.',
  ),
  listener: given('Drain this listener only', (text) =>
    text === '' ? new BadParam('listener needs the name of a listener\n') : text,
  ),
  wait: flag('Answer when the drain is over'),
  min: given('Seconds before which the drain is not over', readMs),
  max: given('Seconds after which open connections are cut, instead of --drain-time-s', readMs),
  exit: flag('End the server when the drain is over'),
  close_idle: given(
    'Close connections that have been idle for this many seconds (1 without a value)',
    (text, name) => (text === '' ? CLOSE_IDLE_DEFAULT_MS : readMs(text, name)),
  ),
};

type Given = ParamValues<typeof DRAIN_PARAMS>;

export async function drainListeners(
  { query, params }: RequestOf<typeof DRAIN_PARAMS>,
  context: AdminContext,
): Promise<AdminResponse> {
  const isOwn = OWN_PARAMS.some((name) => query.has(name));
  const { min = 0, max = min } = params;
  if (max < min) return textResponse('max cannot be below min\n', 400);
  const request: DrainRequest = {
    inboundOnly: params.inboundonly,
    graceful: params.graceful,
    skipExit: params.skip_exit,
    ...(isOwn && { own: ownOf(params) }),
  };
  const result = context.commands.drainListeners(request);
  if (!result.ok) return textResponse(`${result.reason}\n`, 409);
  if (!params.wait || result.ended === undefined) return okResponse();
  const end = await result.ended;
  if (end.kind === 'undone') return textResponse('the drain was undone\n', 409);
  if (end.cut === 0) return okResponse();
  return textResponse(`OK\n${end.cut} connections were cut at the deadline\n`);
}

export function undrainListeners(context: AdminContext): AdminResponse {
  const result = context.commands.undrainListeners();
  return result.ok ? okResponse() : textResponse(`${result.reason}\n`, 409);
}

function ownOf({ listener, min = 0, max, exit, close_idle: closeIdle }: Given): OwnDrainParams {
  return {
    ...(listener === undefined ? {} : { listener }),
    minMs: min,
    ...(max === undefined ? {} : { maxMs: max }),
    exits: exit,
    ...(closeIdle === undefined ? {} : { closeIdleAfterMs: closeIdle }),
  };
}

/** An empty text counts as given. */
function given<Value>(
  help: string,
  parse: (text: string, name: string) => Value | BadParam,
): Param<Value | undefined> {
  return {
    shown: (name) => ({ kind: 'string', name, help }),
    read: (query, name) => {
      const value = query.first(name);
      return value === undefined ? undefined : parse(value, name);
    },
  };
}

function refusing<Value>(
  param: Param<Value>,
  isWrong: (value: Value, query: Query) => boolean,
  text: string,
): Param<Value> {
  return {
    ...param,
    read: (query, name) => {
      const value = param.read(query, name);
      const isRefused = !(value instanceof BadParam) && isWrong(value, query);
      return isRefused ? new BadParam(`${text}\n`) : value;
    },
  };
}

function readMs(text: string, name: string): number | BadParam {
  return SECONDS.test(text)
    ? Number(text) * 1000
    : new BadParam(`${name} needs a number of seconds from 0 to 1000000\n`);
}
