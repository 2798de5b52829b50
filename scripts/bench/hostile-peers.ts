/**
 * Does other traffic notice clients and upstreams that stop, stall and flood, and does their memory come
 * back? A constant rate of requests runs alone, then beside each kind of peer in turn; prints its p99 each
 * time, and the sum of Pss before and after each round. The peers share the load's core, so that the
 * reference (`--with envoy`) says what of it is theirs. Options: `--rate N` (2000), `--rounds N` (2).
 * About a minute: node dist/scripts/bench/hostile-peers.js
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  abandonResponses,
  abortRequestsEverywhere,
  flood,
  meetAbortedResponses,
  stall,
  startHostileUpstream,
} from '../../test/support/hostile-peers.ts';
import { allContenders } from './contenders.ts';
import type { OpenLoopResult } from './open-loop-main.ts';
import { runOpenLoop } from './open-loop.ts';
import { LOAD_CORE, pinTree, treePssKib } from './processes.ts';
import { startUpstream } from './upstream.ts';

const SECONDS = 4;
const PAUSE_MS = 200;
const SETTLE_MS = 5000;
const { values } = parseArgs({
  options: {
    with: { type: 'string', default: 'sluice' },
    rate: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '2' },
  },
});
const rounds = Number(values.rounds);
/** Each runs again and again while the others are measured. */
const attacks: readonly (readonly [title: string, attack: (port: number) => Promise<void>])[] = [
  ['requests cut anywhere', (port) => abortRequestsEverywhere(port, 'reset')],
  ['responses cut anywhere', (port) => meetAbortedResponses(port, 'reset')],
  ['responses left alone', (port) => abandonResponses(port, 'reset')],
  ['stalled heads, bodies, reads', (port) => stall(port)],
  ['floods', (port) => flood(port, 300)],
];

const contender = allContenders().find(({ name }) => name === values.with);
if (contender === undefined) throw new Error(`cannot measure: nobody is called ${values.with}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
const port = 18_100;
const upstreamPort = 18_080;
pinTree(process.pid, LOAD_CORE);
const ordinary = await startUpstream(folder, upstreamPort);
const hostile = await startHostileUpstream();
const traits = ['short_timeouts', 'second_cluster'] as const;
const place = { folder, port, upstreamPort, traits, secondUpstreamPort: hostile.port };
const running = await contender.start(place);
try {
  await runOpenLoop(port, Number(values.rate), 2);
  const alone = await runOpenLoop(port, Number(values.rate), SECONDS);
  print('alone', alone);
  const before = treePssKib(running.pid);
  const after: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const [title, attack] of attacks) {
      const result = await besides(attack);
      if (round === rounds) print(title, result);
    }
    await delay(SETTLE_MS);
    after.push(treePssKib(running.pid));
  }
  const mib = [before, ...after].map((kib) => (kib / 1024).toFixed(1)).join(', ');
  console.log(`MiB of Pss before and after each round: ${mib}`);
} finally {
  await running.stop();
  await ordinary.stop();
  await hostile.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** The ordinary traffic while an attack goes on. */
async function besides(attack: (port: number) => Promise<void>): Promise<OpenLoopResult> {
  let isOver = false;
  const attacking = (async () => {
    while (!isOver) {
      await attack(port);
      // The load shares its core with the peers.
      await delay(PAUSE_MS);
    }
  })();
  const result = await runOpenLoop(port, Number(values.rate), SECONDS);
  isOver = true;
  await attacking;
  return result;
}

function print(title: string, { sent, failed, p50Ms, p99Ms, maxMs }: OpenLoopResult): void {
  const times = [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(2)).join(' / ');
  console.log(
    `${title.padEnd(30)} ${sent} requests, ${failed} failed, p50 / p99 / max ${times} ms`,
  );
}
