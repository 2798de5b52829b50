/** Connections on which a control plane breaks the rules of HTTP/2, or stretches them. */
import { attackRuns } from '../../attack.ts';
import { ANSWER_HEAD, frame, grpcMessage, sendAll, type Part } from './hostile-control-plane.ts';

const DATA = 0;
const HEADERS = 1;
const END_HEADERS = 4;
const CONTINUATION = 9;
const MIB = 1024 * 1024;
const MANY = attackRuns(15, 3_000);

type BytesPart = Part & { readonly kind: 'bytes' };

export const bytes = (play: BytesPart['play'], waits = true): Part => ({
  kind: 'bytes',
  play,
  waits,
});
export const head = (id: number): Buffer => frame(HEADERS, END_HEADERS, id, ANSWER_HEAD);

function many(piece: Uint8Array, count: number): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => piece));
}

function* times(count: number, piece: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < count; at++) yield piece;
}

export const HOSTILE_FRAMES: Readonly<Record<string, Part>> = {
  'frames of one byte': bytes(async (socket, id) => {
    socket.write(head(id));
    socket.write(frame(DATA, 0, id, grpcMessage(Buffer.alloc(0), 200 * MIB)));
    await sendAll(socket, times(MANY * 8, many(frame(DATA, 0, id, Buffer.from('x')), 6000)));
  }, false),
  'empty frames': bytes(async (socket, id) => {
    socket.write(head(id));
    await sendAll(socket, times(MANY, many(frame(DATA, 0, id), 6000)));
  }, false),
  'empty messages': bytes(async (socket, id) => {
    socket.write(head(id));
    await sendAll(socket, times(MANY, many(frame(DATA, 0, id, grpcMessage(Buffer.alloc(0))), 100)));
  }, false),
  'endless headers': bytes(async (socket, id) => {
    socket.write(frame(HEADERS, 0, id, ANSWER_HEAD));
    const field = Buffer.from([0, 1, 0x61, 1, 0x62]);
    await sendAll(socket, times(MANY * 10, frame(CONTINUATION, 0, id, field)));
  }),
  'endless empty headers': bytes(async (socket, id) => {
    socket.write(frame(HEADERS, 0, id, ANSWER_HEAD));
    await sendAll(socket, times(MANY, many(frame(CONTINUATION, 0, id), 1000)));
  }),
  'a bomb of compressed headers': bytes(async (socket, id) => {
    const value = Buffer.alloc(4000, 'a');
    const literal = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), value]);
    const bomb = Buffer.concat([ANSWER_HEAD, literal, Buffer.alloc(12_000, 0xbe)]);
    socket.write(frame(HEADERS, END_HEADERS, id, bomb));
    const again = frame(HEADERS, END_HEADERS, id, Buffer.alloc(16_000, 0xbe));
    await sendAll(socket, times(MANY, again));
  }),
  pings: bytes(async (socket) => {
    await sendAll(socket, times(MANY, many(frame(6, 0, 0, Buffer.alloc(8)), 6000)));
  }, false),
  settings: bytes(async (socket) => {
    await sendAll(socket, times(MANY, many(frame(4, 0, 0), 6000)));
  }),
  'frames of no known type': bytes(async (socket, id) => {
    await sendAll(socket, times(MANY, many(frame(0x55, 0, id, Buffer.alloc(100)), 600)));
  }, false),
  'pushed streams': bytes(async (socket, id) => {
    const promise = Buffer.concat([Buffer.from([0, 0, 0, 2]), ANSWER_HEAD]);
    await sendAll(socket, times(MANY, frame(5, END_HEADERS, id, promise)));
  }),
  'a length of 4 GiB': bytes((socket, id) => {
    socket.write(head(id));
    socket.write(frame(DATA, 0, id, grpcMessage(Buffer.alloc(10), 0xffffffff)));
  }),
  'HTTP/1.1': bytes((socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n'.repeat(1000))),
  'bytes that are no frames': bytes((socket) => void socket.write(Buffer.alloc(100_000, 0xff))),
};
