/** HTTP/2 servers for tests: node's own, and one that writes whatever frames it is told to. */
import {
  createSecureServer,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';

export interface Http2Upstream {
  readonly port: number;
  /** Requests in the order in which they came: their fields as written. */
  readonly requests: readonly (readonly string[])[];
  /** Connections that were ever opened. */
  readonly sessions: readonly ServerHttp2Session[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

type Handler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, index: number) => void;

export interface Http2UpstreamOptions extends ServerOptions {
  /** Over TLS, also to clients of HTTP/1 (`allowHTTP1`). */
  readonly tls?: { readonly cert: string; readonly key: string; readonly allowHTTP1?: boolean };
}

/** Answers each stream through `handler`. */
export async function startHttp2Upstream(
  handler: Handler,
  { tls, ...options }: Http2UpstreamOptions = {},
): Promise<Http2Upstream> {
  const requests: string[][] = [];
  const sessions: ServerHttp2Session[] = [];
  const server =
    tls === undefined ? createServer(options) : createSecureServer({ ...options, ...tls });
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => session.destroy());
  });
  server.on('stream', (stream: ServerHttp2Stream, headers, _, rawHeaders?: string[]) => {
    requests.push(rawHeaders ?? []);
    stream.on('error', () => undefined);
    handler(stream, headers, requests.length - 1);
  });
  if (tls?.allowHTTP1 === true) {
    server.on('request', (request, response) => {
      if (request.httpVersion === '1.1') response.end(`over ${request.httpVersion}`);
    });
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    sessions,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

/** One connection of a host that plays by no rules. */
export interface RawHost {
  readonly socket: Socket;
  readonly frames: readonly Frame[];
  send(...frames: readonly Buffer[]): void;
}

export interface RawHttp2Upstream {
  readonly port: number;
  readonly hosts: readonly RawHost[];
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const PREFACE_BYTES = 24;
const HEADER_BYTES = 9;

/** `onFrame` sees each frame of each connection and writes what it likes. */
export async function startRawHttp2Upstream(
  onFrame: (host: RawHost, frame: Frame) => void,
): Promise<RawHttp2Upstream> {
  const hosts: RawHost[] = [];
  const server = createTcpServer((socket) => {
    const frames: Frame[] = [];
    const send = (...bytes: readonly Buffer[]): void => void socket.write(Buffer.concat(bytes));
    const host: RawHost = { socket, frames, send };
    hosts.push(host);
    let left = Buffer.alloc(0);
    let prefaceLeft = PREFACE_BYTES;
    socket.on('error', () => socket.destroy());
    socket.on('data', (piece) => {
      left = Buffer.concat([left, piece]);
      const preface = Math.min(prefaceLeft, left.length);
      prefaceLeft -= preface;
      left = left.subarray(preface);
      for (;;) {
        const length = left.length < HEADER_BYTES ? 0 : left.readUIntBE(0, 3);
        if (left.length < HEADER_BYTES + length) return;
        const frame = {
          type: left[3] ?? 0,
          flags: left[4] ?? 0,
          stream: left.readUInt32BE(5),
          payload: Buffer.from(left.subarray(HEADER_BYTES, HEADER_BYTES + length)),
        };
        left = left.subarray(HEADER_BYTES + length);
        frames.push(frame);
        onFrame(host, frame);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hosts,
    [Symbol.asyncDispose]: async () => {
      for (const { socket } of hosts) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** Numbers of 32 bits one after the other. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * at);
  return bytes;
}

/** Fields as literals without a table. */
export function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  const parts = fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]);
  return Buffer.concat(parts);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const rest = bytes.length - 127;
  const length = [127];
  let left = rest;
  for (; left >= 128; left = Math.floor(left / 128)) length.push((left % 128) | 128);
  return Buffer.concat([Buffer.from([...length, left]), bytes]);
}

export const SETTINGS = frame(4, 0, 0, Buffer.alloc(0));
