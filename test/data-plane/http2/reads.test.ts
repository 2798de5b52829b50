/**
 * What a client sends in one piece is judged as a whole: streams that are answered within it are
 * still open for the frames behind, and they count to the limits, as in Envoy.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { direct, prefix, route, toCluster } from '../../support/parts/routes.ts';
import { type DataPlaneSetup, startDataPlane } from '../../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../../support/parts/http2-options.ts';
import {
  dataFrame,
  type Fields,
  type Frame,
  framesOf,
  GET,
  headersFrame,
  openFrames,
} from '../../support/peers/http2-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import {
  ErrorCode,
  Flag,
  frameHeader,
  FrameType,
  pingFrame,
  SETTINGS_ACK,
  windowUpdateFrame,
} from '../../../workers/http2/frames.ts';

const PING = '12345678';
const GOAWAY = `${frameHeader(8, FrameType.goaway, 0, 0)}${'\0'.repeat(8)}`;

function setup(http2: Partial<typeof HTTP2_OPTIONS> = {}): DataPlaneSetup {
  return {
    routes: [route(prefix('/'), direct())],
    manager: { delayedCloseTimeoutMs: 20, http2: { ...HTTP2_OPTIONS, ...http2 } },
  };
}

function post(...more: Fields): string {
  return headersFrame(1, [[':method', 'POST'], ...GET.slice(1), ...more], 0);
}

/** Sends the frames and a ping, and gives the frames that came before the ping's answer. */
async function answersTo(port: number, frames: string): Promise<readonly Frame[]> {
  const client = await openFrames(port);
  client.send(frames + pingFrame(PING, false));
  const isPong = ({ type, payload }: Frame): boolean =>
    type === FrameType.ping && payload.toString('latin1') === PING;
  const seen = framesOf(await client.until((each) => framesOf(each).some(isPong)));
  client.destroy();
  return seen;
}

describe('an HTTP/2 request whose answer is made within one read', () => {
  it('is not reset when its body comes with it', async () => {
    await using plane = await startDataPlane(setup());
    const seen = await answersTo(plane.port, post() + dataFrame(1, 'body', Flag.endStream));
    const types = seen.filter(({ stream }) => stream === 1).map(({ type }) => type);
    assert.deepEqual([...new Set(types)], [FrameType.headers]);
    assert.equal(plane.stats().get('http2.streams_active'), 0);
  });

  for (const [title, frames] of [
    ['a body of another length', post(['content-length', '9']) + dataFrame(1, 'x', Flag.endStream)],
    ['trailers that do not end it', post() + headersFrame(1, [['x-a', '1']], 0)],
    ['trailers with a pseudo header', post() + headersFrame(1, [[':path', '/']])],
  ] as const) {
    it(`is still judged: ${title}`, async () => {
      await using plane = await startDataPlane(setup());
      const client = await openFrames(plane.port);
      client.send(frames);
      await client.closed();
      assert.equal(plane.stats().get('http2.rx_messaging_error'), 1);
      assert.equal(plane.stats().get('http2.streams_active'), 0);
    });
  }

  it('counts to the limit of streams', async () => {
    await using plane = await startDataPlane(setup({ maxConcurrentStreams: 2 }));
    const client = await openFrames(plane.port);
    client.send(SETTINGS_ACK + [1, 3].map((id) => headersFrame(id, GET)).join(''));
    await client.until((each) => framesOf(each).some(({ stream }) => stream === 3));
    client.send([5, 7].map((id) => headersFrame(id, GET)).join(''));
    await client.until((each) => framesOf(each).some(({ stream }) => stream === 7));
    client.send([9, 11, 13].map((id) => headersFrame(id, GET)).join(''));
    await client.closed();
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_rq_total'), 6);
    assert.equal(stats.get('http.web.downstream_cx_protocol_error'), 1);
  });
});

describe('frames that answer one read', () => {
  const limits = { maxOutboundFrames: 20, maxOutboundControlFrames: 10 };

  for (const [title, pings, flood] of [
    ['as many as permitted', 9, undefined],
    ['too many that answer', 15, 'outbound_control_flood'],
    ['too many of all', 25, 'outbound_flood'],
  ] as const) {
    it(`are counted together: ${title}`, async () => {
      await using plane = await startDataPlane(setup(limits));
      const client = await openFrames(plane.port);
      await client.until((each) => framesOf(each).length >= 3);
      client.send(pingFrame(PING, false).repeat(pings));
      if (flood === undefined) {
        await client.until((each) => each.split(PING).length > pings);
        client.destroy();
      } else await client.closed();
      const stats = plane.stats();
      assert.equal(stats.get('http2.outbound_flood') ?? 0, flood === 'outbound_flood' ? 1 : 0);
      const isControl = flood === 'outbound_control_flood';
      assert.equal(stats.get('http2.outbound_control_flood') ?? 0, isControl ? 1 : 0);
    });
  }

  it('are counted again with each read', async () => {
    await using plane = await startDataPlane(setup(limits));
    const client = await openFrames(plane.port);
    for (let round = 1; round <= 5; round += 1) {
      client.send(pingFrame(PING, false).repeat(9));
      await client.until((each) => each.split(PING).length > round * 9);
    }
    client.destroy();
  });
});

describe('WINDOW_UPDATE frames without DATA', () => {
  const update = windowUpdateFrame(0, 1);

  for (const [title, path, most] of [
    ['five where all streams are over', '/', 5],
    ['two more where one is open', '/held', 7],
  ] as const) {
    it(`are permitted in a number that follows from open streams: ${title}`, async () => {
      await using upstream = await startHttpUpstream(() => undefined);
      await using plane = await startDataPlane({
        ...setup(),
        routes: [route(prefix('/held'), toCluster()), route(prefix('/'), direct())],
        upstreamPorts: [upstream.port],
      });
      const client = await openFrames(plane.port);
      client.send(headersFrame(1, [...GET.slice(0, 3), [':path', path]]));
      if (path === '/held') await waitUntil('the request', () => upstream.requests.length > 0);
      else await client.until((each) => framesOf(each).some(({ stream }) => stream === 1));
      client.send(update.repeat(most) + pingFrame(PING, false));
      await client.until((each) => each.includes(PING));
      client.send(update);
      await client.closed();
      assert.equal(plane.stats().get('http2.inbound_window_update_frames_flood'), 1);
    });
  }
});

describe('an HTTP/2 client that says GOAWAY', () => {
  it('is answered what it asked before, and nothing that it asks once that is done', async () => {
    await using plane = await startDataPlane(setup());
    const seen = await answersTo(plane.port, post() + GOAWAY + dataFrame(1, 'x', Flag.endStream));
    assert.ok(seen.some(({ type, stream }) => type === FrameType.headers && stream === 1));
    const late = await answersTo(plane.port, GOAWAY + headersFrame(1, GET) + headersFrame(3, GET));
    assert.ok(!late.some(({ stream }) => stream > 0));
    assert.equal(plane.stats().get('http.web.downstream_rq_total'), 1);
  });
});

describe('the limit on the header table of an HTTP/2 client', () => {
  const block = (stream: number, text: string): string =>
    frameHeader(text.length, FrameType.headers, 5, stream) + text;
  /** GET http /, with the authority `h.test` put into the table; and then taken from it. */
  const PUT = '\x82\x86\x84\x41\x06h.test';
  const TAKEN = '\x82\x86\x84\xbe';

  it('is in force once the client has confirmed it, and not before', async () => {
    await using plane = await startDataPlane(setup({ headerTableSize: 0 }));
    const client = await openFrames(plane.port);
    client.send(block(1, PUT) + block(3, TAKEN));
    await client.until((each) => framesOf(each).some(({ stream }) => stream === 3));
    client.send(SETTINGS_ACK + block(5, `\x20${GET_LITERAL}`) + block(7, GET_LITERAL));
    await client.until((each) => framesOf(each).some(({ stream }) => stream === 7));
    client.destroy();
    assert.equal(plane.stats().get('http.web.downstream_rq_2xx'), 4);
  });

  it('has to be obeyed by an update at the beginning of the next block', async () => {
    await using plane = await startDataPlane(setup({ headerTableSize: 100 }));
    const client = await openFrames(plane.port);
    client.send(SETTINGS_ACK + block(1, GET_LITERAL));
    const goaway = framesOf(await client.closed()).find(({ type }) => type === FrameType.goaway);
    assert.equal(goaway?.payload.readUInt32BE(4), ErrorCode.compressionError);
  });
});

/** GET http /, with an authority that is kept out of the table. */
const GET_LITERAL = '\x82\x86\x84\x01\x06h.test';
