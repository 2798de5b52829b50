/**
 * What a hot restart costs the next clients: `node dist/scripts/bench/restart-latency.js`. A server
 * with one worker is used until it is warm, then its child takes over, and a new connection asks
 * the child. Prints the 99th percentile before the restart, of the first hundred requests behind
 * it, and the first of them; Sluice and Envoy in turns.
 *
 * Options: `--restarts N` (7), `--only NAME`, `--node PATH` (the runtime), `--tls` (the listener).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import { benchBootstrap } from './support/bootstrap.ts';
import { certificateFiles } from './support/certificates.ts';
import { EpochRow } from './support/epoch-row.ts';
import { median } from './support/median.ts';
import { askMany, connected, p99, startFixedUpstream } from './support/one-client.ts';
import { isInstalled } from './support/processes.ts';

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '7' },
    only: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    tls: { type: 'boolean', default: false },
  },
});
const FIRST_REQUESTS = 100;
/** Before the restart: what comes before the last hundreds is for warming up. */
const EARLIER_REQUESTS = 3_000;
const WARM_REQUESTS = 2_000;
const main = join(import.meta.dirname, '..', '..', 'src', 'main.js');
const contenders: readonly (readonly [string, readonly string[]])[] = [
  ['sluice', [values.node, main]],
  ['envoy', ['envoy']],
];

interface Figures {
  readonly beforeP99Ms: number;
  readonly firstMs: number;
  readonly behindP99Ms: number;
  readonly behindMaxMs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-restart-'));
const upstream = await startFixedUpstream();
try {
  const upstreamPort = (upstream.address() as AddressInfo).port;
  // The client's own code is compiled before it counts.
  const direct = await connected(upstreamPort, false);
  await askMany(direct, EARLIER_REQUESTS);
  direct.destroy();
  const chosen = contenders.filter(
    ([name]) => (values.only ?? name) === name && (name !== 'envoy' || isInstalled('envoy')),
  );
  const all = new Map<string, Figures[]>(chosen.map(([name]) => [name, []]));
  for (let round = 0; round < Number(values.restarts); round += 1) {
    for (const [name, command] of chosen) {
      all.get(name)?.push(await measureRestart(command, upstreamPort));
    }
  }
  report(all);
} finally {
  upstream.close();
  rmSync(folder, { recursive: true });
}

async function measureRestart(command: readonly string[], upstreamPort: number): Promise<Figures> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const config = join(folder, `bootstrap-${port}.json`);
  const certificate = values.tls ? { certificate: certificateFiles(folder, 'ecdsa') } : {};
  const admin = {
    address: { socket_address: { address: '127.0.0.1', port_value: adminPort } },
  };
  const bootstrap = { ...benchBootstrap({ port, upstreamPort, ...certificate }), admin };
  writeFileSync(config, JSON.stringify(bootstrap));
  const row = new EpochRow({ command, config, adminPort, concurrency: 1 });
  try {
    await row.start(0);
    const before = (await timesOf(port, EARLIER_REQUESTS)).slice(WARM_REQUESTS);
    await row.start(1);
    const behind = await timesOf(port, FIRST_REQUESTS);
    await row.exitOf(0);
    return {
      beforeP99Ms: p99(before),
      firstMs: behind[0] ?? 0,
      behindP99Ms: p99(behind),
      behindMaxMs: Math.max(...behind),
    };
  } finally {
    row.close();
  }
}

/** The times of requests on a connection of their own. */
async function timesOf(port: number, count: number): Promise<readonly number[]> {
  const socket = await connected(port, values.tls);
  const times = await askMany(socket, count);
  socket.destroy();
  return times;
}

function report(all: ReadonlyMap<string, readonly Figures[]>): void {
  console.log(`medians of ${values.restarts} restarts`);
  for (const [name, list] of all) {
    const of = (key: keyof Figures): number => median(list.map((figures) => figures[key]));
    const [before, behind] = [of('beforeP99Ms'), of('behindP99Ms')];
    console.log(
      `  ${name.padEnd(7)} p99 before ${before.toFixed(2)} ms, of the first ${FIRST_REQUESTS} ` +
        `behind the restart ${behind.toFixed(2)} ms = ${(behind / before).toFixed(1)} x, ` +
        `the slowest ${of('behindMaxMs').toFixed(2)}, the first ${of('firstMs').toFixed(2)} ms`,
    );
  }
}
