/**
 * Writes an answer with Envoy's headers, in its order, chunk by chunk with back-pressure. Pages
 * are made while they are sent, in turns of the loop that all of them share, and only as long as
 * their client is there. A client that stops reading is closed after a limit, so that a page never
 * grows in memory.
 */
import type { Writable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Clock } from '../../../shared/process/clock.ts';
import type { LoopTurns } from '../../loop/loop-turns.ts';
import type { AdminBody, AdminResponse } from '../../http-pages/admin-response.ts';
import type { AdminLimits } from './admin-limits.ts';
import type { AdminExchange, AnswerFields } from './exchange.ts';
import type { Place } from './large-page-gate.ts';
import { TEXT } from './responses.ts';

export const SERVER_NAME = 'sluice';

/** Pieces are joined up to this many bytes before they are written. */
const CHUNK_BYTES = 64 * 1024;
/** What is written between two looks at the clock, which costs as much as a line. */
const BYTES_PER_PAUSE = 8 * 1024;
/** A place to pause at. */
const NOTHING = new Uint8Array();

export interface SendOptions {
  readonly clock: Clock;
  readonly turns: LoopTurns;
  readonly limits: AdminLimits;
  readonly isHead: boolean;
  /** The place in a large page. */
  readonly place?: Place | undefined;
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
  const { body, isGzipped = false } = response;
  // It may have left while the answer was made; nothing tells of that again.
  if (exchange.output.destroyed) {
    await closeBody(body);
    return 0;
  }
  exchange.sendHead(response.status, headOf(response, options.clock));
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
  exchange.flushHead();
  const limited = { ...options, deadlineMs };
  if (Symbol.asyncIterator in body) return await sendEvents(output, body, limited);
  return isGzipped
    ? await sendGzipped(output, body, limited)
    : await sendPage(output, body, limited);
}

function headOf(response: AdminResponse, clock: Clock): AnswerFields {
  return Object.entries({
    'content-type': response.contentType ?? TEXT,
    'cache-control': 'no-cache, max-age=0',
    'x-content-type-options': 'nosniff',
    ...response.headers,
    ...(response.isGzipped === true
      ? { 'content-encoding': 'gzip', vary: 'accept-encoding' }
      : undefined),
    date: new Date(clock.wallMs()).toUTCString(),
    server: SERVER_NAME,
  });
}

interface ChunkOptions extends SendOptions {
  /** A time of CLOCK_MONOTONIC, in milliseconds. */
  readonly deadlineMs: number;
}

/** Each event is sent as it comes. */
async function sendEvents(
  output: Writable,
  body: AsyncIterable<string | Uint8Array>,
  options: ChunkOptions,
): Promise<number> {
  const { clock, deadlineMs } = options;
  const iterator = body[Symbol.asyncIterator]();
  let bytes = 0;
  try {
    for (;;) {
      const event = await nextEvent(iterator, output);
      if (event === undefined || output.destroyed) return bytes;
      if (event.done === true) break;
      bytes += event.value.length;
      if ((await write(output, event.value, options)) && clock.monotonicMs() <= deadlineMs)
        continue;
      giveUp(output, options);
      return bytes;
    }
    output.end();
    return bytes;
  } finally {
    // A source that has nothing to say for long learns it when it has: nobody waits for that.
    iterator.return?.().catch(() => undefined);
  }
}

/** Undefined when the client leaves before there is one. */
async function nextEvent<Event>(
  iterator: AsyncIterator<Event>,
  output: Writable,
): Promise<IteratorResult<Event> | undefined> {
  return await new Promise((resolve, reject) => {
    const onClose = (): void => resolve(undefined);
    output.once('close', onClose);
    iterator
      .next()
      .then(resolve, reject)
      .finally(() => output.off('close', onClose));
  });
}

/** Makes a page step by step while it is sent. */
async function sendPage(
  output: Writable,
  body: Iterable<string | Uint8Array>,
  options: ChunkOptions,
): Promise<number> {
  const { clock, turns, deadlineMs } = options;
  let bytes = 0;
  // New memory for each chunk would cost more than what is written into it.
  let spare: Buffer | undefined;
  let taken: Buffer | undefined;
  const take = (): Buffer => {
    taken = spare ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
    spare = undefined;
    return taken;
  };
  for (const chunk of joined(body, take)) {
    if (turns.isOver) {
      await turns.next();
      if (output.destroyed) return bytes;
    }
    if (chunk.length === 0) continue;
    bytes += chunk.length;
    const own = chunk.buffer === taken?.buffer ? taken : undefined;
    const isSent = await write(output, chunk, options, () => {
      spare = own;
    });
    if (isSent && clock.monotonicMs() <= deadlineMs) continue;
    giveUp(output, options);
    return bytes;
  }
  output.end();
  return bytes;
}

/** Pieces are a line or an element at a time; written one by one they would cost a call each. */
function* joined(
  pieces: Iterable<string | Uint8Array>,
  take: () => Buffer,
): Generator<Uint8Array<ArrayBufferLike>> {
  let buffer = take();
  let length = 0;
  let sincePause = 0;
  for (const piece of pieces) {
    // As UTF-8 a text may be three times as long.
    const most = typeof piece === 'string' ? 3 * piece.length : piece.length;
    if (length > 0 && length + most > CHUNK_BYTES) {
      yield buffer.subarray(0, length);
      buffer = take();
      length = 0;
    }
    if (most > CHUNK_BYTES) {
      yield typeof piece === 'string' ? Buffer.from(piece) : piece;
    } else if (most > 0) {
      length +=
        typeof piece === 'string' ? buffer.write(piece, length) : fill(buffer, piece, length);
    }
    sincePause += most;
    if (most > 0 && sincePause < BYTES_PER_PAUSE) continue;
    yield NOTHING;
    sincePause = 0;
  }
  yield buffer.subarray(0, length);
}

function fill(buffer: Uint8Array, bytes: Uint8Array, at: number): number {
  buffer.set(bytes, at);
  return bytes.length;
}

/** Resolves with the bytes that were sent. */
async function sendGzipped(
  output: Writable,
  body: Iterable<string | Uint8Array>,
  options: ChunkOptions,
): Promise<number> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  let bytes = 0;
  gzip.on('data', (chunk: Buffer) => (bytes += chunk.length));
  gzip.on('error', () => output.destroy());
  const onClose = (): void => void gzip.destroy();
  output.once('close', onClose);
  gzip.pipe(output);
  try {
    await sendPage(gzip, body, options);
    if (gzip.destroyed) output.destroy();
    else await new Promise<void>((resolve) => gzip.once('close', resolve));
    return bytes;
  } catch (error) {
    gzip.destroy();
    throw error;
  }
}

/** False when the client left or took nothing for too long. */
async function write(
  output: Writable,
  chunk: string | Uint8Array,
  options: ChunkOptions,
  onWritten?: () => void,
): Promise<boolean> {
  if (output.write(chunk, onWritten)) return true;
  if (output.destroyed) return false;
  const { place } = options;
  place?.pause(() => giveUp(output, options));
  try {
    return await untilDrained(output, options);
  } finally {
    place?.resume();
  }
}

function giveUp(output: Writable, options: SendOptions): void {
  if (output.destroyed) return;
  options.onStalledReader();
  output.destroy();
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
