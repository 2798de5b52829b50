/**
 * A control plane that plays one part of a script on each connection that it gets: whole frames of
 * HTTP/2 by hand, or a stream of messages with flow control by node:http2.
 */
import { once } from 'node:events';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * What happens on one connection. It is closed when `play` has resolved; with `waits`, when the
 * client has given up the stream as well.
 */
export type Part =
  | {
      readonly kind: 'bytes';
      readonly waits?: boolean;
      /** `stream` is the number of the client's. */
      play(socket: Socket, stream: number): Promise<void> | void;
    }
  | { readonly kind: 'stream'; play(stream: ServerHttp2Stream): Promise<void> | void };

export interface HostileControlPlane {
  readonly port: number;
  /** Plays the part on the next connection; resolves when it is over and the connection closed. */
  play(part: Part): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const HEADERS = 1;
const RST_STREAM = 3;
const PING = 6;
const GOAWAY = 7;

/** A frame, whatever its parts are worth. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, payload]);
}

/** `:status 200` and `content-type: application/grpc` for HPACK. */
export const ANSWER_HEAD = Buffer.concat([
  Buffer.from([0x88, 0x0f, 0x10, 16]),
  Buffer.from('application/grpc'),
]);

/** As messages stand in a stream; `length` where it lies. */
export function grpcMessage(message: Uint8Array, length = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([head, message]);
}

/** Resolves when everything was taken, or the other side is gone. */
export async function sendAll(
  to: Socket | ServerHttp2Stream,
  pieces: Iterable<Uint8Array>,
): Promise<void> {
  const gone = closed(to);
  for (const piece of pieces) {
    if (to.destroyed) return;
    if (!to.write(piece)) await Promise.race([once(to, 'drain').catch(() => undefined), gone]);
  }
}

export async function closed(of: Socket | ServerHttp2Stream): Promise<void> {
  if (!of.destroyed) await new Promise<void>((resolve) => of.once('close', resolve));
}

export async function startHostileControlPlane(): Promise<HostileControlPlane> {
  const waiting: { readonly part: Part; done(): void }[] = [];
  const sockets = new Set<Socket>();
  const http2 = createHttp2Server();
  const parts = new WeakMap<object, Part & { readonly kind: 'stream' }>();
  http2.on('sessionError', () => undefined);
  http2.on('stream', (stream, _headers) => {
    stream.on('error', () => undefined);
    const { session } = stream;
    const part = session === undefined ? undefined : parts.get(session);
    if (part === undefined || session === undefined) return stream.close();
    parts.delete(session);
    void Promise.resolve(part.play(stream)).then(() => session.destroy());
  });
  const playBytes = (socket: Socket, part: Part & { readonly kind: 'bytes' }): void => {
    let giveUp = (): void => undefined;
    const givenUp = new Promise<void>((resolve) => (giveUp = resolve));
    socket.once('close', giveUp);
    let begun = 0;
    readFrames(socket, (type, flags, stream, payload) => {
      if (type === PING && flags === 0) socket.write(frame(PING, 1, 0, payload));
      if (begun !== 0) {
        const isOver = type === GOAWAY || (type === RST_STREAM && stream === begun);
        if (isOver || (type === HEADERS && stream !== begun)) giveUp();
        return;
      }
      if (type !== HEADERS) return;
      begun = stream;
      const played = Promise.resolve(part.play(socket, stream));
      void played
        .then(() => (part.waits === true ? givenUp : undefined))
        .then(() => socket.destroy());
    });
    // Settings that change nothing.
    socket.write(frame(4, 0, 0));
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.add(socket);
    const next = waiting.shift();
    socket.once('close', () => {
      sockets.delete(socket);
      next?.done();
    });
    if (next === undefined) return socket.destroy();
    if (next.part.kind === 'bytes') return playBytes(socket, next.part);
    const { part } = next;
    http2.once('session', (session) => {
      session.on('error', () => undefined);
      parts.set(session, part);
    });
    http2.emit('connection', socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    play: (part) =>
      new Promise((resolve) => {
        waiting.push({
          part,
          done: resolve,
        });
      }),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      http2.close();
      server.close();
      await once(server, 'close');
    },
  };
}

type FrameReader = (type: number, flags: number, stream: number, payload: Buffer) => void;

/** What the client sends; it is no attacker. */
export function readFrames(socket: Socket, heard: FrameReader): void {
  let read = Buffer.alloc(0);
  let at = PREFACE_BYTES;
  socket.on('data', (piece: Buffer) => {
    read = Buffer.concat([read, piece]);
    while (at + FRAME_HEAD_BYTES <= read.length) {
      const end = at + FRAME_HEAD_BYTES + read.readUIntBE(at, 3);
      if (end > read.length) break;
      const stream = read.readUInt32BE(at + 5) & 0x7fffffff;
      heard(
        read[at + 3] ?? 0,
        read[at + 4] ?? 0,
        stream,
        read.subarray(at + FRAME_HEAD_BYTES, end),
      );
      at = end;
    }
    // The preface may not be whole yet.
    const taken = Math.min(at, read.length);
    read = read.subarray(taken);
    at -= taken;
  });
}
