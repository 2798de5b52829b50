/**
 * How much later answers come while a cluster of 10,000 hosts is replaced every second: requests of
 * a constant rate to another cluster of the same worker, in quiet, under updates in which ten hosts
 * are others, under updates in which all are; the same in Envoy. For Sluice also beside a process
 * that has nothing to do with it and takes as much of the CPU as the updates do: what is left of
 * the difference is what the proxy itself does to its traffic. Wanted: p99 at most 5 ms later.
 * Arguments: seconds for each (10 without), policies of the large cluster (ROUND_ROBIN without).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileSource, moveIntoPlace } from '../../test/support/peers/discovery-files.ts';
import { makeScratch, type Scratch } from '../../test/support/scratch.ts';
import { benchBootstrap } from './support/bootstrap.ts';
import { CHANGES, HOSTS, largeAssignment } from './support/large-assignment.ts';
import { runOpenLoop } from './support/open-loop.ts';
import { isInstalled, treeCpuMs } from './support/processes.ts';
import { startUpstream } from './support/upstream.ts';

const UPDATE_INTERVAL_MS = 1000;
const RATE = 500;
const WANTED_MS = 5;
const UPSTREAM_PORT = 18_081;
const PORT = 18_101;
const LIVE = 'starting main dispatch loop';
const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.js');
const BURN = `setInterval(() => {
  for (const end = process.cpuUsage().user + 1000 * Number(process.argv[1]); process.cpuUsage().user < end;);
}, ${UPDATE_INTERVAL_MS})`;

const [seconds = '10', ...policies] = process.argv.slice(2);
const contenders = [
  { name: 'sluice', command: [process.execPath, MAIN] },
  ...(isInstalled('envoy') ? [{ name: 'envoy', command: ['envoy'] }] : []),
];

using scratch = makeScratch();
const upstream = await startUpstream(scratch.path, UPSTREAM_PORT);
try {
  for (const policy of policies.length === 0 ? ['ROUND_ROBIN'] : policies) {
    for (const { name, command } of contenders) await measure(`${policy} ${name}`, policy, command);
  }
} finally {
  await upstream.stop();
}

async function measure(name: string, policy: string, command: readonly string[]): Promise<void> {
  moveIntoPlace(scratch, 'eds.json', { version: '0', resources: [largeAssignment(0, HOSTS)] });
  writeFileSync(scratch.file('bootstrap.json'), JSON.stringify(bootstrapOf(policy, scratch)));
  const server = await start([...command, '-c', scratch.file('bootstrap.json')]);
  try {
    // Code is compiled before it counts.
    await load(2);
    await underUpdates(HOSTS, async () => await load(6));
    const quiet = await phase(`${name}: in quiet`, server);
    for (const { what, changed } of CHANGES) {
      const label = `${name}: ${what}`;
      const busy = await underUpdates(changed, async () => await phase(label, server));
      const laterMs = busy.p99Ms - quiet.p99Ms;
      const cpuMs = Math.max(0, busy.cpuMs - quiet.cpuMs);
      const verdict = laterMs <= WANTED_MS ? 'reached' : 'MISSED ';
      print(
        `  ${verdict} p99 ${laterMs.toFixed(2)} ms later; ${cpuMs.toFixed(0)} ms of CPU per update`,
      );
      if (!name.includes('sluice')) continue;
      const burner = spawn(process.execPath, ['-e', BURN, String(Math.round(cpuMs))]);
      const beside = await phase(`${name}: beside as much foreign work`, server);
      burner.kill('SIGKILL');
      print(
        `          foreign work alone: p99 ${(beside.p99Ms - quiet.p99Ms).toFixed(2)} ms later`,
      );
    }
  } finally {
    server.kill('SIGTERM');
    await once(server, 'close');
  }
}

async function underUpdates<Result>(changed: number, run: () => Promise<Result>): Promise<Result> {
  let round = 0;
  // Made before: what this process does meanwhile takes CPU time from the others.
  const texts = [0, 1].map((parity) =>
    JSON.stringify({ version_info: String(parity), resources: [largeAssignment(parity, changed)] }),
  );
  const timer = setInterval(
    () => moveIntoPlace(scratch, 'eds.json', texts[++round % 2] ?? ''),
    UPDATE_INTERVAL_MS,
  );
  const result = await run();
  clearInterval(timer);
  await delay(UPDATE_INTERVAL_MS);
  return result;
}

/** CPU time is that of the server in each second, in milliseconds. */
async function phase(
  what: string,
  server: ChildProcess,
): Promise<{ readonly p99Ms: number; readonly cpuMs: number }> {
  const before = treeCpuMs(server.pid ?? 0);
  const { p50Ms, p99Ms, p999Ms, maxMs, failed } = await load(Number(seconds));
  const cpuMs = (treeCpuMs(server.pid ?? 0) - before) / Number(seconds);
  const times = [p50Ms, p99Ms, p999Ms, maxMs].map((ms) => ms.toFixed(2)).join(' / ');
  print(`${what.padEnd(52)} p50 / p99 / p99.9 / most: ${times} ms, ${failed} failed`);
  return { p99Ms, cpuMs };
}

function load(forSeconds: number): ReturnType<typeof runOpenLoop> {
  return runOpenLoop(PORT, RATE, forSeconds);
}

function bootstrapOf(lb_policy: string, from: Scratch): object {
  const large = {
    name: 'large',
    type: 'EDS',
    lb_policy,
    connect_timeout: '1s',
    eds_cluster_config: { eds_config: fileSource(from.file('eds.json')) },
  };
  const plain = benchBootstrap({ port: PORT, upstreamPort: UPSTREAM_PORT }) as {
    readonly static_resources: { readonly clusters: readonly object[] };
  };
  const { static_resources: resources } = plain;
  return {
    ...plain,
    node: { id: 'bench', cluster: 'bench' },
    static_resources: { ...resources, clusters: [...resources.clusters, large] },
  };
}

async function start(command: readonly string[]): Promise<ChildProcess> {
  const [program = '', ...rest] = command;
  const words = [...rest, '--concurrency', '1', '--disable-hot-restart'];
  const server = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-100_000);
      if (log.includes(LIVE)) resolve();
    });
    server.once('exit', () => reject(new Error(`the server ended:\n${log}`)));
  });
  return server;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
