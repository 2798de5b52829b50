/**
 * One frame made at random, behind requests that are still open: Sluice ends the connection where
 * nghttp2 (within node:http2) does, and goes on where that goes on.
 *
 * Not asked is what the two decide in different ways and may: PRIORITY of stream 0, which Envoy
 * lets pass; frames of streams that are over; METADATA, which node:http2 does not know; GOAWAY and
 * answers to PINGs that nobody sent, which node:http2 takes for a reason to close.
 */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { it } from 'node:test';
import { dataFrame, GET, headersFrame, PREFACE } from '../support/peers/http2-client.ts';
import { attackRandom, attackRuns } from '../support/attack.ts';
import { startDataPlane } from '../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../support/parts/http2-options.ts';
import { startHttpUpstream } from '../support/peers/upstream.ts';
import { within } from '../support/wait.ts';
import {
  ErrorCode,
  Flag,
  frameHeader,
  FRAME_HEADER_BYTES,
  FrameType,
  pingFrame,
  settingsFrame,
  windowUpdateFrame,
} from '../../workers/http2/frames.ts';

const AT_ONCE = 10;
const POST = [[':method', 'POST'] as const, ...GET.slice(1)];
/** Two requests whose bodies have not ended. */
const OPEN = PREFACE + headersFrame(1, POST, 0) + headersFrame(3, POST, 0);
const MARK = '\u0001MARKED\u0001';
/** The connection, two that are open, one that is not, one that no client may open. */
const STREAMS = [0, 1, 3, 5, 2];
const TYPES = [0, 1, 3, 4, 6, 8, 9, 11];
const random = attackRandom(21);

function below(limit: number): number {
  return Math.floor(random() * limit);
}

function bytes(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(below(256))).join('');
}

const oneOf = (numbers: readonly number[]): number => numbers[below(numbers.length)] ?? 0;
const stream = (): number => oneOf(STREAMS);

const MAKERS: readonly (() => string)[] = [
  () => headersFrame(5, GET.slice(below(5)), below(2)),
  () => headersFrame(stream(), [['x-trailer', '1']], below(2)),
  () => dataFrame(stream(), bytes(below(40)), below(2)),
  () => windowUpdateFrame(stream(), random() < 0.3 ? 2 ** 31 - 1 : below(3)),
  () => settingsFrame([[1 + below(8), random() < 0.3 ? 2 ** 31 : below(70_000)]]),
  () => `${frameHeader(5, FrameType.priority, 0, 1 + below(5))}${bytes(5)}`,
  () => `${frameHeader(4, FrameType.rstStream, 0, stream())}\0\0\0${bytes(1)}`,
  () => {
    const length = below(30);
    return frameHeader(length, FrameType.headers, 4 + below(2), 5) + bytes(length);
  },
  () => {
    const length = below(30);
    const type = oneOf(TYPES);
    // Neither an acknowledgement that nobody waits for.
    const flags = below(256) & (type === FrameType.ping ? ~Flag.ack : 255);
    return frameHeader(length, type, flags, stream()) + bytes(length);
  },
];

type Verdict = 'goes on' | 'is over';

function verdictOf(port: number, frame: string): Promise<Verdict> {
  const decided = new Promise<Verdict>((resolve) => {
    const client = connect(port, '127.0.0.1');
    let received: Buffer = Buffer.alloc(0);
    const decide = (verdict: Verdict): void => {
      client.destroy();
      resolve(verdict);
    };
    client.on('error', () => undefined);
    client.on('close', () => resolve('is over'));
    client.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (received.includes(MARK)) decide('goes on');
      else if (hasGoaway(received)) decide('is over');
    });
    client.write(Buffer.from(OPEN + frame + pingFrame(MARK, false), 'latin1'));
    // What waits for the rest of a frame is not decided: none comes any more.
    client.end();
  });
  return within('verdict', decided);
}

/** With the code of an error. */
function hasGoaway(frames: Buffer): boolean {
  for (let at = 0; at + 17 <= frames.length; at += FRAME_HEADER_BYTES + frames.readUIntBE(at, 3)) {
    const isGoaway = frames[at + 3] === FrameType.goaway;
    if (isGoaway && frames.readUInt32BE(at + 13) !== ErrorCode.noError) return true;
  }
  return false;
}

async function startNghttp2(): Promise<{ port: number } & AsyncDisposable> {
  const server = http2.createServer();
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on('sessionError', () => undefined);
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (each) => each.on('error', () => undefined).resume());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it('ends connections for the frames for which nghttp2 does', async () => {
  await using upstream = await startHttpUpstream((request) => void request.resume());
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    // As nghttp2: a message that breaks rules ends its stream alone.
    manager: { http2: { ...HTTP2_OPTIONS, endsStreamOnInvalidMessage: true } },
  });
  await using second = await startNghttp2();
  const verdicts = new Map<Verdict, number>();
  const compare = async (): Promise<void> => {
    const frame = MAKERS[below(MAKERS.length)]?.() ?? '';
    const [own, other] = await Promise.all([
      verdictOf(plane.port, frame),
      verdictOf(second.port, frame),
    ]);
    assert.equal(own, other, Buffer.from(frame, 'latin1').toString('hex'));
    verdicts.set(own, (verdicts.get(own) ?? 0) + 1);
  };
  const turns = attackRuns(40, 10_000);
  const end = performance.now() + 45_000;
  let turn = 0;
  for (; turn < turns && performance.now() < end; turn++) {
    await Promise.all(Array.from({ length: AT_ONCE }, compare));
  }
  for (const verdict of ['goes on', 'is over'] as const) {
    assert.ok((verdicts.get(verdict) ?? 0) > turn, verdict);
  }
});
