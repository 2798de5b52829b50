/**
 * Whether the supervisor answers while its admin interface is asked for the worst: each page with
 * hostile parameters, one after the other, in a server with 10,000 clusters, while `/ready` is
 * asked for all the time. `node dist/scripts/bench/admin-responsiveness.js [clusters] [seconds per
 * page] [hosts of a large cluster] [parts of pages' names]`. It prints for each page how long
 * `/ready` took (`p50`, `p99`, `max`), by how long the supervisor's loop was held up at most
 * (`block`, other programs included), the longest iteration in processor time of its thread
 * (`b.cpu`), the same without collections (`work`), and the longest collection (`gc`).
 */
import { existsSync, readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeScratch } from '../../test/support/scratch.ts';
import { startSluice } from '../../test/support/programs/sluice.ts';
import {
  adminBootstrap,
  hostilePages,
} from '../../test/support/peers/hostile/hostile-admin-pages.ts';
import { cpuSeconds } from './stats/big-server.ts';
import type { ProbeLine } from './support/loop-probe-main.ts';

const clusters = Number(process.argv[2] ?? 10_000);
const seconds = Number(process.argv[3] ?? 2);
/** Hosts of each of the two large clusters. */
const largeHosts = Number(process.argv[4] ?? 1000);
const only = process.argv[5]?.split(',');
const PAUSE_MS = 3;
/** The interval of the probe's writes is a second. */
const PROBE_MS = 1100;

using scratch = makeScratch();
const probePath = scratch.file('probe.jsonl');
const sluice = await startSluice({
  bootstrap: adminBootstrap(clusters, largeHosts),
  env: {
    BENCH_PROBE: probePath,
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'support', 'loop-probe-main.js')}`,
  },
});
const agent = new Agent({ keepAlive: true });
try {
  await delay(PROBE_MS);
  console.log(`${'page'.padEnd(70)}  p50    p99    max  block  b.cpu   work     gc     cpu  bytes`);
  await measure('(nothing)', undefined);
  for (const page of hostilePages(clusters)) {
    if (only?.some((part) => page.target.includes(part)) === false) continue;
    await measure(`${page.method} ${page.target}`, page);
  }
} finally {
  agent.destroy();
  const begun = performance.now();
  const exit = await sluice.stop();
  console.log(`SIGTERM: ${(performance.now() - begun).toFixed(0)} ms, exit ${exit.code}`);
}

async function measure(
  name: string,
  page: ReturnType<typeof hostilePages>[number] | undefined,
): Promise<void> {
  const linesBefore = probeLines().length;
  const cpuBefore = cpuSeconds(sluice.pid);
  const reader = page === undefined ? undefined : readInLoop(page);
  const times: number[] = [];
  const endMs = performance.now() + seconds * 1000;
  while (performance.now() < endMs) {
    times.push(await readyMs());
    await delay(PAUSE_MS);
  }
  const bytes = reader?.stop() ?? 0;
  const cpu = cpuSeconds(sluice.pid) - cpuBefore;
  await delay(PROBE_MS);
  const lines = probeLines()
    .slice(linesBefore)
    .filter(({ pid }) => pid === sluice.pid);
  const most = (of: (line: ProbeLine) => number): string =>
    Math.max(0, ...lines.map(of))
      .toFixed(1)
      .padStart(6);
  times.sort((left, right) => left - right);
  const at = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0)
      .toFixed(1)
      .padStart(6);
  console.log(
    `${name.slice(0, 70).padEnd(70)} ${at(0.5)} ${at(0.99)} ${at(1)} ` +
      `${most(({ longestBlockMs }) => longestBlockMs)} ` +
      `${most(({ longestBlockCpuMs }) => longestBlockCpuMs)} ` +
      `${most(({ longestWorkMs }) => longestWorkMs)} ` +
      `${most(({ longestCollectionMs }) => longestCollectionMs)} ` +
      `${cpu.toFixed(2).padStart(6)}s ${bytes}`,
  );
}

function probeLines(): readonly ProbeLine[] {
  if (!existsSync(probePath)) return [];
  return readFileSync(probePath, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ProbeLine);
}

/** Asks again as soon as an answer is there. */
function readInLoop({ method, target, body = '' }: ReturnType<typeof hostilePages>[number]): {
  stop(): number;
} {
  let bytes = 0;
  let isStopped = false;
  let socket: Socket | undefined;
  const ask = (): void => {
    socket = connect(sluice.adminPort, '127.0.0.1');
    socket.write(
      `${method} ${target} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n` +
        `content-length: ${body.length}\r\n\r\n${body}`,
    );
    socket.on('data', (chunk) => (bytes += chunk.length));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (!isStopped) setImmediate(ask);
    });
  };
  ask();
  return {
    stop: () => {
      isStopped = true;
      socket?.destroy();
      return bytes;
    },
  };
}

function readyMs(): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: sluice.adminPort, path: '/ready', agent }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(performance.now() - begun));
    }).on('error', reject);
  });
}
