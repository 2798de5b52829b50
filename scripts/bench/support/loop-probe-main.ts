/**
 * Loaded before a program (`--import`) that is measured: writes down how long its loop was held up
 * and what its collector did, one line of JSON for each second, to the file that `BENCH_PROBE`
 * names. Times are the main thread's own processor time where it matters: neither other programs
 * nor the helper threads of the collector change it.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver, performance } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export interface ProbeLine {
  readonly pid: number;
  readonly isWorker: boolean;
  /** Beyond the timer's own period, in milliseconds. */
  readonly longestBlockMs: number;
  /** The main thread's processor time in an iteration of the loop, collections included. */
  readonly longestBlockCpuMs: number;
  /** The same without the collections that lie in it. */
  readonly longestWorkMs: number;
  readonly longestCollectionMs: number;
  readonly collectionsMs: number;
}

interface Block {
  readonly startMs: number;
  readonly endMs: number;
  readonly cpuMs: number;
}

interface Collection {
  readonly startMs: number;
  readonly endMs: number;
}

const PERIOD_MS = 1;
/** Shorter iterations of the loop are not looked at. */
const BLOCK_MS = 2;
const NANOSECONDS = 1e6;

const path = process.env['BENCH_PROBE'];
if (path !== undefined && isMainThread) watch(path);

function watch(to: string): void {
  const delays = monitorEventLoopDelay({ resolution: PERIOD_MS });
  delays.enable();
  let collections: Collection[] = [];
  let blocks: Block[] = [];
  let lastMs = performance.now();
  let lastCpuMs = threadCpuMs();
  setInterval(() => {
    const nowMs = performance.now();
    const cpuMs = threadCpuMs();
    if (cpuMs - lastCpuMs >= BLOCK_MS) {
      blocks.push({ startMs: lastMs, endMs: nowMs, cpuMs: cpuMs - lastCpuMs });
    }
    lastMs = nowMs;
    lastCpuMs = cpuMs;
  }, PERIOD_MS).unref();
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      collections.push({ startMs: startTime, endMs: startTime + duration });
    }
  }).observe({ entryTypes: ['gc'] });
  const isWorker = process.argv[1]?.includes('worker') === true;
  setInterval(() => {
    const lengths = collections.map(({ startMs, endMs }) => endMs - startMs);
    const line: ProbeLine = {
      pid: process.pid,
      isWorker,
      longestBlockMs: delays.max / NANOSECONDS - PERIOD_MS,
      longestBlockCpuMs: Math.max(0, ...blocks.map(({ cpuMs }) => cpuMs)),
      longestWorkMs: Math.max(0, ...blocks.map((block) => workMs(block, collections))),
      longestCollectionMs: Math.max(0, ...lengths),
      collectionsMs: lengths.reduce((sum, length) => sum + length, 0),
    };
    delays.reset();
    collections = [];
    blocks = [];
    appendFileSync(to, `${JSON.stringify(line)}\n`);
  }, 1000).unref();
}

/** What a block took besides collections, which may themselves have waited for a processor. */
function workMs({ startMs, endMs, cpuMs }: Block, collections: readonly Collection[]): number {
  let collectedMs = 0;
  for (const collection of collections) {
    const shared = Math.min(collection.endMs, endMs) - Math.max(collection.startMs, startMs);
    if (shared > 0) collectedMs += shared;
  }
  return Math.max(0, cpuMs - collectedMs);
}

/** The processor time of this thread alone, from the first number of its schedstat. */
function threadCpuMs(): number {
  const text = readFileSync('/proc/thread-self/schedstat', 'latin1');
  return Number(text.slice(0, text.indexOf(' '))) / NANOSECONDS;
}
