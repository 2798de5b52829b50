/** `/drain_status`: how far the drain of each listener is, once or as a stream of events. */
import type { JsonObject } from '../../../shared/api/well-known.ts';
import type { Clock } from '../../../shared/process/clock.ts';
import type { DrainStatus } from '../../drain/drain-view.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { oneOf, words } from '../../http-pages/params.ts';
import type { AdminContext } from '../admin-context.ts';
import type { RequestOf } from '../admin-route.ts';
import { jsonResponse } from '../http/responses.ts';

const STREAM_PERIOD_MS = 1_000;

export const DRAIN_STATUS_PARAMS = {
  format: oneOf({
    help: 'One JSON document, or an event stream',
    values: words('json', 'stream'),
    byDefault: 'json',
  }),
};

/** JSON once, or with `format=stream` an event each second until the client leaves. */
export async function answerDrainStatus(
  { params }: RequestOf<typeof DRAIN_STATUS_PARAMS>,
  context: AdminContext,
): Promise<AdminResponse> {
  if (params.format !== 'stream') return jsonResponse(await readStatus(context));
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

async function delay(clock: Clock, ms: number): Promise<void> {
  await new Promise<void>((resolve) => {
    clock.after(ms, resolve, { unref: true });
  });
}
