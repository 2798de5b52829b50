/**
 * Frames made at random from whole ones and broken ones, on many connections of one listener: every
 * connection can be ended, nothing throws, and no stream, request or connection is left over.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startDataPlane } from '../support/parts/data-plane.ts';
import { dataFrame, GET, headersFrame, openHttp2, PREFACE } from '../support/peers/http2-client.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { startHttpUpstream } from '../support/peers/upstream.ts';
import { attackRandom, attackTurns } from '../support/attack.ts';
import { waitUntil } from '../support/wait.ts';
import {
  frameHeader,
  goawayFrame,
  pingFrame,
  resetFrame,
  settingsFrame,
  windowUpdateFrame,
} from '../../workers/http2/frames.ts';

const random = attackRandom(20);
const AT_ONCE = 20;

function below(limit: number): number {
  return Math.floor(random() * limit);
}

function bytes(length: number): string {
  return Array.from({ length }, () => String.fromCharCode(below(256))).join('');
}

/** Numbers near to each other, so that frames meet the streams of others. */
const stream = (): number => (random() < 0.8 ? 1 + 2 * below(6) : below(20));

const MAKERS: readonly (() => string)[] = [
  () => headersFrame(stream(), GET, below(2)),
  () => headersFrame(stream(), [...GET, ['content-length', String(below(20))]], 0),
  () => headersFrame(stream(), [['x-trailer', '1']], 1),
  () => headersFrame(stream(), [...GET.slice(below(4)), [':path', `/${below(3)}`]], below(2)),
  () => dataFrame(stream(), bytes(below(40)), below(2)),
  () => `${frameHeader(4, 0, 8, stream())}${bytes(4)}`,
  () => resetFrame(stream(), below(14)),
  () => windowUpdateFrame(below(8), random() < 0.1 ? 2 ** 31 - 1 : below(1000)),
  () => settingsFrame([[1 + below(8), random() < 0.2 ? 2 ** 31 : below(70_000)]]),
  () => pingFrame(bytes(8), random() < 0.5),
  () => goawayFrame(below(10), below(14), bytes(below(10))),
  () => `${frameHeader(5, 2, 0, stream())}${bytes(5)}`,
  () => `${frameHeader(3, 9, below(8), stream())}${bytes(3)}`,
  () => {
    const length = below(30);
    return frameHeader(length, below(14), below(256), below(20)) + bytes(length);
  },
  () => bytes(below(30)),
];

function conversation(): string {
  let text = random() < 0.95 ? PREFACE : PREFACE.slice(0, below(PREFACE.length));
  for (let count = 1 + below(20); count > 0; count--)
    text += MAKERS[below(MAKERS.length)]?.() ?? '';
  if (random() > 0.2) return text;
  const at = below(text.length);
  return text.slice(0, at) + bytes(1) + text.slice(at + 1);
}

async function attack(port: number): Promise<void> {
  const client = await openRaw(port);
  const text = conversation();
  const cut = below(text.length);
  client.send(text.slice(0, cut));
  if (random() < 0.5) await new Promise((resolve) => setImmediate(resolve));
  client.send(text.slice(cut));
  if (random() < 0.3) client.destroy();
  else {
    client.end();
    await client.closed();
    client.destroy();
  }
}

it('leaves nothing behind, whatever frames come', async () => {
  await using upstream = await startHttpUpstream((request, response) =>
    request.resume().on('end', () => response.end('answer')),
  );
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: { delayedCloseTimeoutMs: 10 },
  });
  let connections = 0;
  for (const turn of attackTurns(20, 5_000)) {
    connections = (turn + 1) * AT_ONCE;
    await Promise.all(Array.from({ length: AT_ONCE }, () => attack(plane.port)));
  }
  await waitUntil('the last connection to end', () => {
    const stats = plane.stats();
    return stats.get('http.web.downstream_cx_active') === 0;
  });
  const stats = plane.stats();
  assert.equal(stats.get('http.web.downstream_rq_active'), 0);
  assert.equal(stats.get('http2.streams_active'), 0);
  assert.equal(stats.get('http.web.downstream_cx_http2_active'), 0);
  assert.ok((stats.get('http.web.downstream_rq_http2_total') ?? 0) > connections / 10);
  await using client = await openHttp2(plane.port);
  assert.equal((await client.ask({ ':path': '/' })).body, 'answer');
});
