/**
 * The admin listener: node's HTTP server made to behave as the reference's. Owns the connections
 * and what HTTP itself demands; paths, methods and pages are the router's.
 */
import { STATUS_CODES, createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../shared/clock.ts';
import type { AdminLogEntry } from './access-log/admin-log-format.ts';
import type { AdminResponse } from './admin-context.ts';
import type { AdminRouter } from './admin-router.ts';
import { ADMIN_LIMITS } from './http/admin-limits.ts';
import type { AdminLimits } from './http/admin-limits.ts';
import type { AdminStats } from './http/admin-stats.ts';
import { LargePageGate } from './http/large-page-gate.ts';
import { readBody } from './http/read-body.ts';
import { refuseHead, renderRefusal, statusOfParserError } from './http/refusals.ts';
import type { ParserError } from './http/refusals.ts';
import { parseRequestTarget } from './http/request-target.ts';
import { textResponse } from './http/responses.ts';
import { SERVER_NAME, sendResponse } from './http/send-response.ts';

export interface AdminServerParts {
  readonly router: AdminRouter;
  readonly stats: AdminStats;
  readonly clock: Clock;
  readonly limits?: AdminLimits;
  /** Absent: everybody may. */
  readonly mayConnect?: (socket: Socket) => boolean;
  /** Called after each answer, for the admin's access log. */
  readonly onAnswered?: (entry: AdminLogEntry) => void;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Told the status before the body is made. */
  readonly answers: (status: number) => void;
}

/** One HTTP server per listening address; all of them share the parts and their limits. */
export class AdminServer {
  readonly #parts: AdminServerParts;
  readonly #limits: AdminLimits;
  readonly #gate: LargePageGate;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  /** Connections so far: what each is called in the log. */
  #connections = 0;
  readonly #ids = new WeakMap<Duplex, number>();
  /** The answer that each connection is working on. */
  readonly #answering = new Map<Duplex, ServerResponse>();

  constructor(parts: AdminServerParts) {
    this.#parts = parts;
    this.#limits = parts.limits ?? ADMIN_LIMITS;
    this.#gate = new LargePageGate(this.#limits, parts.clock);
  }

  /** A server that is not listening yet; `bindAdmin` makes it listen. */
  addServer(): Server {
    const limits = this.#limits;
    const server = createServer({
      maxHeaderSize: limits.headerBytes,
      // A missing Host is answered below, with the reference's headers instead of node's.
      requireHostHeader: false,
      headersTimeout: limits.headersMs,
      requestTimeout: 0,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: 5000,
    });
    // The count is checked below; node itself would drop fields silently.
    server.maxHeadersCount = limits.headerFields + 1;
    const serve = (request: IncomingMessage, response: ServerResponse) => {
      void this.#serve(request, response);
    };
    server.on('connection', (socket: Socket) => this.#accept(socket));
    server.on('request', serve);
    server.on('checkExpectation', serve);
    server.on('clientError', (error: Error & ParserError, socket) =>
      this.#refuse(socket, statusOfParserError(error)),
    );
    server.on('connect', (request: IncomingMessage, socket) =>
      this.#refuse(socket, request.url?.startsWith('/') === true ? 400 : 404),
    );
    this.#servers.push(server);
    return server;
  }

  /** Stops listening and ends every connection. */
  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops listening; connections that are open go on. A parent epoch does this for its child. */
  stopListening(): void {
    for (const server of this.#servers) server.close();
  }

  #accept(socket: Socket): void {
    if (this.#parts.mayConnect?.(socket) === false) {
      socket.destroy();
      return;
    }
    if (this.#sockets.size >= this.#limits.connections) {
      this.#parts.stats.overLimit();
      socket.end(renderRefusal(503, this.#parts.clock));
      socket.destroySoon();
      return;
    }
    this.#sockets.add(socket);
    this.#ids.set(socket, this.#connections);
    this.#connections += 1;
    const closed = this.#parts.stats.connectionOpened(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      closed();
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    const { clock } = this.#parts;
    const begun = { startMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
    const counted = this.#parts.stats.requestBegun(socket);
    this.#answering.set(socket, response);
    const bodyOrFailure = await readBody(request, this.#limits.bodyBytes);
    const refused = this.#refusalOf(request, bodyOrFailure);
    let bytesSent = 0;
    if (refused !== undefined) {
      bytesSent = this.#sendBare(response, refused);
    } else if (typeof bodyOrFailure === 'string') {
      const answers = (status: number): void => counted.answers(status);
      bytesSent = await this.#answer({ request, response, answers }, bodyOrFailure);
    }
    this.#answering.delete(socket);
    const isGone = refused === undefined && typeof bodyOrFailure !== 'string';
    counted.ended(isGone ? 0 : response.statusCode);
    this.#parts.onAnswered?.({
      ...(refused === undefined ? describeRequest(request) : describeRefused(request.socket)),
      connectionId: this.#ids.get(socket) ?? 0,
      startMs: begun.startMs,
      durationMs: Math.round(clock.monotonicMs() - begun.monotonicMs),
      status: isGone ? 0 : response.statusCode,
      flags: isGone ? 'DC' : refused === undefined ? '-' : 'DPE',
      bytesReceived: typeof bodyOrFailure === 'string' ? bodyOrFailure.length : 0,
      bytesSent,
    });
  }

  /** Returns the bytes of the body. */
  async #answer(exchange: Exchange, body: string): Promise<number> {
    const { request, response } = exchange;
    const target = request.url ?? '/';
    const isLarge = this.#parts.router.isLarge(target);
    if (isLarge && !(await this.#gate.enter())) {
      this.#parts.stats.overLimit();
      return await this.#send(exchange, textResponse('too many large pages at once\n', 503));
    }
    try {
      const answer = await this.#parts.router.answer({
        method: request.method ?? 'GET',
        target,
        headers: request.headers,
        body,
        client: describeClient(request.socket),
      });
      return answer === undefined
        ? this.#sendBare(response, { status: 404, close: false })
        : await this.#send(exchange, answer);
    } catch {
      // A generator failed in the middle of a page: the client must see that it is not whole.
      response.destroy();
      return 0;
    } finally {
      if (isLarge) this.#gate.leave();
    }
  }

  async #send({ request, response, answers }: Exchange, answer: AdminResponse): Promise<number> {
    answers(answer.status);
    return await sendResponse(response, answer, {
      clock: this.#parts.clock,
      limits: this.#limits,
      isHead: request.method === 'HEAD',
      onStalledReader: () => this.#parts.stats.stalledReaderClosed(),
    });
  }

  /** What is parsed, but refused before any page is looked for. */
  #refusalOf(
    request: IncomingMessage,
    body: string | { readonly failed: 'too_large' | 'gone' },
  ): { readonly status: number; readonly close: boolean; readonly text?: string } | undefined {
    const close = true;
    if (request.httpVersion !== '1.1') return { status: 426, close, text: 'Upgrade Required' };
    if (request.rawHeaders.length / 2 > this.#limits.headerFields) {
      return { status: 431, close, text: 'Request Header Fields Too Large' };
    }
    const coding = request.headers['transfer-encoding'];
    if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
      return { status: 501, close, text: 'Not Implemented' };
    }
    const bad = refuseHead(request);
    if (bad !== undefined) return { status: 400, close, text: bad };
    if (typeof body !== 'string' && body.failed === 'too_large') {
      return { status: 413, close, text: 'Payload Too Large' };
    }
    return undefined;
  }

  /** The reference's answers from below its router: few headers, a length instead of chunks. */
  #sendBare(
    response: ServerResponse,
    refusal: { readonly status: number; readonly close: boolean; readonly text?: string },
  ): number {
    const text = refusal.text ?? '';
    response.statusCode = refusal.status;
    response.sendDate = false;
    if (text !== '') {
      response.setHeader('content-length', text.length);
      response.setHeader('content-type', 'text/plain');
    }
    response.setHeader('date', new Date(this.#parts.clock.wallMs()).toUTCString());
    response.setHeader('server', SERVER_NAME);
    const close = refusal.close || !response.shouldKeepAlive;
    if (close) response.setHeader('connection', 'close');
    else response.removeHeader('connection');
    if (text === '') response.setHeader('content-length', 0);
    response.end(text);
    // The unread rest of a refused body must not hold the connection.
    if (refusal.close) response.socket?.destroySoon();
    return text.length;
  }

  /** Ends a connection whose bytes cannot be read on, with an answer where none has begun. */
  #refuse(socket: Duplex, status: number | undefined): void {
    const hasBegun = this.#answering.get(socket)?.headersSent === true;
    if (status === undefined || !socket.writable || hasBegun) {
      socket.destroy();
      return;
    }
    this.#parts.stats.refused(status);
    socket.end(renderRefusal(status, this.#parts.clock));
    this.#parts.onAnswered?.({
      ...describeRefused(socket as Socket),
      connectionId: this.#ids.get(socket) ?? 0,
      startMs: this.#parts.clock.wallMs(),
      durationMs: 0,
      status,
      flags: 'DPE',
      bytesReceived: 0,
      bytesSent: STATUS_CODES[status]?.length ?? 0,
    });
  }
}

function describeRequest(request: IncomingMessage) {
  const target = parseRequestTarget(request.url ?? '/');
  const query = target === undefined || target.query === '' ? '' : `?${target.query}`;
  const headers = Object.entries(request.headers).map(
    ([name, value]) => [name, Array.isArray(value) ? value.join(',') : value] as const,
  );
  return {
    ...describeSocket(request.socket),
    method: request.method ?? '',
    path: target === undefined ? (request.url ?? '') : `${target.path}${query}`,
    headers: Object.fromEntries(headers),
  };
}

/** The reference's codec refuses before it knows what is asked, so its log says nothing of it. */
function describeRefused(socket: Socket) {
  return { ...describeSocket(socket), method: '', path: '', headers: {} };
}

function describeSocket(socket: Socket) {
  return {
    remoteAddress: socket.remoteAddress ?? '-',
    remotePort: socket.remotePort ?? 0,
    localAddress: socket.localAddress ?? '-',
    localPort: socket.localPort ?? 0,
  };
}

function describeClient(socket: Socket): string {
  return socket.remoteAddress === undefined
    ? 'a local socket'
    : `${socket.remoteAddress}:${socket.remotePort ?? 0}`;
}
