/**
 * Writes an answer with the reference's headers, in its order, chunk by chunk
 * with back-pressure. A client that stops reading is closed after a limit, so that a page never
 * grows in memory; between chunks the event loop gets its turn.
 */
import type { Writable } from 'node:stream';
import type { Clock } from '../../../shared/clock.ts';
import type { AdminBody, AdminResponse } from '../admin-context.ts';
import type { AdminLimits } from './admin-limits.ts';
import type { AdminExchange, AnswerFields } from './exchange.ts';
import { TEXT } from './responses.ts';

export const SERVER_NAME = 'sluice';

/** Milliseconds of work after which the event loop gets a turn. */
const TURN_MS = 2;
/** Pieces are joined up to this many characters before they are written. */
const CHUNK_CHARACTERS = 32 * 1024;

export interface SendOptions {
  readonly clock: Clock;
  readonly limits: AdminLimits;
  readonly isHead: boolean;
  /** Told when a client is closed for not reading. */
  readonly onStalledReader: () => void;
}

/**
 * Resolves with the bytes of the body when the last one was handed to the socket or the client is
 * gone. Rejects only when making the body fails.
 */
export async function sendResponse(
  exchange: AdminExchange,
  response: AdminResponse,
  options: SendOptions,
): Promise<number> {
  exchange.sendHead(response.status, headOf(response, options.clock));
  const { body } = response;
  const { output } = exchange;
  if (options.isHead) {
    output.end();
    await closeBody(body);
    return 0;
  }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    output.end(body);
    return Buffer.byteLength(body);
  }
  const deadlineMs =
    response.isEndless === true
      ? Number.POSITIVE_INFINITY
      : options.clock.monotonicMs() + options.limits.answerMs;
  if (!(Symbol.asyncIterator in body)) {
    return await sendChunks(output, joinSmall(body), { ...options, deadlineMs });
  }
  exchange.flushHead();
  return await sendEvents(output, body, { ...options, deadlineMs });
}

function headOf(response: AdminResponse, clock: Clock): AnswerFields {
  return Object.entries({
    'content-type': response.contentType ?? TEXT,
    'cache-control': 'no-cache, max-age=0',
    'x-content-type-options': 'nosniff',
    ...response.headers,
    date: new Date(clock.wallMs()).toUTCString(),
    server: SERVER_NAME,
  });
}

interface ChunkOptions extends SendOptions {
  /** Of CLOCK_MONOTONIC, in milliseconds. */
  readonly deadlineMs: number;
}

/** What comes asynchronously may be events: each is sent as it comes. */
async function sendEvents(
  output: Writable,
  body: AsyncIterable<string | Uint8Array>,
  options: ChunkOptions,
): Promise<number> {
  const iterator = body[Symbol.asyncIterator]();
  // A source that has nothing to say for long must learn that nobody listens any more.
  const onClose = (): void => void iterator.return?.();
  output.once('close', onClose);
  try {
    return await sendChunks(output, { [Symbol.asyncIterator]: () => iterator }, options);
  } finally {
    output.off('close', onClose);
  }
}

async function sendChunks(
  output: Writable,
  body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  options: ChunkOptions,
): Promise<number> {
  const { clock, deadlineMs } = options;
  let turnMs = clock.monotonicMs();
  let bytes = 0;
  for await (const chunk of body) {
    if (output.destroyed) return bytes;
    const encoded = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    bytes += encoded.length;
    if (!output.write(encoded) && !(await untilDrained(output, options))) {
      giveUp(output, options);
      return bytes;
    }
    // A write that the kernel takes whole drains without a turn of the loop.
    if (clock.monotonicMs() - turnMs <= TURN_MS) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    turnMs = clock.monotonicMs();
    if (turnMs > deadlineMs) {
      giveUp(output, options);
      return bytes;
    }
  }
  output.end();
  return bytes;
}

function giveUp(output: Writable, options: SendOptions): void {
  if (output.destroyed) return;
  options.onStalledReader();
  output.destroy();
}

/** Pages yield a line or an element at a time; written one by one they would cost a call each. */
function* joinSmall(pieces: Iterable<string | Uint8Array>): Generator<string | Uint8Array> {
  let joined = '';
  for (const piece of pieces) {
    if (typeof piece === 'string') joined += piece;
    if (joined.length >= CHUNK_CHARACTERS || (typeof piece !== 'string' && joined !== '')) {
      yield joined;
      joined = '';
    }
    if (typeof piece !== 'string') yield piece;
  }
  if (joined !== '') yield joined;
}

/** False when the client left or took nothing for too long. */
async function untilDrained(output: Writable, options: SendOptions): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const finish = (drained: boolean) => {
      timer.cancel();
      output.off('drain', onDrain);
      output.off('close', onClose);
      resolve(drained);
    };
    const onDrain = () => finish(true);
    const onClose = () => finish(false);
    const timer = options.clock.after(options.limits.stalledReaderMs, onClose, { unref: true });
    output.on('drain', onDrain);
    output.on('close', onClose);
  });
}

/** Ends a generator that will not be read, so that it lets go of what it holds. */
async function closeBody(body: AdminBody): Promise<void> {
  if (typeof body === 'string' || body instanceof Uint8Array) return;
  const iterator =
    Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  await iterator.return?.();
}
