/**
 * HTTP/2 with prior knowledge on the admin listener: a session over a connection whose first bytes
 * are HTTP/2's, and its streams as exchanges. Loaded with the first such connection.
 */
import { performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { hasHungUp } from '../../../shared/posix/hung-up.ts';
import type { Clock, Timer } from '../../../shared/process/clock.ts';
import { holdSession } from '../../../shared/process/http2-memory.ts';
import type { AdminLimits } from './admin-limits.ts';
import type { AdminExchange, AnswerFields, Refusal } from './exchange.ts';
import { refuseHead } from './refusals.ts';
import { SERVER_NAME } from './send-response.ts';

export interface Http2Parts {
  readonly clock: Clock;
  readonly limits: AdminLimits;
  readonly serve: (exchange: AdminExchange) => void;
}

/** Besides the fields that a client chooses: method, path, scheme, authority. */
const PSEUDO_FIELDS = 4;
/** How often it is asked whether a client is still there. */
const END_PERIOD_MS = 1000;

/** Serves the connection, whose first bytes are in its buffer. Ends with it. */
export function serveHttp2(socket: Socket, { clock, limits, serve }: Http2Parts): void {
  // A client may close without a word of HTTP/2; node's HTTP/1 keeps its half of a connection open.
  socket.allowHalfOpen = false;
  const session = performServerHandshake(socket, {
    maxHeaderListPairs: limits.headerFields + PSEUDO_FIELDS,
    settings: {
      maxConcurrentStreams: limits.streamsPerConnection,
      maxHeaderListSize: limits.headerBytes,
      enablePush: false,
    },
  });
  // What a client does wrong ends its connection or stream, and is nobody's concern here.
  session.on('error', () => undefined);
  const watched = { clock, periodMs: limits.stalledReaderMs };
  const idle = new IdleSession(session, clock, limits.idleMs);
  const timers = [watchAnswers(session, socket, watched), watchEnd(socket, clock), idle];
  socket.once('close', () => timers.forEach((timer) => timer.cancel()));
  session.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    idle.began(stream);
    holdSession(stream, session);
    serve(http2Exchange({ stream, headers, socket, clock }));
  });
}

/**
 * Closes a session that has had no stream for a while. The library's own timeout is not cancelled
 * when a session ends otherwise: it would keep the session, and its memory, until it is due.
 */
class IdleSession {
  readonly #arm: () => void;
  #timer: Timer | undefined;
  #streams = 0;
  #isOver = false;

  constructor(session: ServerHttp2Session, clock: Clock, idleMs: number) {
    this.#arm = () => {
      if (this.#isOver) return;
      this.#timer = clock.after(idleMs, () => session.close(), { unref: true });
    };
    this.#arm();
  }

  began(stream: ServerHttp2Stream): void {
    this.#streams++;
    this.#timer?.cancel();
    stream.once('close', () => {
      this.#streams--;
      if (this.#streams === 0) this.#arm();
    });
  }

  cancel(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }
}

/**
 * Closes a connection that answers no ping. After some violations of the protocol the library has
 * said goodbye and reads no more, and tells nobody.
 */
function watchAnswers(
  session: ServerHttp2Session,
  socket: Socket,
  { clock, periodMs }: { readonly clock: Clock; readonly periodMs: number },
): Timer {
  let isAnswered = true;
  return clock.every(
    periodMs,
    () => {
      if (!isAnswered) return void socket.destroy();
      isAnswered = false;
      session.ping((error) => {
        isAnswered = error === null;
      });
    },
    { unref: true },
  );
}

/** Closes a connection whose client has left where the library does not read that it has. */
function watchEnd(socket: Socket, clock: Clock): Timer {
  // Node keeps the descriptor to itself.
  const fd = (socket as { readonly _handle?: { readonly fd?: number } })._handle?.fd ?? -1;
  let hasEnded = false;
  return clock.every(
    END_PERIOD_MS,
    () => {
      // What came before the end is usually read in between.
      if (hasEnded) return void socket.destroy();
      hasEnded = fd >= 0 && hasHungUp(fd);
    },
    { unref: true },
  );
}

interface Http2Message {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
  readonly clock: Clock;
}

function http2Exchange({ stream, headers, socket, clock }: Http2Message): AdminExchange {
  const { ':authority': authority, ':method': method = '', ':path': target = '' } = headers;
  const named = Object.fromEntries(Object.entries(headers).filter(([name]) => name[0] !== ':'));
  const host = authority ?? (typeof headers['host'] === 'string' ? headers['host'] : undefined);
  const isGone = (): boolean => stream.destroyed || stream.closed;
  const sendHead = (status: number, answer: AnswerFields): void => {
    if (!isGone()) stream.respond({ ':status': status, ...Object.fromEntries(answer) });
  };
  return {
    protocol: 'HTTP/2',
    socket,
    method,
    target,
    headers: { ...named, host },
    input: stream,
    output: stream,
    refusal: () => refusalOf(method, target, host),
    sendHead,
    flushHead: () => undefined,
    sendBare: ({ status, text = '' }) => {
      const type: AnswerFields = text === '' ? [] : [['content-type', 'text/plain']];
      sendHead(status, [
        ...type,
        ['content-length', String(text.length)],
        ['date', new Date(clock.wallMs()).toUTCString()],
        ['server', SERVER_NAME],
      ]);
      if (!isGone()) stream.end(text);
      return text.length;
    },
  };
}

function refusalOf(method: string, url: string, host: string | undefined): Refusal | undefined {
  const bad = refuseHead({ method, url, host });
  return bad === undefined ? undefined : { status: 400, close: false, text: bad };
}
