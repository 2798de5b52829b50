/**
 * `/drain_listeners` with Envoy's parameters and our own, `/undrain_listeners` and
 * `/drain_status`. A parameter of Envoy counts when it is there, whatever its value.
 */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Clock } from '../../../shared/process/clock.ts';
import type { AdminContext } from '../admin-context.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import type { EndpointRequest } from '../admin-route.ts';
import type { DrainRequest, DrainStatus, OwnDrainParams } from '../../drain/drain-view.ts';
import type { Query } from '../../http-pages/query.ts';
import { jsonResponse, okResponse, textResponse } from '../http/responses.ts';

const OWN_PARAMS = ['listener', 'wait', 'min', 'max', 'exit', 'close_idle'];

/** Without a value, connections are closed that are idle for this long. */
const CLOSE_IDLE_DEFAULT_MS = 1_000;

const STREAM_PERIOD_MS = 1_000;

export async function drainListeners(
  { query }: EndpointRequest,
  context: AdminContext,
): Promise<AdminResponse> {
  const request = readRequest(query);
  if (typeof request === 'string') return textResponse(`${request}\n`, 400);
  const result = context.commands.drainListeners(request);
  if (!result.ok) return textResponse(`${result.reason}\n`, 409);
  if (!query.has('wait') || result.ended === undefined) return okResponse();
  const end = await result.ended;
  if (end.kind === 'undone') return textResponse('the drain was undone\n', 409);
  if (end.cut === 0) return okResponse();
  return textResponse(`OK\n${end.cut} connections were cut at the deadline\n`);
}

export function undrainListeners(context: AdminContext): AdminResponse {
  const result = context.commands.undrainListeners();
  return result.ok ? okResponse() : textResponse(`${result.reason}\n`, 409);
}

/** JSON once, or with `format=stream` an event each second until the client leaves. */
export async function answerDrainStatus(
  { query }: EndpointRequest,
  context: AdminContext,
): Promise<AdminResponse> {
  if (query.first('format') !== 'stream') return jsonResponse(await readStatus(context));
  return {
    status: 200,
    contentType: 'text/event-stream',
    headers: { 'x-accel-buffering': 'no' },
    body: statusEvents(context),
  };
}

async function* statusEvents(context: AdminContext): AsyncGenerator<string> {
  for (;;) {
    yield `data: ${JSON.stringify(await readStatus(context))}\n\n`;
    await delay(context.clock, STREAM_PERIOD_MS);
  }
}

async function readStatus({ commands, server }: AdminContext): Promise<JsonObject> {
  return statusMessage(await commands.drainStatus(), server.state());
}

function statusMessage(status: DrainStatus, serverState: string): JsonObject {
  const { listeners } = status;
  const sum = (read: (listener: (typeof listeners)[number]) => number): number =>
    listeners.reduce((total, listener) => total + read(listener), 0);
  return {
    server_state: serverState,
    is_complete: status.isComplete,
    open: sum(({ open }) => open),
    idle: sum(({ idle }) => idle),
    active: sum(({ active }) => active),
    streams: sum(({ streams }) => streams),
    listeners: listeners.map(({ elapsedMs, deadlineMs, ...listener }) => ({
      ...listener,
      ...(elapsedMs === undefined ? {} : { elapsed_s: seconds(elapsedMs) }),
      ...(deadlineMs === undefined ? {} : { deadline_s: seconds(deadlineMs) }),
    })),
  };
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

/** A text says what is wrong. */
function readRequest(query: Query): DrainRequest | string {
  const plain = {
    inboundOnly: query.has('inboundonly'),
    graceful: query.has('graceful'),
    skipExit: query.has('skip_exit'),
  };
  if (!OWN_PARAMS.some((name) => query.has(name))) return plain;
  if (plain.skipExit) return `skip_exit cannot be used together with ${OWN_PARAMS.join(', ')}`;
  const own = readOwn(query);
  return typeof own === 'string' ? own : { ...plain, own };
}

function readOwn(query: Query): OwnDrainParams | string {
  const listener = query.first('listener');
  if (listener === '') return 'listener needs the name of a listener';
  const minMs = readSeconds(query, 'min') ?? 0;
  const maxMs = readSeconds(query, 'max');
  const closeIdleAfterMs =
    query.first('close_idle') === '' ? CLOSE_IDLE_DEFAULT_MS : readSeconds(query, 'close_idle');
  for (const [name, value] of Object.entries({
    min: minMs,
    max: maxMs,
    close_idle: closeIdleAfterMs,
  }))
    if (Number.isNaN(value)) return `${name} needs a number of seconds from 0 to 1000000`;
  if (maxMs !== undefined && maxMs < minMs) return 'max cannot be below min';
  return {
    ...(listener === undefined ? {} : { listener }),
    minMs,
    ...(maxMs === undefined ? {} : { maxMs }),
    exits: query.has('exit'),
    ...(closeIdleAfterMs === undefined ? {} : { closeIdleAfterMs }),
  };
}

/** Milliseconds; NaN for what is no number of seconds. */
function readSeconds(query: Query, name: string): number | undefined {
  const text = query.first(name);
  if (text === undefined) return undefined;
  return /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) * 1000 : Number.NaN;
}

async function delay(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve, { unref: true });
  });
}
