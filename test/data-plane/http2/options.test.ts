/** What `Http2ProtocolOptions` changes at the two ends: what Envoy was seen to do beside it. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http2';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { direct, prefix, route } from '../../support/parts/routes.ts';
import { startDataPlane, type RunningDataPlane } from '../../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../../support/parts/http2-options.ts';
import { framesOf, GET, headersFrame, openFrames } from '../../support/peers/http2-client.ts';
import { waitUntil } from '../../support/wait.ts';
import { frameHeader, FrameType } from '../../../workers/http2/frames.ts';

const { headers, continuation, rstStream, goaway } = FrameType;
const CANCEL = '\0\0\0\b';
const FRAME_BYTES = 16_384;
const KB = 1024;
const greeting = [route(prefix('/'), direct())];
const [COMPRESSION_ERROR, INTERNAL_ERROR] = [9, 2];

type Options = Partial<typeof HTTP2_OPTIONS>;

function startGreeter(options: Options, maxRequestHeadersKb = 60): Promise<RunningDataPlane> {
  const manager = { maxRequestHeadersKb, http2: { ...HTTP2_OPTIONS, ...options } };
  return startDataPlane({ manager, routes: greeting });
}

/** Numbers of the streams that were answered, and the last stream and the code of GOAWAY. */
async function outcomeOf(
  port: number,
  sent: string,
): Promise<Goaway & { answered: readonly number[] }> {
  const client = await openFrames(port);
  client.send(sent);
  const frames = () => framesOf(client.received());
  const isOver = (): boolean =>
    frames().some(({ type, flags }) => type === goaway || (type === FrameType.ping && flags === 1));
  // Answered behind all that came before.
  client.send(frameHeader(8, FrameType.ping, 0, 0) + '12345678');
  await waitUntil('the answers', isOver);
  client.destroy();
  const last = frames().find(({ type }) => type === goaway)?.payload;
  const answered = frames().filter(({ type }) => type === headers);
  return {
    answered: answered.map(({ stream }) => stream),
    ...(last && { last: last.readUInt32BE(0), code: last.readUInt32BE(4) }),
  };
}

function requestWith(stream: number, name: string, value: string): string {
  const whole = headersFrame(stream, [...GET, [name, value]]).slice(9);
  let frames = '';
  for (let at = 0; at < whole.length; at += FRAME_BYTES) {
    const piece = whole.slice(at, at + FRAME_BYTES);
    const [type, flags] = at === 0 ? [headers, 1] : [continuation, 0];
    const isLast = at + FRAME_BYTES >= whole.length;
    frames += frameHeader(piece.length, type, flags | (isLast ? 4 : 0), stream) + piece;
  }
  return frames;
}

const reset = (stream: number): string => frameHeader(4, rstStream, 0, stream) + CANCEL;
const resets = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, at) => at * 2 + from)
    .map((stream) => headersFrame(stream, GET) + reset(stream))
    .join('');

describe('options of HTTP/2', () => {
  it('end a connection that resets more streams than stream_reset_burst', async () => {
    await using plane = await startGreeter({ resetBurst: 5, resetRate: 0 });
    assert.deepEqual(await goawayOf(plane, resets(5)), undefined);
    assert.deepEqual(await goawayOf(plane, resets(6)), { last: 11, code: INTERNAL_ERROR });
    // Frames count, not streams.
    const again = headersFrame(1, GET) + reset(1).repeat(8) + headersFrame(3, GET);
    assert.deepEqual(await goawayOf(plane, again), { last: 1, code: INTERNAL_ERROR });
    assert.equal(plane.stats().get('http.web.downstream_cx_protocol_error'), 2);
    assert.equal(plane.stats().get('http2.streams_active'), 0);
  });

  it('allow 1000 resets at once unless they are set', async () => {
    await using plane = await startGreeter({});
    assert.deepEqual(await goawayOf(plane, resets(1000)), undefined);
    // A slow machine gives back some meanwhile.
    const { last = 0, code } = (await goawayOf(plane, resets(1400))) ?? {};
    assert.ok(code === INTERNAL_ERROR && last >= 2001, `${code} at ${last}`);
  });

  it('refuse names and values above 64 KiB, or max_header_field_size_kb', async () => {
    for (const [options, most] of [
      [{}, 64 * KB],
      [{ maxHeaderTextBytes: 96 * KB }, 96 * KB],
    ] as const) {
      await using plane = await startGreeter(options, 200);
      const [fits, exceeds] = ['v'.repeat(most), 'v'.repeat(most + 1)];
      assert.deepEqual(await outcomeOf(plane.port, requestWith(1, 'x-a', fits)), { answered: [1] });
      const refused = { answered: [], last: 1, code: COMPRESSION_ERROR };
      assert.deepEqual(await outcomeOf(plane.port, requestWith(1, 'x-a', exceeds)), refused);
      assert.deepEqual(await outcomeOf(plane.port, requestWith(1, exceeds, '')), refused);
    }
  });

  it('refuse them of hosts as well', async () => {
    // Its Huffman code is no shorter.
    await using host = await startHost({ 'x-big': '&'.repeat(70_000) });
    for (const [maxHeaderTextBytes, status] of [
      [64 * KB, 502],
      [96 * KB, 200],
    ] as const) {
      const http2 = { ...HTTP2_OPTIONS, maxHeaderTextBytes };
      await using plane = await startDataPlane({
        upstreamPorts: [host.port],
        upstreamHttp: { protocol: 'HTTP2', maxResponseHeadersKb: 200, http2 },
      });
      // The client of Node.js takes no such field itself.
      await fetch(`http://127.0.0.1:${plane.port}/`).catch(() => undefined);
      const stats = plane.stats();
      assert.equal(stats.get(`cluster.up.upstream_rq_${status}`), 1);
      const errors = stats.get('cluster.up.upstream_cx_protocol_error');
      assert.equal(errors ?? 0, status === 502 ? 1 : 0);
    }
  });

  it('write the Huffman code where it is asked for', async () => {
    await using host = await startHost({ 'x-answer': 'answer-answer' });
    for (const usesHuffman of [false, true]) {
      const http2 = { ...HTTP2_OPTIONS, usesHuffman };
      await using plane = await startDataPlane({
        manager: { http2 },
        upstreamPorts: [host.port],
        upstreamHttp: { protocol: 'HTTP2', http2 },
      });
      const client = await openFrames(plane.port);
      client.send(headersFrame(1, [...GET, ['x-probe', 'probe-probe']]));
      const isAnswered = (): boolean => framesOf(client.received()).some(({ type }) => type === 1);
      await waitUntil('an answer', isAnswered);
      assert.equal(client.received().includes('answer-answer'), !usesHuffman);
      assert.equal(host.requests.at(-1)?.['x-probe'], 'probe-probe');
      client.destroy();
    }
  });
});

interface Goaway {
  readonly last?: number;
  readonly code?: number;
}

async function goawayOf({ port }: RunningDataPlane, sent: string): Promise<Goaway | undefined> {
  const { answered: _, ...goaway } = await outcomeOf(port, sent);
  return Object.keys(goaway).length === 0 ? undefined : goaway;
}

async function startHost(fields: Readonly<Record<string, string>>) {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer({ maxSendHeaderBlockLength: 1 << 20 }, (request, response) => {
    requests.push(request.headers);
    response.writeHead(200, fields).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    requests,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}
