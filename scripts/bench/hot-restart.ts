/**
 * How many requests a row of hot restarts costs: `node dist/scripts/bench/hot-restart.js`. Clients
 * that keep connections and clients that do not go on asking two workers of a server that is
 * restarted again and again, first Sluice, then the reference in the same run. Prints failed and
 * all requests, the longest gap between two finished requests, and the counter at the end.
 * Options: `--restarts N` (20), `--only NAME`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { okBootstrap } from '../../test/support/epochs.ts';
import { fetchOnce } from '../../test/support/http-client.ts';
import { startLoad } from '../../test/support/load.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { isInstalled } from './processes.ts';

const { values } = parseArgs({
  options: { restarts: { type: 'string', default: '20' }, only: { type: 'string' } },
});
const restarts = Number(values.restarts);
const main = join(import.meta.dirname, '..', '..', 'src', 'main.js');
const contenders: readonly (readonly [string, readonly string[]])[] = [
  ['sluice', [process.execPath, main]],
  ['envoy', ['envoy']],
];
const PORT = 18_300;
const ADMIN_PORT = 18_301;

console.log(
  `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, node ${process.version}`,
);
for (const [name, command] of contenders) {
  if (values.only !== undefined && values.only !== name) continue;
  if (name === 'envoy' && !isInstalled('envoy')) console.log('left out: envoy (not on PATH)');
  else await measure(name, command);
}

async function measure(name: string, command: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const config = join(folder, 'bootstrap.json');
  writeFileSync(config, JSON.stringify(okBootstrap(PORT, ADMIN_PORT)));
  const running: ChildProcess[] = [];
  try {
    running.push(await startEpoch(command, config, 0));
    const load = startLoad({ port: PORT });
    for (let epoch = 1; epoch <= restarts; epoch += 1) {
      running.push(await startEpoch(command, config, epoch));
      await exitOf(running[epoch - 1]);
    }
    const { finished, failures, longestGapMs } = await load.stop();
    const counted = await stat('http.web.downstream_rq_total');
    console.log(
      `${name}: ${restarts} restarts, ${failures.length} of ${finished} requests failed, ` +
        `longest gap ${longestGapMs.toFixed(0)} ms, counter at the end ${counted}`,
    );
    for (const text of new Set(failures)) console.log(`  ${text}`);
  } finally {
    for (const child of running) child.kill('SIGKILL');
    rmSync(`/dev/shm/envoy_shared_memory_${process.pid * 10}`, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startEpoch(
  [program = '', ...before]: readonly string[],
  config: string,
  epoch: number,
): Promise<ChildProcess> {
  const words = ['-c', config, '--base-id', String(process.pid), '--restart-epoch', String(epoch)];
  const times = ['--drain-time-s', '1', '--parent-shutdown-time-s', '2'];
  const more = ['--concurrency', '2', '-l', 'off'];
  const child = spawn(program, [...before, ...words, ...times, ...more], { stdio: 'ignore' });
  await waitUntil(`epoch ${epoch}`, () => isLive(epoch), 20_000);
  return child;
}

async function isLive(epoch: number): Promise<boolean> {
  const answer = await ask('/server_info');
  if (answer === undefined) return false;
  const info = JSON.parse(answer) as {
    readonly state: string;
    readonly command_line_options: { readonly restart_epoch: number };
  };
  return info.state === 'LIVE' && info.command_line_options.restart_epoch === epoch;
}

async function stat(name: string): Promise<number> {
  const answer = (await ask(`/stats?filter=^${name}$`)) ?? '';
  return Number(answer.split(': ')[1] ?? 0);
}

async function ask(path: string): Promise<string | undefined> {
  const answer = await fetchOnce({ port: ADMIN_PORT, path }).catch(() => undefined);
  return answer?.status === 200 ? answer.body : undefined;
}

async function exitOf(child: ChildProcess | undefined): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  await once(child, 'exit');
}
