/**
 * The admin listener: node's HTTP server made to behave as Envoy's. Owns the connections
 * and what HTTP itself demands; paths, methods and pages are the router's.
 */
import { STATUS_CODES, createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../shared/process/clock.ts';
import type { LoopTurns } from '../loop/loop-turns.ts';
import type { AdminLogEntry } from './access-log/admin-log-format.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import type { AdminRouter } from './admin-router.ts';
import type { AdminLimits } from './http/admin-limits.ts';
import type { AdminStats } from './http/admin-stats.ts';
import { AdminConnections } from './http/admin-connections.ts';
import { LargePageGate, type Place } from './http/large-page-gate.ts';
import type { AdminExchange, Refusal } from './http/exchange.ts';
import { Pipelines } from './http/pipelines.ts';
import { readFirstBytes } from './http/first-bytes.ts';
import { http1Exchange } from './http/http1-exchange.ts';
import { BodyBudget, readBody, type BodyFailure } from './http/read-body.ts';
import { renderRefusal, statusOfParserError } from './http/refusals.ts';
import type { ParserError } from './http/refusals.ts';
import { textResponse } from './http/responses.ts';
import { sendResponse } from './http/send-response.ts';
import { describeRequest, describeRefused, describeClient } from './describe-exchange.ts';

export interface AdminServerParts {
  readonly router: AdminRouter;
  readonly stats: AdminStats;
  readonly clock: Clock;
  readonly turns: LoopTurns;
  readonly limits: AdminLimits;
  /** Absent: everybody may. */
  readonly mayConnect?: (socket: Socket) => boolean;
  /** Called after each answer, for the admin's access log. */
  readonly onAnswered?: (entry: AdminLogEntry) => void;
}

interface Outcome {
  /** 0: the client left before there was one. */
  status: number;
  bytesSent: number;
}

/** `host:port`, which CONNECT asks for. */
const AUTHORITY_FORM = /^[^/*]+:\d+$/;

/** What is answered where a body does not come whole. */
const BODY_REFUSALS: Readonly<Record<Exclude<BodyFailure, 'gone'>, Refusal>> = {
  too_large: { status: 413, close: true, text: 'Payload Too Large' },
  too_many: { status: 503, close: true, text: 'Service Unavailable' },
  too_slow: { status: 408, close: true, text: 'Request Timeout' },
};

/** One HTTP server per listening address; all of them share the parts and their limits. */
export class AdminServer {
  readonly #parts: AdminServerParts;
  readonly #limits: AdminLimits;
  readonly #gate: LargePageGate;
  readonly #servers: Server[] = [];
  readonly #connected: AdminConnections;
  readonly #bodies: BodyBudget;
  /** Connections so far: their names in the log. */
  #connections = 0;
  readonly #ids = new WeakMap<Duplex, number>();
  readonly #pipelines: Pipelines;

  constructor(parts: AdminServerParts) {
    this.#parts = parts;
    this.#limits = parts.limits;
    this.#gate = new LargePageGate(this.#limits, parts.clock);
    this.#connected = new AdminConnections(this.#limits, () => parts.stats.idleClosed());
    this.#bodies = new BodyBudget(this.#limits.allBodyBytes);
    const { clock, limits } = parts;
    this.#pipelines = new Pipelines(limits.pipelinedRequests, ({ request, response }) =>
      this.#serve(http1Exchange(request, response, { clock, limits })),
    );
  }

  /** A server that is not listening yet; `bindAdmin` makes it listen. */
  addServer(): Server {
    const limits = this.#limits;
    const server = createServer({
      maxHeaderSize: limits.headerBytes,
      // A missing Host is answered below, with Envoy's headers instead of node's.
      requireHostHeader: false,
      headersTimeout: Math.min(limits.headersMs, limits.requestMs),
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: 5000,
    });
    // The count is checked below; node itself would drop fields silently.
    server.maxHeadersCount = limits.headerFields + 1;
    const serve = (request: IncomingMessage, response: ServerResponse) => {
      this.#pipelines.receive({ request, response });
    };
    const [serveConnection] = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) =>
      this.#accept(socket, () => void serveConnection?.call(server, socket)),
    );
    server.on('request', serve);
    server.on('checkExpectation', serve);
    server.on('clientError', (error: Error & ParserError, socket) =>
      this.#refuse(socket, error, statusOfParserError(error)),
    );
    server.on('connect', (request: IncomingMessage, socket) =>
      this.#refuse(socket, undefined, AUTHORITY_FORM.test(request.url ?? '') ? 404 : 400),
    );
    this.#servers.push(server);
    return server;
  }

  /** Stops listening and ends every connection. */
  close(): void {
    for (const server of this.#servers) server.close();
    this.#connected.closeAll();
  }

  /** Stops listening; connections that are open go on. A parent epoch does this for its child. */
  stopListening(): void {
    for (const server of this.#servers) server.close();
  }

  #accept(socket: Socket, serveHttp1: () => void): void {
    if (this.#parts.mayConnect?.(socket) === false) return void socket.destroy();
    if (!this.#connected.admit(socket)) {
      this.#parts.stats.overLimit();
      socket.end(renderRefusal(503, this.#parts.clock));
      socket.destroySoon();
      return;
    }
    this.#ids.set(socket, this.#connections);
    this.#connections += 1;
    const counted = this.#parts.stats.connectionOpened(socket);
    const silence = this.#parts.clock.after(
      this.#limits.headersMs,
      () => this.#refuse(socket, undefined, 408),
      { unref: true },
    );
    socket.on('error', () => undefined);
    socket.once('close', () => {
      silence.cancel();
      this.#connected.closed(socket);
      counted.closed();
    });
    readFirstBytes(socket, (protocol) => {
      silence.cancel();
      counted.speaks(protocol);
      if (protocol === 'HTTP/2') {
        void this.#serveHttp2(socket);
        return;
      }
      serveHttp1();
      socket.resume();
    });
  }

  /** Node's HTTP/2 costs memory that most servers never need. */
  async #serveHttp2(socket: Socket): Promise<void> {
    const { serveHttp2 } = await import('./http/http2-exchange.ts');
    if (socket.destroyed) return;
    const serve = (exchange: AdminExchange): void => void this.#serve(exchange);
    serveHttp2(socket, { clock: this.#parts.clock, limits: this.#limits, serve });
  }

  async #serve(exchange: AdminExchange): Promise<void> {
    const { clock } = this.#parts;
    const begun = { startMs: clock.wallMs(), monotonicMs: clock.monotonicMs() };
    const counted = this.#parts.stats.requestBegun(exchange.socket, exchange.protocol);
    const body = await readBody(exchange.input, {
      clock,
      bytes: this.#limits.bodyBytes,
      ms: this.#limits.requestMs,
      budget: this.#bodies,
    });
    this.#connected.requestBegun(exchange.socket);
    const refused = exchange.refusal() ?? refusalOf(body);
    const isGone = refused === undefined && typeof body !== 'string';
    const outcome: Outcome = { status: 0, bytesSent: 0 };
    if (refused !== undefined) {
      outcome.status = refused.status;
      outcome.bytesSent = exchange.sendBare(refused);
    } else if (typeof body === 'string') {
      await this.#answer(exchange, body, (status) => {
        outcome.status = status;
        counted.answers(status);
      }).then((bytes) => (outcome.bytesSent = bytes));
    }
    this.#connected.requestEnded(exchange.socket);
    counted.ended(outcome.status);
    this.#parts.onAnswered?.({
      ...(refused === undefined ? describeRequest(exchange) : describeRefused(exchange.socket)),
      protocol: exchange.protocol,
      connectionId: this.#ids.get(exchange.socket) ?? 0,
      startMs: begun.startMs,
      durationMs: Math.round(clock.monotonicMs() - begun.monotonicMs),
      status: outcome.status,
      flags: isGone ? 'DC' : refused === undefined ? '-' : 'DPE',
      bytesReceived: typeof body === 'string' ? body.length : 0,
      bytesSent: outcome.bytesSent,
    });
  }

  /** Returns the bytes of the body. */
  async #answer(
    exchange: AdminExchange,
    body: string,
    answers: (status: number) => void,
  ): Promise<number> {
    const { method, target, headers } = exchange;
    const send = async (answer: AdminResponse, place?: Place): Promise<number> => {
      answers(answer.status);
      return await this.#send(exchange, answer, place);
    };
    const isLarge = this.#parts.router.isLarge(target);
    if (isLarge && this.#connected.isReserved(exchange.socket)) {
      this.#parts.stats.overLimit();
      return await send(textResponse('too many connections at once\n', 503));
    }
    const place = isLarge ? await this.#gate.enter(exchange.output) : undefined;
    if (place === 'gone') return 0;
    if (place === 'refused') {
      this.#parts.stats.overLimit();
      return await send(textResponse('too many large pages at once\n', 503));
    }
    try {
      // One that waited for its place may come in the middle of another's turn.
      if (isLarge) await this.#parts.turns.next();
      const client = describeClient(exchange.socket);
      const answer = await this.#parts.router.answer({ method, target, headers, body, client });
      if (answer !== undefined) return await send(answer, place);
      answers(404);
      return exchange.sendBare({ status: 404, close: false });
    } catch {
      // A generator failed in the middle of a page: the client must see that it is not whole.
      exchange.output.destroy();
      return 0;
    } finally {
      place?.leave();
    }
  }

  async #send(exchange: AdminExchange, answer: AdminResponse, place?: Place): Promise<number> {
    return await sendResponse(exchange, answer, {
      clock: this.#parts.clock,
      turns: this.#parts.turns,
      limits: this.#limits,
      isHead: exchange.method === 'HEAD',
      place,
      onStalledReader: () => this.#parts.stats.stalledReaderClosed(),
    });
  }

  /**
   * Ends a connection whose bytes cannot be read on, with an answer where none has begun. Requests
   * that came whole before those bytes are answered first.
   */
  #refuse(socket: Duplex, error: ParserError | undefined, status: number | undefined): void {
    const answering = this.#pipelines.newest(socket);
    if (status === undefined || !socket.writable) {
      socket.destroy();
      return;
    }
    if (answering?.request.complete === true) {
      // Behind a request that closes the connection nothing is read, and nothing is wrong.
      if (error?.code === 'HPE_CLOSED_CONNECTION') return;
      answering.response.once('close', () => this.#refuse(socket, error, status));
      return;
    }
    if (answering?.response.headersSent === true) socket.destroy();
    else this.#sendRefusal(socket, status);
  }

  #sendRefusal(socket: Duplex, status: number): void {
    this.#parts.stats.refused(status);
    socket.end(renderRefusal(status, this.#parts.clock));
    this.#parts.onAnswered?.({
      ...describeRefused(socket as Socket),
      protocol: 'HTTP/1.1',
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

function refusalOf(body: Awaited<ReturnType<typeof readBody>>): Refusal | undefined {
  return typeof body === 'string' || body.failed === 'gone'
    ? undefined
    : BODY_REFUSALS[body.failed];
}
