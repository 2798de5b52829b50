/**
 * Both sides of an exchange over HTTP/2 stop it at any point of it, in any way, while siblings on
 * the same connections are asked as usual: those are answered, every gauge returns to zero, and
 * nothing throws.
 */
import assert from 'node:assert/strict';
import type { ClientHttp2Session, ClientHttp2Stream, ServerHttp2Stream } from 'node:http2';
import { it } from 'node:test';
import { attackRandom, attackTurns } from '../support/attack.ts';
import { type RunningDataPlane, startDataPlane } from '../support/parts/data-plane.ts';
import { exchange, openHttp2 } from '../support/peers/http2-client.ts';
import { startHttp2Upstream } from '../support/peers/http2.ts';
import { waitUntil, within } from '../support/wait.ts';

/** Hosts one after the other. */
const SHORT_HOSTS = 2;
const LONG_HOSTS = 400;
const STREAMS = 20;
/** Not NO_ERROR: Node.js would write empty frames without end for a stream that it has forgotten. */
const CODES = [1, 2, 3, 5, 7, 8, 11, 0xff];
const random = attackRandom(23);
const below = (limit: number): number => Math.floor(random() * limit);
const code = (): number => CODES[below(CODES.length)] ?? 0;
const piece = (): Buffer => Buffer.alloc(1 + below(below(2) === 0 ? 10 : 40_000), 'x');

/** What each side does, one step after the other, each in a turn of its own. */
const HOST_STEPS: readonly ((stream: ServerHttp2Stream) => void)[] = [
  (stream) => stream.headersSent || stream.additionalHeaders({ ':status': 103 }),
  (stream) => stream.headersSent || stream.respond({ ':status': 200 }, { waitForTrailers: true }),
  (stream) => void (stream.headersSent && stream.write(piece())),
  (stream) => void (stream.headersSent && stream.end()),
  (stream) => void stream.resume(),
  (stream) => void stream.pause(),
  (stream) => stream.close(code()),
];
const CLIENT_STEPS: readonly ((stream: ClientHttp2Stream) => void)[] = [
  (stream) => void stream.write(piece()),
  (stream) => void stream.write(piece()),
  (stream) => void stream.end(),
  (stream) => void stream.resume(),
  (stream) => void stream.pause(),
  (stream) => stream.close(code()),
];

/** Up to eight steps, and an end at the last. */
async function act<S extends ClientHttp2Stream | ServerHttp2Stream>(
  stream: S,
  steps: readonly ((stream: S) => void)[],
): Promise<void> {
  stream.on('error', () => undefined);
  for (let left = below(8); left > 0 && !stream.destroyed && !stream.closed; left--) {
    steps[below(steps.length)]?.(stream);
    for (let turns = below(3); turns > 0; turns--) await new Promise(setImmediate);
  }
  stream.close(code());
  await new Promise(setImmediate);
  // Node.js may wait for good for a write that a reset cut off.
  stream.destroy();
}

function sendTrailers(stream: ServerHttp2Stream): void {
  stream.on('wantTrailers', () => stream.sendTrailers({ 'x-t': '1' }));
}

async function round(session: ClientHttp2Session): Promise<void> {
  const acting = Array.from({ length: STREAMS }, async () => {
    const stream = session.request({ ':method': 'POST', ':path': '/act' }, { endStream: false });
    const closed = new Promise((resolve) => stream.once('close', resolve));
    await act(stream, CLIENT_STEPS);
    await within('the close', closed);
  });
  const { status, body } = await exchange(session.request({ ':path': '/good' }));
  assert.deepEqual([status, body], [200, 'good']);
  await Promise.all(acting);
}

const GAUGES = [
  'http.web.downstream_rq_active',
  'http2.streams_active',
  'http2.pending_send_bytes',
  'cluster.up.upstream_rq_active',
  'cluster.up.upstream_rq_pending_active',
  'cluster.up.http2.streams_active',
  'cluster.up.http2.pending_send_bytes',
];

async function expectQuiet(plane: RunningDataPlane): Promise<void> {
  for (const name of GAUGES) {
    await waitUntil(name, () => (plane.stats().get(name) ?? 0) === 0);
  }
}

/** A host of Node.js takes a thousand resets of one connection, and refuses what comes after them. */
const ROUNDS_OF_A_HOST = 8;

async function runRounds(count: number): Promise<void> {
  await using upstream = await startHttp2Upstream((stream, headers) => {
    sendTrailers(stream);
    if (headers[':path'] === '/act') void act(stream, HOST_STEPS);
    else {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.end('good');
    }
  });
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    upstreamHttp: { protocol: 'HTTP2' },
  });
  for (let done = 0; done < count; done++) {
    // Too many resets end a connection.
    await using client = await openHttp2(plane.port);
    for (let times = 0; times < 5; times++) await round(client.session);
    await expectQuiet(plane);
  }
  await waitUntil('the end', () => plane.stats().get('http.web.downstream_cx_active') === 0);
  const stats = plane.stats();
  assert.ok((stats.get('http2.rx_reset') ?? 0) > count, 'the client reset streams');
  assert.ok((stats.get('cluster.up.http2.rx_reset') ?? 0) > count, 'the host reset streams');
}

it('leaves nothing behind, wherever both sides stop', async () => {
  for (const _ of attackTurns(SHORT_HOSTS, LONG_HOSTS)) await runRounds(ROUNDS_OF_A_HOST);
});
