/**
 * Hosts that speak HTTP/2 by no rules: whatever they write, each request gets one answer, the worker
 * stays, gauges return to zero, and traffic to other hosts goes on.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attackRandom, attackTurns } from '../support/attack.ts';
import { startDataPlane, type RunningDataPlane } from '../support/parts/data-plane.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import {
  frame,
  headerBlock,
  type Frame,
  type RawHost,
  SETTINGS,
  startRawHttp2Upstream,
  words,
} from '../support/peers/http2.ts';
import { waitUntil } from '../support/wait.ts';

const HEADERS = 1;
const EMPTY = Buffer.alloc(0);
const OK = headerBlock([[':status', '200']]);
/** An entry of 4,000 bytes that is put into the table, and then named again and again. */
const BOMB = Buffer.concat([
  Buffer.from([0x88, 0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]),
  Buffer.alloc(4000, 'a'),
  Buffer.alloc(12_000, 0xbe),
]);

type Attack = (host: RawHost, stream: number) => void;

function repeated(count: number, piece: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => piece));
}

const ATTACKS: Readonly<Record<string, Attack>> = {
  'pushes a stream': (host, stream) =>
    host.send(frame(5, 4, stream, Buffer.concat([words(2), OK]))),
  'sends a header block without end': (host, stream) => {
    host.send(
      frame(HEADERS, 0, stream, OK),
      repeated(200, frame(9, 0, stream, Buffer.alloc(8192))),
    );
  },
  'sends empty CONTINUATION frames': (host, stream) =>
    host.send(frame(HEADERS, 0, stream, OK), repeated(1000, frame(9, 0, stream, EMPTY))),
  'sends an HPACK bomb': (host, stream) => host.send(frame(HEADERS, 4, stream, BOMB)),
  'sends empty DATA frames': (host, stream) =>
    host.send(frame(HEADERS, 4, stream, OK), repeated(1000, frame(0, 0, stream, EMPTY))),
  'asks by PING without end': (host) => host.send(repeated(5000, frame(6, 0, 0, Buffer.alloc(8)))),
  'changes SETTINGS without end': (host) => host.send(repeated(5000, SETTINGS)),
  'sends PRIORITY frames': (host, stream) =>
    host.send(repeated(5000, frame(2, 0, stream, Buffer.alloc(5)))),
  'opens windows without end': (host) => host.send(repeated(5000, frame(8, 0, 0, words(1)))),
  'makes a window too large': (host) => host.send(repeated(2, frame(8, 0, 0, words(0x7fffffff)))),
  'opens a window by nothing': (host, stream) => host.send(frame(8, 0, stream, words(0))),
  'answers a stream that is not there': (host) => host.send(frame(HEADERS, 5, 4001, OK)),
  'opens a stream': (host) => host.send(frame(HEADERS, 5, 2, OK)),
  'sends DATA before its answer': (host, stream) =>
    host.send(frame(0, 0, stream, Buffer.from('early'))),
  'sends more than it said': (host, stream) => {
    const head = headerBlock([
      [':status', '200'],
      ['content-length', '3'],
    ]);
    host.send(frame(HEADERS, 4, stream, head), frame(0, 1, stream, Buffer.from('four')));
  },
  'answers 101': (host, stream) =>
    host.send(frame(HEADERS, 5, stream, headerBlock([[':status', '101']]))),
  'answers 103 for ever': (host, stream) =>
    host.send(repeated(1000, frame(HEADERS, 4, stream, headerBlock([[':status', '103']])))),
  'names no status': (host, stream) =>
    host.send(frame(HEADERS, 5, stream, headerBlock([['x-a', 'b']]))),
  'breaks a line in a value': (host, stream) => {
    const split = headerBlock([
      [':status', '200'],
      ['x-a', 'b\r\nset-cookie: c'],
    ]);
    host.send(frame(HEADERS, 5, stream, split));
  },
  'writes a connection header': (host, stream) => {
    const odd = headerBlock([
      [':status', '200'],
      ['transfer-encoding', 'chunked'],
    ]);
    host.send(frame(HEADERS, 5, stream, odd));
  },
  'claims a huge frame': (host) => host.send(Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1])),
  'refuses with a debug text': (host) =>
    host.send(frame(7, 0, 0, Buffer.concat([words(0, 2), Buffer.alloc(9000, 'x')]))),
};

async function attacked(attack: Attack): Promise<void> {
  await using hostile = await startRawHttp2Upstream((host, { type, stream, flags }: Frame) => {
    if (type === 4 && (flags & 1) === 0) host.send(SETTINGS);
    if (type !== HEADERS) return;
    attack(host, stream);
    // What could be a whole answer in the end is made one, so that no request waits.
    host.socket.end();
  });
  await using plane = await startDataPlane({
    upstreamPorts: [hostile.port],
    upstreamHttp: { protocol: 'HTTP2' },
  });
  const { port } = plane;
  const answers = await Promise.all([0, 1, 2].map(() => statusOf(port)));
  for (const status of answers) assert.ok([0, 200, 502, 503].includes(status), String(status));
  await quiet(plane);
}

/** 0: the connection ended within the answer. */
async function statusOf(port: number): Promise<number> {
  const answer = await fetchOnce({ port, path: '/' }).catch(() => ({ status: 0 }));
  return answer.status;
}

async function quiet(plane: RunningDataPlane): Promise<void> {
  const gauges = ['upstream_rq_active', 'upstream_cx_active', 'http2.streams_active'];
  for (const name of gauges) {
    await waitUntil(name, () => (plane.stats().get(`cluster.up.${name}`) ?? 0) === 0);
  }
}

describe('a host of HTTP/2', () => {
  for (const [title, attack] of Object.entries(ATTACKS)) {
    it(`that ${title} costs its own requests alone`, async () => attacked(attack));
  }

  it('that writes garbage between frames costs its own requests alone', async () => {
    const random = attackRandom(7);
    for (const _ of attackTurns(60, 20_000)) {
      await attacked((host, stream) => {
        const count = 1 + Math.floor(random() * 8);
        for (let each = 0; each < count; each++) {
          const length = Math.floor(random() * 40);
          const payload = Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
          const on = random() < 0.7 ? stream : Math.floor(random() * 8);
          host.send(frame(Math.floor(random() * 11), Math.floor(random() * 256), on, payload));
        }
      });
    }
  });
});
