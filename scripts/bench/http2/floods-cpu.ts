/**
 * What one connection of each flood of HTTP/2 costs a proxy, by CPU time, which other work on the
 * machine hardly changes: of a process that has just started, and of one that has seen many of
 * them; and Sluice's longest turn of the loop meanwhile, which is how long one connection holds up all
 * others. `node dist/scripts/bench/http2/floods-cpu.js`; options: `--young N` and `--old N`
 * connections (5, 200), `--only REGEX` of the floods' titles, `--with NAME` (sluice, envoy). About
 * 10 seconds a flood.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { bootstrap, httpListener, staticCluster } from '../../../test/support/parts/bootstrap.ts';
import { floodOnce, HTTP2_FLOODS } from '../../../test/support/peers/hostile/http2-floods.ts';
import { pipeliningOnce } from '../../../test/support/peers/hostile/pipelining.ts';
import { loopback } from '../../../test/support/programs/epochs.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import {
  isInstalled,
  LOAD_CORE,
  pinTree,
  PROXY_CORE,
  type Running,
  startPinned,
  threadTimes,
  treeOf,
  waitForPort,
} from '../support/processes.ts';
import type { LoopTurns } from './turn-probe.ts';
import { startUpstream } from '../support/upstream.ts';

const { values } = parseArgs({
  options: {
    young: { type: 'string', default: '5' },
    old: { type: 'string', default: '200' },
    only: { type: 'string', default: '' },
    with: { type: 'string', default: '' },
  },
});
const UPSTREAM_PORT = 18_430;
const PORT = 18_435;
const ADMIN_PORT = 18_436;
const SETTLE_MS = 1000;
/** What a connection leaves behind is dealt with by then. */
const REST_MS = 30;
const MAIN = `${import.meta.dirname}/../../../src/main.js`;

interface Attack {
  readonly title: string;
  once(): Promise<unknown>;
}

const attacks: readonly Attack[] = [
  ...HTTP2_FLOODS.map((flood) => ({ title: flood.title, once: () => floodOnce(PORT, flood) })),
  { title: 'HTTP/1 pipelining', once: () => pipeliningOnce(PORT) },
].filter(({ title }) => new RegExp(values.only).test(title));

const folder = mkdtempSync(join(tmpdir(), 'sluice-floods-cpu-'));
const probe = pathToFileURL(join(import.meta.dirname, 'turn-probe.js'));
probe.searchParams.set('folder', folder);
const programs = [
  { name: 'sluice', command: [process.execPath, `--import=${probe.href}`, MAIN] },
  { name: 'envoy', command: ['envoy'] },
].filter(({ name }) => name.includes(values.with) && (name !== 'envoy' || isInstalled(name)));

pinTree(process.pid, LOAD_CORE);
const upstream = await startUpstream(folder, UPSTREAM_PORT);
try {
  for (const attack of attacks) for (const program of programs) await measure(program, attack);
} finally {
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function measure(
  { name, command }: (typeof programs)[number],
  attack: Attack,
): Promise<void> {
  const running = await start(command);
  const young = await cpuOf(running, attack, Number(values.young));
  await cpuOf(running, attack, Number(values.old));
  const old = await cpuOf(running, attack, Number(values.young));
  const told = [`CPU per connection ${young.toFixed(2)} ms young, ${old.toFixed(2)} old`];
  if (name === 'sluice') {
    told.push(`longest turn old ${(await longestTurn(running, attack)).toFixed(2)} ms`);
    await running.stop();
    const fresh = await start(command);
    told.push(`young ${(await longestTurn(fresh, attack)).toFixed(2)} ms`);
    await fresh.stop();
  } else await running.stop();
  console.log(`${attack.title.padEnd(20)} ${name.padEnd(7)} ${told.join('; ')}`);
}

async function start(command: readonly string[]): Promise<Running> {
  const routes = [
    { match: { path: '/big' }, route: { cluster: 'up', prefix_rewrite: '/10k' } },
    { match: { prefix: '/' }, route: { cluster: 'up' } },
  ];
  const text = bootstrap(
    {
      listeners: [httpListener(routes, { listener: { address: loopback(PORT) } })],
      clusters: [staticCluster('up', [UPSTREAM_PORT])],
    },
    { admin: { address: loopback(ADMIN_PORT) } },
  );
  const path = join(folder, 'bootstrap.json');
  writeFileSync(path, JSON.stringify(text));
  const words = ['-c', path, '--disable-hot-restart', '--concurrency', '1', '-l', 'off'];
  const started = startPinned(PROXY_CORE, [...command, ...words]);
  await waitForPort(PORT);
  await waitForPort(ADMIN_PORT);
  await delay(SETTLE_MS);
  return started;
}

/** Milliseconds per connection, of all threads of all processes. */
async function cpuOf({ pid }: Running, attack: Attack, count: number): Promise<number> {
  const before = total(pid);
  for (let at = 0; at < count; at++) {
    await attack.once();
    await delay(REST_MS);
  }
  return (total(pid) - before) / count;
}

function total(pid: number): number {
  const times = [...threadTimes(pid).values()].flatMap((threads) => [...threads.values()]);
  return times.reduce((sum, each) => sum + each, 0);
}

/** The longest turn of the worker, which is the process that was started last. */
async function longestTurn({ pid }: Running, attack: Attack): Promise<number> {
  const worker = Math.max(...treeOf(pid));
  await toggle(worker);
  // Alone: what the loop does by itself, the first time.
  await delay(SETTLE_MS);
  await toggle(worker);
  await toggle(worker);
  for (let at = 0; at < Number(values.young); at++) {
    await attack.once();
    await delay(REST_MS);
  }
  return (await toggle(worker)).longestUs / 1000;
}

async function toggle(pid: number): Promise<LoopTurns> {
  const path = join(folder, `${pid}.json`);
  process.kill(pid, 'SIGWINCH');
  await waitUntil(`turns of ${pid}`, () => existsSync(path));
  const turns = JSON.parse(readFileSync(path, 'utf8')) as LoopTurns;
  rmSync(path);
  return turns;
}
