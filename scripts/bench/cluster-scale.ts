/**
 * What 1,000 clusters of 100 hosts each cost, by balancing policy, in Envoy and here: exec to
 * LIVE and the Pss of all processes two seconds after that, with two workers.
 * Arguments: clusters and hosts of each, where others than these are wanted.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { bootstrap } from '../../test/support/parts/bootstrap.ts';
import { isInstalled, treePssKib } from './support/processes.ts';

const POLICIES = ['ROUND_ROBIN', 'LEAST_REQUEST', 'RANDOM', 'RING_HASH', 'MAGLEV'] as const;
const SETTLE_MS = 2_000;
const LIVE = 'starting main dispatch loop';
const main = join(import.meta.dirname, '..', '..', 'src', 'main.js');
const contenders = [
  { name: 'sluice', command: [process.execPath, main] },
  ...(isInstalled('envoy') ? [{ name: 'envoy', command: ['envoy'] }] : []),
];

const [clusters = 1_000, hosts = 100] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'sluice-cluster-scale-'));
try {
  for (const policy of POLICIES) {
    const config = join(folder, `${policy}.json`);
    writeFileSync(config, JSON.stringify(bootstrap({ clusters: makeClusters(policy) })));
    for (const { name, command } of contenders) {
      const { liveMs, pssKib } = await start([...command, '-c', config]);
      const figures = `${liveMs.toFixed(0)} ms to LIVE, ${(pssKib / 1024).toFixed(0)} MiB`;
      process.stdout.write(`${policy.padEnd(14)} ${name.padEnd(8)} ${figures}\n`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

function makeClusters(lb_policy: string): readonly object[] {
  return Array.from({ length: clusters }, (_, at) => ({
    name: `service_${at}`,
    connect_timeout: '1s',
    lb_policy,
    load_assignment: {
      cluster_name: `service_${at}`,
      endpoints: [
        {
          lb_endpoints: Array.from({ length: hosts }, (__, host) => ({
            endpoint: {
              address: {
                socket_address: {
                  address: `10.${at >> 8}.${at & 255}.${host & 255}`,
                  port_value: 80 + (host >> 8),
                },
              },
            },
          })),
        },
      ],
    },
  }));
}

async function start(
  command: readonly string[],
): Promise<{ readonly liveMs: number; readonly pssKib: number }> {
  const [program = '', ...rest] = command;
  const words = [...rest, '--concurrency', '2', '--disable-hot-restart'];
  const beganMs = performance.now();
  const child = spawn(program, words, { stdio: ['ignore', 'ignore', 'pipe'] });
  const closed = once(child, 'close');
  let log = '';
  const liveMs = await new Promise<number>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-100_000);
      if (log.includes(LIVE)) resolve(performance.now() - beganMs);
    });
    child.once('exit', () => reject(new Error(`the server ended:\n${log}`)));
  });
  await delay(SETTLE_MS);
  const pssKib = treePssKib(child.pid ?? 0);
  child.kill('SIGTERM');
  await closed;
  return { liveMs, pssKib };
}
