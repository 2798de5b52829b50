/**
 * A host writes one frame made at random behind the beginning of its answer: Sluice ends the
 * connection where nghttp2 (within node:http2, as a client) does, and goes on where that goes on.
 *
 * Not asked is what the two decide in different ways and may: PRIORITY of stream 0 or of a stream that
 * depends on itself, which Envoy lets pass; frames of streams that are over; header blocks that are no
 * answer, which end a stream at one and the connection at the other; METADATA; GOAWAY; answers to
 * PINGs and SETTINGS that nobody sent.
 */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { it } from 'node:test';
import {
  ErrorCode,
  Flag,
  frameHeader,
  FrameType,
  settingsFrame,
  windowUpdateFrame,
} from '../../../workers/http2/frames.ts';
import { attackRandom, attackRuns } from '../../support/attack.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import {
  frame,
  headerBlock,
  type RawHttp2Upstream,
  SETTINGS,
  startRawHttp2Upstream,
  words,
} from '../../support/peers/http2.ts';
import { within } from '../../support/wait.ts';

type Verdict = 'goes on' | 'is over';

/** The limit of the long form. */
const LONGEST_MS = 45_000;
const OK = headerBlock([[':status', '200']]);
const MARK = Buffer.from('\u0001MARKED\u0001', 'latin1');
const random = attackRandom(29);
const below = (limit: number): number => Math.floor(random() * limit);
const bytes = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(below(256))).join('');
const oneOf = (numbers: readonly number[]): number => numbers[below(numbers.length)] ?? 0;
/** The connection, the request's, one that the host may not open. */
const stream = (): number => oneOf([0, 1, 2]);
/** DATA, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, WINDOW_UPDATE, CONTINUATION, unknown. */
const TYPES = [0, 3, 4, 5, 6, 8, 9, 11];

const MAKERS: readonly (() => string)[] = [
  () => {
    const data = bytes(below(40));
    return frameHeader(data.length, FrameType.data, below(2), stream()) + data;
  },
  () => windowUpdateFrame(stream(), random() < 0.4 ? 2 ** 31 - 1 : below(3)),
  () => settingsFrame([[1 + below(8), random() < 0.3 ? 2 ** 31 : below(70_000)]]),
  () => `${frameHeader(5, FrameType.priority, 0, 1)}\0\0\0\u0003${bytes(1)}`,
  () => `${frameHeader(4, FrameType.rstStream, 0, stream())}\0\0\0${bytes(1)}`,
  () => {
    const length = below(30);
    const type = oneOf(TYPES);
    const isAcknowledging = type === FrameType.ping || type === FrameType.settings;
    const flags = below(256) & (isAcknowledging ? ~Flag.ack : 255);
    return frameHeader(length, type, flags, stream()) + bytes(length);
  },
];

/** A host that writes `next` once, and says what its peer made of it. */
async function startJudged(): Promise<
  { judge(next: string, ask: () => void): Promise<Verdict> } & RawHttp2Upstream
> {
  let present = '';
  let decide: (verdict: Verdict) => void = () => undefined;
  const host = await startRawHttp2Upstream((peer, { type, flags, stream: id, payload }) => {
    if (type === FrameType.settings && (flags & Flag.ack) === 0) peer.send(SETTINGS);
    if (type === FrameType.ping && payload.equals(MARK)) decide('goes on');
    if (type === FrameType.goaway && payload.readUInt32BE(4) !== 0) decide('is over');
    if (type !== FrameType.headers) return;
    const decideThis = decide;
    peer.socket.once('close', () => decideThis('is over'));
    const next = Buffer.from(present, 'latin1');
    // Connections that go on are used again.
    if (next.readUInt32BE(5) === 1) next.writeUInt32BE(id, 5);
    const mark = frame(FrameType.ping, 0, 0, MARK);
    const end = frame(FrameType.rstStream, 0, id, words(ErrorCode.cancel));
    peer.send(frame(FrameType.headers, 4, id, OK), next, mark, end);
  });
  return Object.assign(host, {
    judge: (next: string, ask: () => void) => {
      present = next;
      const decided = new Promise<Verdict>((resolve) => (decide = resolve));
      ask();
      return within(`verdict of ${Buffer.from(next, 'latin1').toString('hex')}`, decided);
    },
  });
}

it('ends connections for the frames of hosts for which nghttp2 does', async () => {
  await using own = await startJudged();
  await using second = await startJudged();
  await using plane = await startDataPlane({
    upstreamPorts: [own.port],
    upstreamHttp: { protocol: 'HTTP2' },
  });
  const verdicts = new Map<Verdict, number>();
  const turns = attackRuns(150, 20_000);
  const end = performance.now() + LONGEST_MS;
  let turn = 0;
  for (; turn < turns && performance.now() < end; turn++) {
    const next = MAKERS[below(MAKERS.length)]?.() ?? '';
    const asked = own.judge(next, () => {
      void fetchOnce({ port: plane.port, path: '/' }).catch(() => undefined);
    });
    const session = http2.connect(`http://127.0.0.1:${second.port}`);
    session.on('error', () => undefined);
    const expected = second.judge(next, () => {
      session.request({ ':path': '/' }).on('error', () => undefined);
    });
    const [verdict, other] = await Promise.all([asked, expected]);
    session.destroy();
    assert.equal(verdict, other, Buffer.from(next, 'latin1').toString('hex'));
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
  }
  for (const verdict of ['goes on', 'is over'] as const) {
    assert.ok((verdicts.get(verdict) ?? 0) > turn / 10, verdict);
  }
});
