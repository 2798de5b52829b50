/**
 * Does other traffic notice floods of HTTP/2? `node dist/scripts/bench/http2/floods.js`. Sluice and
 * Envoy run beside each other on one core. First each flood comes once: with which GOAWAY it ends and
 * what was counted. Then, for each flood and each proxy in turn, a constant rate of requests runs
 * alone and beside the flood, some connections a second; prints p50 and p99 of both and their ratios.
 * Last, the memory of both proxies before and after. Options: `--rate N` requests a second (500),
 * `--floods N` connections a second (20), `--seconds N` of each turn (2), `--rounds N` (1), `--only
 * REGEX` of the floods' titles. About 2 minutes.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bootstrap, httpListener, staticCluster } from '../../../test/support/parts/bootstrap.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { floodOnce, HTTP2_FLOODS } from '../../../test/support/peers/hostile/http2-floods.ts';
import { loopback } from '../../../test/support/programs/epochs.ts';
import { median } from '../support/median.ts';
import type { OpenLoopResult } from '../support/open-loop-main.ts';
import { runOpenLoop } from '../support/open-loop.ts';
import {
  isInstalled,
  LOAD_CORE,
  pinTree,
  PROXY_CORE,
  type Running,
  startPinned,
  treeAnonymousKib,
  waitForPort,
} from '../support/processes.ts';
import { startUpstream } from '../support/upstream.ts';

const { values } = parseArgs({
  options: {
    rate: { type: 'string', default: '500' },
    floods: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const rate = Number(values.rate);
const seconds = Number(values.seconds);
const UPSTREAM_PORT = 18_330;
const SETTLE_MS = 2000;
const WARM_UP_SECONDS = 2;
const MAIN = `${import.meta.dirname}/../../../src/main.js`;

interface Proxy {
  readonly name: string;
  readonly command: readonly string[];
  readonly port: number;
  readonly adminPort: number;
}

const proxies: readonly Proxy[] = [
  { name: 'sluice', command: [process.execPath, MAIN], port: 18_335, adminPort: 18_336 },
  { name: 'envoy', command: ['envoy'], port: 18_337, adminPort: 18_338 },
].filter(({ name }) => name !== 'envoy' || isInstalled('envoy'));
const floods = HTTP2_FLOODS.filter(({ title }) => new RegExp(values.only).test(title));
const folder = mkdtempSync(join(tmpdir(), 'sluice-floods-'));
pinTree(process.pid, LOAD_CORE);
const upstream = await startUpstream(folder, UPSTREAM_PORT);
const flooder = fork(`${import.meta.dirname}/floods-main.js`, [values.floods]);
await once(flooder, 'message');
const running = new Map<Proxy, Running>();
try {
  for (const proxy of proxies) running.set(proxy, await start(proxy));
  for (const flood of floods) for (const proxy of proxies) await printEnd(proxy, flood);
  const before = await memory();
  for (const { title } of floods) for (const proxy of proxies) await printRatio(proxy, title);
  console.log(`anonymous memory before: ${before}; after: ${await memory()}`);
} finally {
  for (const each of running.values()) await each.stop();
  await upstream.stop();
  flooder.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();

async function start({ name, command, port, adminPort }: Proxy): Promise<Running> {
  const routes = [
    { match: { path: '/big' }, route: { cluster: 'up', prefix_rewrite: '/10k' } },
    { match: { prefix: '/' }, route: { cluster: 'up' } },
  ];
  const text = bootstrap(
    {
      listeners: [httpListener(routes, { listener: { address: loopback(port) } })],
      clusters: [staticCluster('up', [UPSTREAM_PORT])],
    },
    { admin: { address: loopback(adminPort) } },
  );
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(text));
  const words = ['-c', path, '--disable-hot-restart', '--concurrency', '1', '-l', 'off'];
  const started = startPinned(PROXY_CORE, [...command, ...words]);
  await waitForPort(port);
  await waitForPort(adminPort);
  return started;
}

async function printEnd(proxy: Proxy, flood: (typeof HTTP2_FLOODS)[number]): Promise<void> {
  const before = await counters(proxy);
  const { goaway, isEnded, answers } = await floodOnce(proxy.port, flood);
  const counted = [...(await counters(proxy))]
    .filter(([name, value]) => /^\d+$/.test(value) && value !== (before.get(name) ?? '0'))
    .map(([name, value]) => `${name} +${Number(value) - Number(before.get(name) ?? 0)}`);
  const end = isEnded ? `ended with GOAWAY ${goaway ?? 'none'}` : 'goes on';
  console.log(
    `${flood.title.padEnd(20)} ${proxy.name.padEnd(7)} ${end}, ${answers} answers; ${counted.join(', ')}`,
  );
}

/** What a flood may be counted as. */
async function counters({ adminPort }: Proxy): Promise<ReadonlyMap<string, string>> {
  const filter = 'http2\\.|premature|overload_rej|cx_protocol_error';
  const { body } = await fetchOnce({ port: adminPort, path: `/stats?filter=${filter}` });
  return new Map(
    body.split('\n').flatMap((line) => {
      const [name, value] = line.split(': ');
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

async function printRatio({ name, port }: Proxy, title: string): Promise<void> {
  const alone: OpenLoopResult[] = [];
  const beside: OpenLoopResult[] = [];
  let connections = 0;
  // Code that never ran is slow at first, in Sluice.
  await besides(port, title, WARM_UP_SECONDS);
  for (let round = 0; round < Number(values.rounds); round++) {
    alone.push(await runOpenLoop(port, rate, seconds));
    const { result, rounds } = await besides(port, title, seconds);
    beside.push(result);
    connections += rounds;
  }
  const failed = beside.reduce((sum, each) => sum + each.failed, 0);
  const told = (of: 'p50Ms' | 'p99Ms'): string => {
    const [first, second] = [alone, beside].map((list) => median(list.map((each) => each[of])));
    return `${first?.toFixed(2)} -> ${second?.toFixed(2)} ms (${((second ?? 0) / (first ?? 1)).toFixed(2)})`;
  };
  console.log(
    `${title.padEnd(20)} ${name.padEnd(7)} p50 ${told('p50Ms')}, p99 ${told('p99Ms')}; ` +
      `${connections} connections, ${failed} failed`,
  );
}

/** The ordinary traffic while a flood goes on. */
async function besides(
  port: number,
  title: string,
  forSeconds: number,
): Promise<{ readonly result: OpenLoopResult; readonly rounds: number }> {
  flooder.send({ port, title });
  const result = await runOpenLoop(port, rate, forSeconds);
  const over = once(flooder, 'message');
  flooder.send({ port: 0, title: '' });
  const [{ rounds }] = (await over) as [{ readonly rounds: number }];
  return { result, rounds };
}

async function memory(): Promise<string> {
  await delay(SETTLE_MS);
  const mib = ({ pid }: Running): string => (treeAnonymousKib(pid) / 1024).toFixed(1);
  return [...running].map(([{ name }, each]) => `${name} ${mib(each)} MiB`).join(', ');
}
