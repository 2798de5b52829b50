/**
 * Requests to hosts of a control plane, one after the other, over connections that stay open:
 * HTTP/1.1, or HTTP/2 where the cluster says so. A connection that the host closed meanwhile is
 * opened again.
 */
import { once } from 'node:events';
import { Agent, request, type ClientRequest, type OutgoingHttpHeaders } from 'node:http';
import type { ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { CollectedBytes } from '../../shared/bytes/collected-bytes.ts';
import { localAddress } from '../../shared/addresses/local-address.ts';
import type { HostAddress } from '../../shared/resources/clusters/cluster.ts';
import { http2Module } from '../../shared/process/http2-memory.ts';
import type { PickedHost } from './control-plane-clusters.ts';
import type { OwnRequest } from './own-request-stats.ts';

export interface RestQuestion {
  /** `host` or `:authority`. */
  readonly authority: string;
  readonly path: string;
  /** JSON, unless `headers` say otherwise. */
  readonly body: string | Buffer;
  /** Replace those of a question to a control plane; the body then goes in chunks. */
  readonly headers?: OutgoingHttpHeaders;
  readonly signal: AbortSignal;
  /** What `signal` leaves, for the other side to know. */
  readonly timeoutMs: number;
  /** Told when it has a connection, and of the head of its answer. */
  readonly request: Pick<OwnRequest, 'sent' | 'answered'>;
}

export interface RestAnswer {
  readonly status: number;
  readonly content: Buffer;
}

const LIMIT_BYTES = 256 * 1024 * 1024;
/** A connection that nobody used for so long is closed: its host may be gone. */
const IDLE_MS = 60_000;

export class RestClient {
  readonly #agents = new Map<string, HostAgent>();
  /** That are open over HTTP/2. */
  #streams = 0;
  #session: OpenSession | undefined;

  async post(host: PickedHost, question: RestQuestion): Promise<RestAnswer> {
    if (host.protocol === 'h2') return this.#ask2(host, question);
    const agent = this.#agentFor(host);
    try {
      return await ask1(agent, question);
    } catch (error) {
      if (!(error instanceof StaleConnectionError)) throw error;
      return await ask1(agent, question);
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#session?.session?.destroy();
  }

  /** The agent of this host alone; those of others go, for their hosts may be gone. */
  #agentFor(host: PickedHost): HostAgent {
    const key = keyOf(host.address);
    for (const [other, agent] of this.#agents) {
      if (other === key || agent.isBusy) continue;
      agent.destroy();
      this.#agents.delete(other);
    }
    const agent = this.#agents.get(key) ?? new HostAgent();
    this.#agents.set(key, agent);
    agent.host = host;
    return agent;
  }

  async #ask2(host: PickedHost, question: RestQuestion): Promise<RestAnswer> {
    const session = await this.#sessionTo(host, question);
    const { authority, path, body, headers, signal, timeoutMs } = question;
    question.request.sent();
    const stream = session.request(
      {
        ':method': 'POST',
        ':path': path,
        ':scheme': host.secure === undefined ? 'http' : 'https',
        ':authority': authority,
        ...ownHeaders(timeoutMs),
        ...headers,
      },
      { signal },
    );
    this.#streams += 1;
    stream.once('close', () => (this.#streams -= 1));
    let status = 0;
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0;
      question.request.answered(status);
    });
    stream.end(body);
    try {
      return { content: await contentOf(stream), status };
    } catch (error) {
      this.#forget(session);
      throw error;
    }
  }

  /**
   * No question is asked on it any more: where the other side breaks the rules of HTTP/2, the
   * runtime neither reads on nor notices the end of the connection.
   */
  #forget(session: ClientHttp2Session): void {
    if (this.#session?.session === session) this.#session = undefined;
    if (this.#streams === 0) session.destroy();
    else session.close();
  }

  async #sessionTo(host: PickedHost, { signal }: RestQuestion): Promise<ClientHttp2Session> {
    const key = keyOf(host.address);
    const known = this.#session;
    if (known?.key === key && isUsable(known.session)) return await known.opening;
    known?.session?.close();
    const opening = this.#open(host, signal);
    const made: OpenSession = { key, opening, session: undefined };
    this.#session = made;
    try {
      made.session = await opening;
      return made.session;
    } catch (error) {
      if (this.#session === made) this.#session = undefined;
      throw error;
    }
  }

  async #open(host: PickedHost, signal: AbortSignal): Promise<ClientHttp2Session> {
    const socket = await connectTo(host, () => this.#streams > 0, signal);
    const session = http2Module().connect('http://control-plane', {
      createConnection: () => socket,
    });
    // What was asked over it says what is wrong.
    session.on('error', () => session.destroy()).on('goaway', () => session.close());
    session.setTimeout(IDLE_MS, () => session.close());
    session.unref();
    return session;
  }
}

/** Questions that come while it is made wait for it too. */
interface OpenSession {
  readonly key: string;
  readonly opening: Promise<ClientHttp2Session>;
  session: ClientHttp2Session | undefined;
}

function isUsable(session: ClientHttp2Session | undefined): boolean {
  return session === undefined || (!session.closed && !session.destroyed);
}

/** The host closed the connection before it had seen the question. */
class StaleConnectionError extends Error {}

class HostAgent extends Agent {
  host: PickedHost | undefined;

  constructor() {
    super({ keepAlive: true, timeout: IDLE_MS });
  }

  get isBusy(): boolean {
    return Object.keys(this.sockets).length > 0;
  }

  isUsing(socket: Socket): boolean {
    return Object.values(this.sockets).some((used) => used?.includes(socket) === true);
  }

  override createConnection(
    options: { readonly signal?: AbortSignal | undefined },
    ready?: (error: Error | null, socket: Socket) => void,
  ): undefined {
    if (this.host === undefined || ready === undefined) throw new Error('there is no host');
    const failed = ready as (error: Error) => void;
    const isBusy = (socket: Socket): boolean => this.isUsing(socket);
    connectTo(this.host, isBusy, options.signal).then((socket) => ready(null, socket), failed);
  }
}

function ask1(
  agent: Agent,
  { authority, path, body, headers, signal, timeoutMs, request: counted }: RestQuestion,
): Promise<RestAnswer> {
  return new Promise((resolve, reject) => {
    const asked: ClientRequest = request(
      {
        agent,
        method: 'POST',
        path,
        signal,
        headers: {
          host: authority,
          ...(headers === undefined
            ? { 'content-length': Buffer.byteLength(body) }
            : { 'transfer-encoding': 'chunked' }),
          ...ownHeaders(timeoutMs),
          ...headers,
        },
      },
      (response) => {
        const { statusCode: status = 0 } = response;
        counted.answered(status);
        contentOf(response).then((content) => resolve({ status, content }), reject);
      },
    );
    // The connection stays open by itself in HTTP/1.1.
    asked.removeHeader('connection');
    asked.on('socket', () => counted.sent());
    asked.on('error', (error) => {
      const isStale = asked.reusedSocket && !signal.aborted;
      reject(isStale ? new StaleConnectionError(error.message, { cause: error }) : error);
    });
    // An upgrade that nobody asked for is no answer, and the runtime closes its connection.
    asked.on('upgrade', (_answer, socket) => {
      socket.destroy();
      reject(new Error('the answer is an upgrade'));
    });
    asked.end(body);
  });
}

/** What Envoy says of every question of its own. */
function ownHeaders(timeoutMs: number): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'x-envoy-internal': 'true',
    'x-forwarded-for': localAddress('v4'),
    'x-envoy-expected-rq-timeout-ms': String(timeoutMs),
  };
}

/** Rejects when the answer breaks off or is too large. */
async function contentOf(answer: AsyncIterable<Buffer>): Promise<Buffer> {
  const content = new CollectedBytes();
  for await (const chunk of answer) {
    if (content.length + chunk.length > LIMIT_BYTES) throw new Error('the answer is too large');
    content.add(chunk);
  }
  return content.joined();
}

function keyOf(address: HostAddress): string {
  return JSON.stringify(address);
}

async function connectTo(
  { address, secure, protocol, stats }: PickedHost,
  isBusy: (socket: Socket) => boolean,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  if (address.kind === 'internal') {
    throw new Error('the host is an internal listener, which only workers reach');
  }
  const target =
    address.kind === 'pipe'
      ? { path: address.path }
      : { host: address.address, port: address.port };
  const socket = connect(target);
  const counted = stats.connection(protocol);
  try {
    // The signal is the question's; the connection outlives it.
    await once(socket, 'connect', signal === undefined ? {} : { signal });
    const made = secure === undefined ? socket : await secure(socket);
    counted.connected(made, () => isBusy(made));
    return made;
  } catch (error) {
    counted.failed();
    socket.destroy();
    throw error;
  }
}
