/**
 * Clients of the admin interface: whole pages, quick questions meanwhile, and one that reads
 * slowly.
 */
import { get } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../support/median.ts';
import { LOAD_CORE, startPinned, type Running } from '../support/processes.ts';
import { cpuSeconds, fetchText, residentMib, type BigServer } from './big-server.ts';

export interface PageStats {
  readonly bytes: number;
  /** Medians. */
  readonly ms: number;
  /** Processor time of the process that answers. */
  readonly cpuMs: number;
}

const SLOW_BYTES_PER_SECOND = 1_000_000;

export async function measurePage(
  server: BigServer,
  path: string,
  rounds: number,
): Promise<PageStats> {
  const times: number[] = [];
  const cpu: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const cpuBefore = cpuSeconds(server.pid);
    const begun = performance.now();
    bytes = await countBytes(server.adminPort, path);
    times.push(performance.now() - begun);
    cpu.push((cpuSeconds(server.pid) - cpuBefore) * 1000);
  }
  return { bytes, ms: median(times), cpuMs: median(cpu) };
}

/** Scrapes without pause, each in a process of its own. */
export function scrapeForever({ adminPort }: BigServer, path: string, clients: number): Running {
  const url = `http://127.0.0.1:${adminPort}${path}`;
  const loop = `while :; do curl -s -o /dev/null '${url}'; done`;
  const all = Array.from({ length: clients }, () => startPinned(LOAD_CORE, ['sh', '-c', loop]));
  return {
    pid: all[0]?.pid ?? 0,
    stop: async () => {
      await Promise.all(all.map((one) => one.stop()));
    },
  };
}

/** The 99th percentile of `/ready` in milliseconds. */
export async function readyP99({ adminPort }: BigServer, seconds: number): Promise<number> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const begun = performance.now();
    await fetchText(adminPort, '/ready');
    times.push(performance.now() - begun);
    await delay(5);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? 0;
}

/** By how many MiB the process grows while a client takes 1 MB a second of a large page. */
export async function slowReaderGrowth(
  { adminPort, pid }: BigServer,
  path: string,
  seconds: number,
): Promise<number> {
  const before = residentMib(pid);
  let most = before;
  const socket = connect({ port: adminPort, host: '127.0.0.1' });
  socket.write(`GET ${path} HTTP/1.1\r\nhost: bench\r\n\r\n`);
  socket.pause();
  const perTurn = SLOW_BYTES_PER_SECOND / 10;
  for (let turn = 0; turn < seconds * 10; turn++) {
    socket.read(Math.min(perTurn, socket.readableLength));
    most = Math.max(most, residentMib(pid));
    await delay(100);
  }
  socket.destroy();
  return most - before;
}

function countBytes(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => resolve(bytes));
    }).on('error', reject);
  });
}
