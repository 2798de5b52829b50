/** Frames that break the protocol or cost too much, sent as they are. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { direct, prefix, route } from '../../support/parts/routes.ts';
import { type RunningDataPlane, startDataPlane } from '../../support/parts/data-plane.ts';
import {
  dataFrame,
  framesOf,
  GET,
  headersFrame,
  openFrames,
  PREFACE,
} from '../../support/peers/http2-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import {
  ErrorCode,
  frameHeader,
  FrameType,
  pingFrame,
  resetFrame,
  SETTINGS_ACK,
  settingsFrame,
  windowUpdateFrame,
} from '../../../workers/http2/frames.ts';

/** Ends an answer that this side waits for. */
const ANSWERED = '\0'.repeat(8);
const OPEN = headersFrame(1, GET, 0);
const MANY_SETTINGS = Array.from({ length: 33 }, (_, at) => [100 + at, 0] as const);
const CONTINUED = frameHeader(0, FrameType.headers, 0, 1);

/** Frames, and the code of the GOAWAY that ends the connection; undefined: it ends without one. */
const FAULTS: readonly (readonly [title: string, frames: string, code: number | undefined])[] = [
  ['SETTINGS on a stream', frameHeader(0, FrameType.settings, 0, 1), undefined],
  ['a push that is neither on nor off', settingsFrame([[2, 2]]), undefined],
  ['a frame size that is too small', settingsFrame([[5, 100]]), undefined],
  ['a window that is too large', settingsFrame([[4, 2 ** 31]]), undefined],
  ['too many settings', settingsFrame(MANY_SETTINGS), ErrorCode.enhanceYourCalm],
  ['settings that are confirmed twice', SETTINGS_ACK.repeat(2), undefined],
  ['SETTINGS of a wrong size', `${frameHeader(3, 4, 0, 0)}abc`, ErrorCode.frameSizeError],
  ['an ACK with a payload', `${frameHeader(6, 4, 1, 0)}abcdef`, ErrorCode.frameSizeError],
  ['PING of a wrong size', `${frameHeader(6, 6, 0, 0)}abcdef`, ErrorCode.frameSizeError],
  ['WINDOW_UPDATE of nothing', windowUpdateFrame(0, 0), undefined],
  ['a window of the connection that overflows', windowUpdateFrame(0, 2 ** 31 - 1), undefined],
  ['DATA on stream 0', dataFrame(0, 'x'), ErrorCode.protocolError],
  ['DATA on an idle stream', dataFrame(7, 'x'), ErrorCode.protocolError],
  ['DATA with too long padding', `${frameHeader(2, 0, 8, 1)}\x09x`, ErrorCode.protocolError],
  ['RST_STREAM of an idle stream', resetFrame(9, 0), undefined],
  ['an even stream', headersFrame(2, GET), undefined],
  ['a frame that is too long', frameHeader(16_385, 0, 0, 1), ErrorCode.frameSizeError],
  ['a lone CONTINUATION', `${frameHeader(1, 9, 4, 1)}\x82`, ErrorCode.protocolError],
  ['PING within a block', CONTINUED + pingFrame(ANSWERED, false), ErrorCode.protocolError],
  ['an index of no table', `${frameHeader(1, 1, 4, 1)}\xff`, ErrorCode.compressionError],
  ['a push', `${frameHeader(4, 5, 4, 1)}\0\0\0\x02`, undefined],
];

const setup = {
  routes: [route(prefix('/'), direct())],
  manager: { delayedCloseTimeoutMs: 20 },
};

describe('frames that break the protocol', () => {
  for (const [title, frames, code] of FAULTS) {
    it(`end the connection: ${title}`, async () => {
      await using plane = await startDataPlane(setup);
      const client = await openFrames(plane.port);
      client.send(frames);
      const seen = framesOf(await client.closed());
      const goaway = seen.find(({ type }) => type === FrameType.goaway);
      assert.equal(goaway?.payload.readUInt32BE(4), code);
      const stats = plane.stats();
      assert.equal(stats.get('http.web.downstream_cx_protocol_error'), 1);
      assert.equal(stats.get('http.web.downstream_cx_active'), 0);
      assert.equal(stats.get('http.web.downstream_rq_active') ?? 0, 0);
      assert.equal(stats.get('http2.streams_active') ?? 0, 0);
    });
  }

  it('are not awaited from who speaks HTTP/1 where only HTTP/2 is spoken', async () => {
    await using plane = await startDataPlane({ manager: { ...setup.manager, codec: 'HTTP2' } });
    const client = await openRaw(plane.port);
    client.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    assert.equal(await client.closed(), '');
  });

  it('are not what they seem: numbers below one that was used, and dependencies', async () => {
    await using plane = await startDataPlane(setup);
    const client = await openFrames(plane.port);
    client.send(headersFrame(5, GET) + headersFrame(3, GET));
    client.send(`${frameHeader(5, 2, 0, 7)}\0\0\0\x07\0${headersFrame(7, GET)}`);
    const text = await client.until((seen) =>
      framesOf(seen).some(({ type, stream }) => type === FrameType.headers && stream === 7),
    );
    const answered = framesOf(text).filter(({ type }) => type === FrameType.headers);
    assert.deepEqual(
      answered.map(({ stream }) => stream),
      [5, 7],
    );
    client.destroy();
  });

  it('are found whatever pieces they come in, once the preface has begun', async () => {
    await using plane = await startDataPlane(setup);
    const client = await openRaw(plane.port);
    client.socket.setNoDelay(true);
    const beginning = PREFACE.slice(0, 12);
    client.send(beginning);
    await new Promise((resolve) => setImmediate(resolve));
    for (const byte of (PREFACE + headersFrame(1, GET)).slice(beginning.length)) {
      client.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.until((text) => framesOf(text).some(({ type }) => type === FrameType.headers));
    client.destroy();
    assert.equal(plane.stats().get('http.web.downstream_rq_2xx'), 1);
  });
});

const FLOODS: readonly (readonly [stat: string, frames: string])[] = [
  ['inbound_empty_frames_flood', OPEN + dataFrame(1, '').repeat(3)],
  ['inbound_empty_frames_flood', CONTINUED + frameHeader(0, 9, 0, 1).repeat(3)],
  ['inbound_empty_frames_flood', CONTINUED + frameHeader(0, 9, 4, 1)],
  ['inbound_priority_frames_flood', `${frameHeader(5, 2, 0, 1)}\0\0\0\x03\0`.repeat(300)],
  ['inbound_window_update_frames_flood', OPEN + windowUpdateFrame(1, 1).repeat(100)],
  ['outbound_control_flood', pingFrame(ANSWERED, false).repeat(3000)],
  ['outbound_control_flood', settingsFrame([]).repeat(3000)],
];

describe('floods of frames', () => {
  for (const [stat, frames] of FLOODS) {
    it(`end the connection and are counted: ${stat}, ${frames.length} bytes`, async () => {
      await using upstream = await startHttpUpstream(() => undefined);
      await using plane = await startDataPlane({
        manager: setup.manager,
        upstreamPorts: [upstream.port],
      });
      const client = await openFrames(plane.port);
      client.send(frames);
      await client.closed();
      await waitUntil('the count', () => plane.stats().get(`http2.${stat}`) === 1);
      assert.equal(plane.stats().get('http.web.downstream_rq_active') ?? 0, 0);
    });
  }

  it('of streams that are reset at once end the connection', async () => {
    await using upstream = await startHttpUpstream(() => undefined);
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openFrames(plane.port);
    for (let id = 1; id < 800; id += 2) client.send(headersFrame(id, GET) + resetFrame(id, 8));
    await client.closed();
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_rq_too_many_premature_resets'), 1);
    assert.equal(stats.get('http.web.downstream_rq_total'), 250);
    assert.equal(stats.get('http.web.downstream_rq_active') ?? 0, 0);
    assert.equal(stats.get('http2.streams_active'), 0);
  });

  it('of requests whose answers nobody reads end the connection', async () => {
    await using plane = await startDataPlane({
      routes: setup.routes,
      // Too long for the table, so that each answer is.
      manager: { via: 'v'.repeat(2000) },
      listener: { perConnectionBufferLimitBytes: 1024 },
    });
    const client = await openFrames(plane.port);
    client.socket.pause();
    for (let id = 1; id < 200_000; id += 2) {
      client.send(headersFrame(id, GET));
      if (id % 1000 !== 1) continue;
      // One read must not have more than the streams of a connection.
      const sent = (id + 1) / 2;
      while (counted(plane) < sent && !isFlooded(plane) && !client.socket.destroyed) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (isFlooded(plane) || client.socket.destroyed) break;
    }
    await waitUntil('the count', () => isFlooded(plane));
    client.destroy();
  });
});

function counted(plane: RunningDataPlane): number {
  return plane.stats().get('http.web.downstream_rq_total') ?? 0;
}

function isFlooded(plane: RunningDataPlane): boolean {
  return plane.stats().get('http2.outbound_flood') === 1;
}
