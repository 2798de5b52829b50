/**
 * What a row of hot restarts costs: `node dist/scripts/bench/hot-restart.js`. Clients that keep
 * connections and clients that do not go on asking two workers of a server that is restarted again
 * and again, first Sluice, then Envoy in the same run. Prints failed and all requests, the
 * longest gap between two finished requests, the counters at the end, and what descriptors and
 * memory the first and the last epoch have.
 *
 * Options: `--restarts N` (20), `--only NAME`, `--kinds` (TCP, unix socket, TLS and TCP proxy at
 * once instead of plain TCP), `--kill` (one child of three is killed at a random moment before it
 * is live; Sluice alone, since Envoy refuses every later epoch), `--seed N` (1), `--requests N`
 * (200000 at least in all), `--idle` (no clients: what remains of restarts themselves in memory).
 */
import { rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { okBootstrap } from '../../test/support/programs/epochs.ts';
import { HTTP_KINDS, makeListenerKinds } from '../../test/support/parts/listener-kinds.ts';
import { startLoad, type LoadTarget } from '../../test/support/peers/load.ts';
import { makeScratch, type Scratch } from '../../test/support/scratch.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { EpochRow } from './support/epoch-row.ts';
import { isInstalled, treeAnonymousKib, treeDescriptors, treePssKib } from './support/processes.ts';

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '20' },
    only: { type: 'string' },
    kinds: { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    requests: { type: 'string', default: '200000' },
    idle: { type: 'boolean', default: false },
  },
});
const restarts = Number(values.restarts);
const requests = values.idle ? 0 : Number(values.requests);
const main = `${import.meta.dirname}/../../src/main.js`;
const contenders: readonly (readonly [string, readonly string[]])[] = [
  ['sluice', [process.execPath, main]],
  ['envoy', ['envoy']],
];
const PORTS = [18_300, 18_302, 18_303] as const;
const ADMIN_PORT = 18_301;
/** The same work for the first and the last epoch before they are weighed. */
const WARM_UP_REQUESTS = 10_000;
/** Where a child is killed: before it says a word, while it takes over, while its workers start. */
const KILL_LINES = [
  'initializing epoch',
  'phase loading -> warming',
  'of tcp://',
  'phase warming -> initializing',
];

console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, node ${process.version}`,
);
for (const [name, command] of contenders) {
  if (values.only !== undefined && values.only !== name) continue;
  if (name === 'envoy' && !isInstalled('envoy')) console.log('left out: envoy (not on PATH)');
  else if (name === 'envoy' && values.kill) console.log('left out: envoy (a killed child ends it)');
  else await measure(name, command);
}

interface Setup {
  readonly targets: readonly LoadTarget[];
  readonly counters: readonly string[];
  /** Connections at the upstream of the TCP proxy. */
  readonly upstreamConnections?: () => number;
  readonly close: () => void;
}

async function measure(name: string, command: readonly string[]): Promise<void> {
  const scratch = makeScratch();
  const setup = await makeSetup(scratch);
  const row = new EpochRow({
    command,
    config: scratch.file('bootstrap.json'),
    adminPort: ADMIN_PORT,
  });
  try {
    let pid = await row.start(0);
    let finished = await warmUp(setup);
    const before = await weigh(pid);
    const load = startLoad(...setup.targets);
    const random = seeded(Number(values.seed));
    let kills = 0;
    let second = '';
    for (let epoch = 1; epoch <= restarts; epoch += 1) {
      if (values.kill && epoch % 2 === 0) {
        const line = KILL_LINES[Math.floor(random() * KILL_LINES.length)] ?? '';
        await row.killChild(epoch, line, random() * 40);
        kills += 1;
      }
      pid = await row.start(epoch);
      await row.exitOf(epoch - 1);
      if (epoch === 1) second = await weigh(pid);
      const wanted = (requests * epoch) / restarts;
      await waitUntil('enough requests', () => load.finished() >= wanted, 600_000);
    }
    const result = await load.stop();
    finished += httpRequests(result.finishedByTarget);
    finished += await warmUp(setup);
    const after = await weigh(pid);
    const counted = await sumOf(row, setup.counters);
    console.log(
      `${name}: ${restarts} restarts, ${kills} children killed, ${result.failures.length} of ` +
        `${result.finished} requests failed, longest gap ${result.longestGapMs.toFixed(0)} ms, ` +
        `${finished} HTTP requests and counters at the end ${counted}`,
    );
    if (setup.upstreamConnections !== undefined) {
      const proxied = await row.stat('tcp.tcp.downstream_cx_total');
      console.log(`  TCP: ${setup.upstreamConnections()} at the upstream, counter ${proxied}`);
    }
    console.log(`  first epoch ${before}; second ${second}; last ${after}`);
    for (const text of new Set(result.failures)) console.log(`  ${text}`);
  } finally {
    row.close();
    setup.close();
    rmSync(`/dev/shm/envoy_shared_memory_${process.pid * 10}`, { force: true });
    scratch[Symbol.dispose]();
  }
}

async function makeSetup(scratch: Scratch): Promise<Setup> {
  const path = scratch.file('bootstrap.json');
  if (!values.kinds) {
    writeFileSync(path, JSON.stringify(okBootstrap(PORTS[0], ADMIN_PORT)));
    const counters = ['http.web.downstream_rq_total'];
    const targets = values.idle ? [] : [{ port: PORTS[0] }];
    return { targets, counters, close: () => undefined };
  }
  const kinds = await makeListenerKinds({
    folder: scratch.path,
    ports: PORTS,
    adminPort: ADMIN_PORT,
  });
  writeFileSync(path, JSON.stringify(kinds.bootstrap));
  return { ...kinds, counters: HTTP_KINDS };
}

/** Returns how many HTTP requests it made. */
async function warmUp(setup: Setup): Promise<number> {
  if (setup.targets.length === 0) return 0;
  const load = startLoad(...setup.targets);
  await waitUntil('the warm-up', () => load.finished() > WARM_UP_REQUESTS, 60_000);
  return httpRequests((await load.stop()).finishedByTarget);
}

/** The last target is the TCP proxy, which counts connections, where there is one. */
function httpRequests(byTarget: readonly number[]): number {
  return byTarget.slice(0, 3).reduce((sum, each) => sum + each, 0);
}

/** After the connections of the load have gone. */
async function weigh(pid: number): Promise<string> {
  const none = Number.POSITIVE_INFINITY;
  let least = { descriptors: none, kib: none, anonymousKib: none };
  let looks = 0;
  await waitUntil('a second of weighing', async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    least = {
      descriptors: Math.min(least.descriptors, treeDescriptors(pid)),
      kib: Math.min(least.kib, treePssKib(pid)),
      anonymousKib: Math.min(least.anonymousKib, treeAnonymousKib(pid)),
    };
    looks += 1;
    return looks === 20;
  });
  const mib = (kib: number): string => (kib / 1024).toFixed(1);
  return (
    `${least.descriptors} descriptors, Pss ${mib(least.kib)} MiB ` +
    `(${mib(least.anonymousKib)} anonymous)`
  );
}

async function sumOf(row: EpochRow, names: readonly string[]): Promise<number> {
  let sum = 0;
  for (const name of names) sum += await row.stat(name);
  return sum;
}

/** A small generator (mulberry32), so that a row of kills can be repeated. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
