/**
 * Does other traffic notice clients and upstreams that stop, stall and flood, and does their memory
 * come back? A constant rate of requests runs alone, then beside each kind of peer in turn; prints
 * its p99 each time, and how many times the one alone that is. Then the memory before and after
 * each round: what the system counts without mapped files, and what V8 holds in heap and buffers
 * once all garbage is collected. The peers come at a constant rate too and have the lowest priority
 * on the load's core. Options: `--rate N` (2000), `--peers N` connections a second (200), `--rounds
 * N` (2), `--with envoy`. About 75 seconds: node dist/scripts/bench/hostile-peers.js
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { allContenders } from './support/contenders.ts';
import { heldMemory, probeArguments } from './support/held-memory.ts';
import type { OpenLoopResult } from './support/open-loop-main.ts';
import { runOpenLoop } from './support/open-loop.ts';
import { LOAD_CORE, pinTree, treeAnonymousKib } from './support/processes.ts';
import { startUpstream } from './support/upstream.ts';

const SECONDS = 4;
const SETTLE_MS = 3000;
const PEERS_MAIN = join(import.meta.dirname, 'hostile-peers-main.js');
const { values } = parseArgs({
  options: {
    with: { type: 'string', default: 'sluice' },
    rate: { type: 'string', default: '2000' },
    peers: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '2' },
  },
});
const rate = Number(values.rate);
const rounds = Number(values.rounds);

const contender = allContenders().find(({ name }) => name === values.with);
if (contender === undefined) throw new Error(`cannot measure: nobody is called ${values.with}`);
const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
const port = 18_100;
const upstreamPort = 18_080;
pinTree(process.pid, LOAD_CORE);
const ordinary = await startUpstream(folder, upstreamPort);
const peers = fork(PEERS_MAIN, [String(port), values.peers]);
const [{ upstreamPort: secondUpstreamPort, titles }] = (await once(peers, 'message')) as [
  { readonly upstreamPort: number; readonly titles: readonly string[] },
];
const traits = ['short_timeouts', 'second_cluster'] as const;
const nodeArguments = probeArguments(folder);
const place = { folder, port, upstreamPort, traits, secondUpstreamPort, nodeArguments };
const running = await contender.start(place);
try {
  await runOpenLoop(port, rate, 2);
  const alone = await runOpenLoop(port, rate, SECONDS);
  print('alone', alone, alone);
  const memory = [await memoryNow()];
  for (let round = 1; round <= rounds; round++) {
    for (const title of titles) {
      const result = await besides(title);
      if (round === rounds) print(title, result, alone);
    }
    memory.push(await memoryNow());
  }
  print('alone again', await runOpenLoop(port, rate, SECONDS), alone);
  for (const [round, text] of memory.entries()) {
    console.log(`${round === 0 ? 'before' : `after round ${round}`}: ${text}`);
  }
} finally {
  await running.stop();
  await ordinary.stop();
  peers.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

/** The ordinary traffic while an attack goes on. */
async function besides(title: string): Promise<OpenLoopResult> {
  peers.send(title);
  const result = await runOpenLoop(port, rate, SECONDS);
  const over = once(peers, 'message');
  peers.send('');
  await over;
  return result;
}

async function memoryNow(): Promise<string> {
  await delay(SETTLE_MS);
  const system = `${mib(treeAnonymousKib(running.pid) * 1024)} MiB`;
  if (contender?.kind !== 'sluice') return system;
  const { heapUsed, heapTotal, young, external } = await heldMemory(folder, running.pid);
  const collected = mib(treeAnonymousKib(running.pid) * 1024);
  return (
    `${system}; once collected ${mib(heapUsed)} MiB used of ${mib(heapTotal)} of heap ` +
    `(${mib(young)} for new objects), ${mib(external)} outside it, ${collected} in all`
  );
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function print(title: string, result: OpenLoopResult, alone: OpenLoopResult): void {
  const { sent, failed, p50Ms, p99Ms, maxMs } = result;
  const times = [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(2)).join(' / ');
  console.log(
    `${title.padEnd(30)} ${sent} requests, ${failed} failed, p50 / p99 / max ${times} ms, ` +
      `p99 ${(p99Ms / alone.p99Ms).toFixed(2)} times that alone`,
  );
}
