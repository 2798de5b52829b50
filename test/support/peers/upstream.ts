/** Upstreams for tests: a scripted HTTP server, and a raw one that records every byte. */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';

/** Nobody listens there, and nobody is given it in place of a port that was closed. */
export const CLOSED_PORT = 1;

interface Upstream {
  readonly port: number;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface HttpUpstream extends Upstream {
  /** Requests seen, in order of arrival: method, target, headers as sent, body. */
  readonly requests: readonly SeenRequest[];
}

interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly rawHeaders: readonly string[];
  readonly headers: IncomingMessage['headers'];
  body: string;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers each request through `handler`; by default 200 with the body `hello`. */
export async function startHttpUpstream(
  handler: Handler = (_, response) => response.end('hello'),
): Promise<HttpUpstream> {
  const requests: SeenRequest[] = [];
  const server = createHttpServer((request, response) => {
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      rawHeaders: request.rawHeaders,
      headers: request.headers,
      body: '',
    };
    requests.push(seen);
    request.on('data', (chunk: Buffer) => (seen.body += chunk.toString('latin1')));
    handler(request, response);
  });
  server.keepAliveTimeout = 60_000;
  return { requests, ...(await listening(server)) };
}

export interface RawUpstream extends Upstream {
  /** Bytes received per connection, in order of acceptance, as latin1. */
  readonly received: readonly string[];
}

/** Calls `onConnection` for each connection; it writes whatever it likes. */
export async function startRawUpstream(
  onConnection: (socket: Socket, receivedSoFar: () => string) => void,
): Promise<RawUpstream> {
  const received: string[] = [];
  const server = createTcpServer((socket) => {
    const index = received.push('') - 1;
    socket.on('data', (chunk) => (received[index] += chunk.toString('latin1')));
    socket.on('error', () => socket.destroy());
    onConnection(socket, () => received[index] ?? '');
  });
  return { received, ...(await listening(server)) };
}

async function listening(server: Server): Promise<Upstream> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, close, [Symbol.asyncDispose]: close };
}
