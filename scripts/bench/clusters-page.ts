/**
 * What `/clusters` costs with 10,000 clusters beside Envoy, in processor time, both in turns:
 * `node dist/scripts/bench/clusters-page.js [clusters] [rounds]`. It also says whether both pages are the
 * same, lines in whichever order.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from '../../test/support/programs/sluice.ts';
import { median } from './support/median.ts';
import { cpuSeconds, fetchText, startBigServer, writeBigBootstrap } from './stats/big-server.ts';
import type { BigServer } from './stats/big-server.ts';

const clusters = Number(process.argv[2] ?? 10_000);
const rounds = Number(process.argv[3] ?? 7);
/** One round's pages: the clock of processes ticks every 10 ms. */
const PAGES_PER_ROUND = 5;
const PAGES = ['/clusters', '/clusters?format=json', '/clusters?filter=service_.*9'];

const folder = mkdtempSync(join(tmpdir(), 'clusters-page-'));
const start = async (name: 'envoy' | 'sluice', command: readonly string[]): Promise<BigServer> =>
  await startBigServer({ name, command, concurrency: 1 }, config);
const config = writeBigBootstrap({ folder, port: 0, upstreamPort: 1 }, clusters);
const sluice = await start('sluice', [process.execPath, MAIN]);
const envoy = await start('envoy', ['envoy']);
try {
  for (const page of PAGES) {
    const [ours, theirs] = [await sorted(sluice, page), await sorted(envoy, page)];
    const times = { sluice: [] as number[], envoy: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      times.sluice.push(await pageCpuMs(sluice, page));
      times.envoy.push(await pageCpuMs(envoy, page));
    }
    const [own, other] = [median(times.sluice), median(times.envoy)];
    console.log(
      `${page.padEnd(30)} sluice ${own.toFixed(1)} ms, envoy ${other.toFixed(1)} ms, ` +
        `ratio ${(own / other).toFixed(2)}, ${ours === theirs ? 'the same' : 'NOT the same'}`,
    );
  }
} finally {
  await Promise.all([sluice.stop(), envoy.stop()]);
  rmSync(folder, { recursive: true });
}

async function pageCpuMs({ pid, adminPort }: BigServer, page: string): Promise<number> {
  const before = cpuSeconds(pid);
  for (let count = 0; count < PAGES_PER_ROUND; count++) await fetchText(adminPort, page);
  return ((cpuSeconds(pid) - before) * 1000) / PAGES_PER_ROUND;
}

async function sorted({ adminPort }: BigServer, page: string): Promise<string> {
  return (await fetchText(adminPort, page)).split('\n').sort().join('\n');
}
