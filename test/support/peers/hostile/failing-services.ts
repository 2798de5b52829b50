/** Hosts of services that fail, each in one way, for callers by HTTP/1.1 and by gRPC. */
import { once } from 'node:events';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { CLOSED_PORT } from '../upstream.ts';
import { ANSWER_HEAD, frame, grpcMessage, readFrames, sendAll } from './hostile-control-plane.ts';

export type Protocol = 'http' | 'grpc';

/** How a host fails once it has a request. */
export const FAILURES = [
  'refused',
  'silent',
  'half',
  'reset',
  'garbage',
  'nonsense',
  'endless-body',
  'endless-headers',
  'drip',
] as const;
export type Failure = (typeof FAILURES)[number];

export interface FailingService {
  readonly port: number;
  /** Requests that have come. */
  asked(): number;
  /** Bytes that callers have taken. */
  taken(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

const CHUNK = Buffer.alloc(64 * 1024, 0x61);
/** A GiB is announced; who takes a 64th of it gets no more. */
const GIB = 1024 * 1024 * 1024;
const ENDLESS_CHUNKS = 256;
const DRIP_MS = 20;
const HEADERS = 1;
const CONTINUATION = 9;
const SETTINGS = frame(4, 0, 0);
const NONSENSE = Buffer.from('ffff7b22fe00', 'hex');

const HEAD = 'HTTP/1.1 200 OK\r\n';
const FIELD = `x-filler: ${'v'.repeat(1000)}\r\n`;

function* chunks(piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < ENDLESS_CHUNKS; at++) yield piece;
}

/** One byte after the other, until the other side has gone. */
function drip(to: Socket | ServerHttp2Stream, piece: string): void {
  const timer = setInterval(() => {
    if (to.destroyed) clearInterval(timer);
    else to.write(piece);
  }, DRIP_MS);
  to.once('close', () => clearInterval(timer));
}

type Answer<To> = (to: To) => unknown;

const BY_HTTP: Readonly<Record<Exclude<Failure, 'refused'>, Answer<Socket>>> = {
  silent: () => undefined,
  half: (socket) => socket.end(`${HEAD}content-length: 100\r\n\r\n{"half`),
  reset: (socket) => socket.resetAndDestroy(),
  garbage: (socket) => socket.write(Buffer.alloc(10_000, 0xff)),
  nonsense: (socket) =>
    socket.write(`${HEAD}content-length: ${NONSENSE.length}\r\n\r\n${NONSENSE.toString('latin1')}`),
  'endless-body': (socket) => {
    socket.write(`${HEAD}content-length: ${GIB}\r\n\r\n`);
    return sendAll(socket, chunks(CHUNK));
  },
  'endless-headers': (socket) => {
    socket.write(HEAD);
    return sendAll(socket, chunks(Buffer.from(FIELD)));
  },
  drip: (socket) => {
    socket.write(`${HEAD}content-length: 100000\r\n\r\n`);
    drip(socket, '{');
  },
};

/** Answers within the rules of HTTP/2; the others are below. */
const BY_STREAM: Partial<Record<Failure, Answer<ServerHttp2Stream>>> = {
  silent: () => undefined,
  half: (stream) => {
    respond(stream);
    stream.write(grpcMessage(Buffer.alloc(10), 1000), () => stream.session?.destroy());
  },
  reset: (stream) => stream.close(2),
  nonsense: (stream) => {
    respond(stream);
    stream.end(grpcMessage(NONSENSE));
  },
  'endless-body': (stream) => {
    respond(stream);
    stream.write(grpcMessage(Buffer.alloc(0), GIB));
    return sendAll(stream, chunks(CHUNK));
  },
  drip: (stream) => {
    respond(stream);
    stream.write(grpcMessage(Buffer.alloc(0), 100_000));
    drip(stream, 'x');
  },
};

function respond(stream: ServerHttp2Stream): void {
  const head = { ':status': 200, 'content-type': 'application/grpc' };
  stream.respond(head, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
}

const BY_FRAMES: Partial<Record<Failure, (socket: Socket, stream: number) => unknown>> = {
  garbage: (socket) => socket.write(Buffer.alloc(10_000, 0xff)),
  'endless-headers': (socket, stream) => {
    socket.write(frame(HEADERS, 0, stream, ANSWER_HEAD));
    const field = Buffer.from([0, 1, 0x61, 1, 0x62]);
    return sendAll(socket, chunks(frame(CONTINUATION, 0, stream, field)));
  },
};

/** `asked` counts requests. */
function serve(
  failure: Exclude<Failure, 'refused'>,
  protocol: Protocol,
  asked: () => void,
): Server {
  if (protocol === 'http') {
    return createServer((socket) => {
      let seen = '';
      socket.on('data', (data: Buffer) => {
        seen += data.toString('latin1');
        if (!seen.includes('\r\n\r\n')) return;
        seen = '';
        asked();
        void BY_HTTP[failure](socket);
      });
    });
  }
  const byFrames = BY_FRAMES[failure];
  if (byFrames !== undefined) {
    return createServer((socket) => {
      socket.write(SETTINGS);
      readFrames(socket, (type, _, stream) => {
        if (type !== HEADERS) return;
        asked();
        void byFrames(socket, stream);
      });
    });
  }
  const server = createHttp2Server();
  server.on('sessionError', () => undefined);
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    stream.resume();
    asked();
    void BY_STREAM[failure]?.(stream);
  });
  return server;
}

export async function startFailing(failure: Failure, protocol: Protocol): Promise<FailingService> {
  const none = (): number => 0;
  if (failure === 'refused') {
    const close = (): Promise<void> => Promise.resolve();
    return { port: CLOSED_PORT, asked: none, taken: none, [Symbol.asyncDispose]: close };
  }
  let asked = 0;
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = serve(failure, protocol, () => asked++);
  server.on('connection', (socket: Socket) => {
    socket.setMaxListeners(0);
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      sockets.delete(socket);
      taken += socket.bytesWritten;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => asked,
    taken: () => [...sockets].reduce((sum, { bytesWritten }) => sum + bytesWritten, taken),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
