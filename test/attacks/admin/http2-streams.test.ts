/**
 * HTTP/2 clients of the admin interface that stop in the middle of anything: streams with bodies,
 * windows of any size, resets, and connections that end. The runtime's own HTTP/2 carries them, of
 * which hosts and clients are known that never come to an end with a reset; the supervisor answers
 * probes, and keeps nothing.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { attackRandom, attackRuns, attackTurns } from '../../support/attack.ts';
import { adminBootstrap } from '../../support/peers/hostile/hostile-admin-pages.ts';
import { resetFrame, settingsFrame, windowUpdateFrame } from '../../../workers/http2/frames.ts';
import { dataFrame, type Fields, headersFrame } from '../../support/peers/http2-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const CLUSTERS = attackRuns(100, 2000);
const STREAMS = 12;
const STEPS = 60;
/** More than pages in the making take, less than what is never let go of. */
const GROWTH_KIB = 200 * 1024;
const PATHS = ['/ready', '/stats', '/config_dump', '/clusters?format=json', '/nosuch', '/logging'];
const CODES = [0, 1, 2, 7, 8, 11, 0xffffffff];
const INITIAL_WINDOW = 4;
const random = attackRandom(41);
const below = (limit: number): number => Math.floor(random() * limit);
const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;

function fields(): Fields {
  return [
    [':method', one(['GET', 'GET', 'POST', 'HEAD'])],
    [':scheme', 'http'],
    [':authority', 'a'],
    [':path', one(PATHS)],
  ];
}

/** What a client does next with one of its streams. */
const STEPS_OF_STREAMS: readonly ((stream: number) => string)[] = [
  (stream) => headersFrame(stream, fields(), 0),
  (stream) => headersFrame(stream, fields()),
  (stream) => headersFrame(stream, fields()),
  (stream) => dataFrame(stream, 'x'.repeat(below(3000))),
  (stream) => dataFrame(stream, '', below(2)),
  (stream) => resetFrame(stream, one(CODES)),
  (stream) => windowUpdateFrame(stream, 1 + below(70_000)),
  () => windowUpdateFrame(0, 1 + below(200_000)),
  () => settingsFrame([[INITIAL_WINDOW, below(100_000)]]),
];

async function attack(port: number): Promise<void> {
  const client = await openRaw(port);
  const window = one([0, 1, 100, 65_535, 1_000_000]);
  client.send(`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${settingsFrame([[INITIAL_WINDOW, window]])}`);
  for (let step = below(STEPS); step > 0; step--) {
    client.send(one(STEPS_OF_STREAMS)(1 + 2 * below(STREAMS)));
    if (below(3) === 0) await new Promise(setImmediate);
  }
  if (below(4) === 0) client.end();
  else client.destroy();
}

const memoryKib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

it('serves probes whatever its HTTP/2 clients break off, and keeps nothing', async () => {
  await using sluice = await startSluice({ bootstrap: adminBootstrap(CLUSTERS, CLUSTERS) });
  await sluice.admin('/stats');
  const before = memoryKib(sluice.pid);
  for (const _ of attackTurns(12, 4000)) {
    await Promise.all(Array.from({ length: 4 }, () => attack(sluice.adminPort)));
    assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
  }
  const active = 'http.admin.downstream_cx_active';
  await waitUntil('all are gone', async () => (await sluice.stat(active)) <= 2);
  assert.ok(memoryKib(sluice.pid) - before < GROWTH_KIB, `${before} KiB before`);
  assert.doesNotMatch(sluice.stderr(), /cannot answer|exception/);
});
