/**
 * A stream of gRPC with a million small messages: a host that answers any request with them, each in
 * a DATA frame of its own, as fast as the windows permit, and a client that takes them and counts.
 * Written over plain sockets, so that both cost little beside a proxy.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { FrameReader, type FrameReceiver } from '../../../workers/http2/frame-reader.ts';
import {
  CLIENT_PREFACE,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW,
  Flag,
  frameHeader,
  FrameType,
  headersFrames,
  LARGEST_WINDOW,
  readNumber31,
  Setting,
  SETTINGS_ACK,
  settingsFrame,
  windowUpdateFrame,
} from '../../../workers/http2/frames.ts';
import { HpackEncoder } from '../../../workers/http2/hpack/encoder.ts';
import type { LoadResult } from './wrk.ts';

/** Beside the port of the upstream. */
export const STREAM_PORT_OFFSET = 5;

const MESSAGES = 1_000_000;
/** With the five bytes that gRPC puts before each. */
const MESSAGE = `\0\0\0\0\u0010${'m'.repeat(16)}`;
/** Messages of one write. */
const BATCH = 1000;

export interface MessageHost {
  stop(): void;
}

export async function startMessageHost(port: number): Promise<MessageHost> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    serve(socket);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One stream through the proxy, to its end. */
export async function runMessageStream(port: number): Promise<LoadResult> {
  const socket = connect(port, '127.0.0.1');
  const grown = LARGEST_WINDOW - DEFAULT_WINDOW;
  const start = CLIENT_PREFACE + settingsFrame([[Setting.initialWindowSize, LARGEST_WINDOW]]);
  const request = [
    [':method', 'POST'],
    [':scheme', 'http'],
    [':authority', 'bench'],
    [':path', '/bench.Stream/Messages'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
  ] as const;
  socket.write(start + windowUpdateFrame(0, grown) + headers(1, request, true), 'latin1');
  const began = performance.now();
  let bytes = 0;
  await new Promise<void>((resolve) => {
    socket.on('error', () => socket.destroy());
    // Envoy may end the connection: 10,000 frames that wait are a flood to it. The rest has failed.
    socket.on('close', resolve);
    readFrames(socket, {
      onBytes: (count) => (bytes += count),
      onFrame: (type, flags) => {
        if (type === FrameType.headers && (flags & Flag.endStream) !== 0) resolve();
      },
    });
  });
  const seconds = (performance.now() - began) / 1000;
  socket.destroy();
  const messages = bytes / MESSAGE.length;
  return {
    requests: messages,
    requestsPerSecond: messages / seconds,
    p99Ms: 0,
    failed: MESSAGES - messages,
  };
}

interface FrameUser {
  onBytes?(count: number): void;
  onFrame(type: number, flags: number, stream: number, payload: Buffer): void;
}

/** Says SETTINGS ack as well. */
function readFrames(socket: Socket, user: FrameUser, skip = 0): void {
  const receiver: FrameReceiver = {
    onDataBegin: () => true,
    onDataPiece: (_, start, end) => {
      user.onBytes?.(end - start);
      return true;
    },
    onFrame: ({ type, flags, stream }, input, start, end) => {
      const isSettings = type === FrameType.settings && (flags & Flag.ack) === 0;
      if (isSettings) socket.write(SETTINGS_ACK, 'latin1');
      user.onFrame(type, flags, stream, input.subarray(start, end));
      return true;
    },
    fail: () => socket.destroy(),
  };
  const reader = new FrameReader(receiver, DEFAULT_MAX_FRAME_BYTES);
  let left = skip;
  socket.on('data', (piece: Buffer) => {
    const start = Math.min(left, piece.length);
    left -= start;
    let at: number | undefined = start;
    while (at !== undefined) at = reader.readPortion(piece, at, piece.length);
  });
}

/** All streams at once share one connection's windows; there is one at a time here. */
function serve(socket: Socket): void {
  let connectionWindow = DEFAULT_WINDOW;
  let initialWindow = DEFAULT_WINDOW;
  let stream = 0;
  let streamWindow = 0;
  let left = 0;
  let isFull = false;
  const pour = (): void => {
    while (!isFull && left > 0) {
      const room = Math.floor(Math.min(connectionWindow, streamWindow) / MESSAGE.length);
      const count = Math.min(left, room, BATCH);
      if (count <= 0) return;
      left -= count;
      connectionWindow -= count * MESSAGE.length;
      streamWindow -= count * MESSAGE.length;
      const frame = frameHeader(MESSAGE.length, FrameType.data, 0, stream) + MESSAGE;
      isFull = !socket.write(frame.repeat(count), 'latin1');
      if (left === 0) socket.write(headers(stream, [['grpc-status', '0']], true), 'latin1');
    }
  };
  socket.on('drain', () => {
    isFull = false;
    pour();
  });
  const begin = (id: number): void => {
    stream = id;
    streamWindow = initialWindow;
    left = MESSAGES;
    const answer = [
      [':status', '200'],
      ['content-type', 'application/grpc'],
    ] as const;
    socket.write(headers(id, answer, false), 'latin1');
    pour();
  };
  const changeSettings = (payload: Buffer): void => {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) === Setting.initialWindowSize) {
        initialWindow = payload.readUInt32BE(at + 2);
      }
    }
  };
  socket.write(settingsFrame([]), 'latin1');
  const user: FrameUser = {
    onFrame: (type, flags, id, payload) => {
      if (type === FrameType.headers) begin(id);
      else if (type === FrameType.settings && (flags & Flag.ack) === 0) changeSettings(payload);
      else if (type === FrameType.windowUpdate) {
        const more = readNumber31(payload, 0);
        if (id === 0) connectionWindow += more;
        else if (id === stream) streamWindow += more;
        pour();
      }
    },
  };
  readFrames(socket, user, CLIENT_PREFACE.length);
}

function headers(
  stream: number,
  fields: readonly (readonly [name: string, value: string])[],
  endStream: boolean,
): string {
  const encoder = new HpackEncoder();
  encoder.limitTable(0);
  encoder.begin();
  for (const [name, value] of fields) encoder.literal(name, value);
  const block = encoder.finish();
  return headersFrames(stream, block, endStream, DEFAULT_MAX_FRAME_BYTES);
}
