/**
 * What it costs to sample heaps all the time: the same server without any sampling of workers, and
 * with `--heap-sampling`, in turns within one run. Prints the ratios of requests per second and of
 * CPU time per request, each turn by itself and the median of all: `node
 * dist/scripts/bench/heap-sampling.js [--seconds 3] [--turns 8]`. The supervisor is sampled in
 * both; it carries no traffic. Needs `wrk`, `nginx`, `taskset`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { median } from './support/median.ts';
import { MAIN } from '../../test/support/programs/sluice.ts';
import { benchBootstrap } from './support/bootstrap.ts';
import {
  PROXY_CORE,
  type Running,
  startPinned,
  treeCpuMs,
  waitForPort,
} from './support/processes.ts';
import { startUpstream } from './support/upstream.ts';
import { runWrk } from './support/wrk.ts';

interface Server {
  readonly port: number;
  readonly running: Running;
}

interface Turn {
  readonly requestsPerSecond: number;
  readonly cpuMicros: number;
}

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    turns: { type: 'string', default: '8' },
  },
});
const seconds = Number(values.seconds);
const turns = Number(values.turns);
/** Sampling begins with the first look at the heap after the start. */
const UNTIL_SAMPLED_MS = 4000;
const WARM_UP_SECONDS = 2;

const folder = mkdtempSync(join(tmpdir(), 'sluice-heap-sampling-'));
try {
  const base = 21_000 + (process.pid % 4_000);
  const upstream = await startUpstream(folder, base);
  const without = await start(base + 1, upstream.port, []);
  const sampled = await start(base + 2, upstream.port, ['--heap-sampling']);
  await delay(UNTIL_SAMPLED_MS);
  for (const { port } of [without, sampled]) {
    await runWrk({ port, connections: 64, seconds: WARM_UP_SECONDS });
  }
  await compare(without, sampled);
  await Promise.all([without.running.stop(), sampled.running.stop(), upstream.stop()]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function start(
  port: number,
  upstreamPort: number,
  options: readonly string[],
): Promise<Server> {
  const path = join(folder, `bootstrap-${port}.json`);
  writeFileSync(path, JSON.stringify(benchBootstrap({ port, upstreamPort })));
  const words = ['-c', path, '--disable-hot-restart', '--concurrency', '1', '-l', 'error'];
  const running = startPinned(PROXY_CORE, [process.execPath, MAIN, ...words, ...options]);
  await waitForPort(port);
  return { port, running };
}

async function compare(without: Server, sampled: Server): Promise<void> {
  const rates: number[] = [];
  const cpus: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    // The first may find the machine in another state than the next.
    const order = turn % 2 === 0 ? [without, sampled] : [sampled, without];
    const [first, second] = [await measure(order[0]), await measure(order[1])];
    const [plain, own] = turn % 2 === 0 ? [first, second] : [second, first];
    rates.push(own.requestsPerSecond / plain.requestsPerSecond);
    cpus.push(own.cpuMicros / plain.cpuMicros);
    console.log(
      `turn ${turn + 1}: ${plain.requestsPerSecond.toFixed(0)} and sampled ` +
        `${own.requestsPerSecond.toFixed(0)} requests/s; CPU ${plain.cpuMicros.toFixed(1)} and ` +
        `${own.cpuMicros.toFixed(1)} us a request`,
    );
  }
  console.log(
    `sampled to plain: throughput ${median(rates).toFixed(4)} (wanted above 0.99 to be always on), ` +
      `CPU time per request ${median(cpus).toFixed(4)}`,
  );
}

async function measure(server: Server | undefined): Promise<Turn> {
  if (server === undefined) throw new Error('no server to measure');
  const beforeMs = treeCpuMs(server.running.pid);
  const { requests, requestsPerSecond } = await runWrk({
    port: server.port,
    connections: 64,
    seconds,
  });
  const cpuMs = treeCpuMs(server.running.pid) - beforeMs;
  return { requestsPerSecond, cpuMicros: (cpuMs * 1000) / Math.max(1, requests) };
}
