/**
 * What a new process costs its first clients: `node dist/scripts/bench/first-request.js`. One
 * client on one connection asks a server with one worker that has just become live. Prints the
 * time of the connection, of the first request, the slowest of the first hundred and their 99th
 * percentile beside those of the same process later, and exec to LIVE beside a bare `node -e 0`;
 * first Sluice, then Envoy where it is installed, in turns.
 *
 * Options: `--starts N` (7), `--only NAME`, `--node PATH` (the runtime), `--tls` (the listener),
 * `--no-warm-up` (SLUICE_WORKER_WARM_UP=off).
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchBootstrap } from './support/bootstrap.ts';
import { certificateFiles } from './support/certificates.ts';
import { median } from './support/median.ts';
import { askMany, connected, p99, startFixedUpstream } from './support/one-client.ts';
import { isInstalled, treeCpuMs } from './support/processes.ts';
import { freePort } from '../../test/support/free-port.ts';

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '7' },
    only: { type: 'string' },
    node: { type: 'string', default: process.execPath },
    tls: { type: 'boolean', default: false },
    'no-warm-up': { type: 'boolean', default: false },
  },
});
const FIRST_REQUESTS = 100;
const LATER_REQUESTS = 3_000;
const START_LIMIT_MS = 20_000;
const main = join(import.meta.dirname, '..', '..', 'src', 'main.js');

const contenders: readonly (readonly [string, readonly string[]])[] = [
  ['sluice', [values.node, main]],
  ['envoy', ['envoy']],
];

interface Figures {
  readonly connectMs: number;
  readonly firstMs: number;
  readonly slowestMs: number;
  readonly firstP99Ms: number;
  readonly laterP99Ms: number;
  readonly liveMs: number;
  /** CPU time of all its processes when it was live, and half a second of nothing later. */
  readonly liveCpuMs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-first-'));
const upstream = await startFixedUpstream();
try {
  const upstreamPort = (upstream.address() as AddressInfo).port;
  // The client's own code is compiled before it counts.
  const direct = await connected(upstreamPort, false);
  await askMany(direct, LATER_REQUESTS);
  direct.destroy();
  const chosen = contenders.filter(
    ([name]) => (values.only ?? name) === name && (name !== 'envoy' || isInstalled('envoy')),
  );
  const all = new Map<string, Figures[]>(chosen.map(([name]) => [name, []]));
  const bare: number[] = [];
  for (let start = 0; start < Number(values.starts); start += 1) {
    bare.push(await bareNodeMs());
    for (const [name, command] of chosen) {
      all.get(name)?.push(await measureStart(command, upstreamPort));
    }
  }
  report(all, median(bare));
} finally {
  upstream.close();
  rmSync(folder, { recursive: true });
}

async function bareNodeMs(): Promise<number> {
  const begin = performance.now();
  await once(spawn(values.node, ['-e', '0'], { stdio: 'ignore' }), 'close');
  return performance.now() - begin;
}

async function measureStart(command: readonly string[], upstreamPort: number): Promise<Figures> {
  const port = await freePort();
  const config = join(folder, `bootstrap-${port}.json`);
  const certificate = values.tls ? { certificate: certificateFiles(folder, 'ecdsa') } : {};
  writeFileSync(config, JSON.stringify(benchBootstrap({ port, upstreamPort, ...certificate })));
  const [file = '', ...words] = command;
  const begin = performance.now();
  const child = spawn(
    file,
    [...words, '-c', config, '--concurrency', '1', '--disable-hot-restart'],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        ...(values['no-warm-up'] ? { SLUICE_WORKER_WARM_UP: 'off' } : {}),
      },
    },
  );
  const closed = once(child, 'close');
  try {
    await live(child);
    const liveMs = performance.now() - begin;
    const liveCpuMs = treeCpuMs(child.pid ?? 0);
    const connecting = performance.now();
    const socket = await connected(port, values.tls);
    const connectMs = performance.now() - connecting;
    const first = await askMany(socket, FIRST_REQUESTS);
    const later = (await askMany(socket, LATER_REQUESTS)).slice(LATER_REQUESTS / 2);
    socket.destroy();
    return {
      connectMs,
      firstMs: first[0] ?? 0,
      slowestMs: Math.max(...first.slice(1)),
      firstP99Ms: p99(first.slice(1)),
      laterP99Ms: p99(later),
      liveMs,
      liveCpuMs,
    };
  } finally {
    child.kill('SIGTERM');
    await closed;
  }
}

async function live(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`it is not live:\n${log}`)), START_LIMIT_MS);
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (!log.includes('starting main dispatch loop')) return;
      clearTimeout(limit);
      resolve();
    });
    child.once('exit', () => reject(new Error(`the server ended:\n${log}`)));
  });
}

function report(all: ReadonlyMap<string, readonly Figures[]>, bareMs: number): void {
  console.log(`medians of ${values.starts} starts; bare node -e 0: ${bareMs.toFixed(1)} ms`);
  for (const [name, list] of all) {
    const of = (key: keyof Figures): number => median(list.map((figures) => figures[key]));
    console.log(
      `  ${name.padEnd(7)} connection ${of('connectMs').toFixed(1)} ms, first request ` +
        `${of('firstMs').toFixed(1)} ms, of the next 99 the slowest ${of('slowestMs').toFixed(2)} ` +
        `p99 ${of('firstP99Ms').toFixed(2)} ms (later ${of('laterP99Ms').toFixed(2)} ms), LIVE after ` +
        `${of('liveMs').toFixed(0)} ms = ${(of('liveMs') / bareMs).toFixed(1)} x node -e 0, ` +
        `CPU ${of('liveCpuMs').toFixed(0)} ms`,
    );
  }
}
