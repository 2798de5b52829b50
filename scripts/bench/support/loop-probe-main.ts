/**
 * Loaded before a program (`--import`) that is measured: writes down how long its loop was held up
 * and what its collector did, one line of JSON for each second, to the file that `BENCH_PROBE`
 * names.
 */
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export interface ProbeLine {
  readonly pid: number;
  readonly isWorker: boolean;
  /** Beyond the timer's own period, in milliseconds. */
  readonly longestBlockMs: number;
  /**
   * The process' processor time in it, helper threads included: other programs do not change it.
   */
  readonly longestBlockCpuMs: number;
  readonly longestCollectionMs: number;
  readonly collectionsMs: number;
}

const PERIOD_MS = 1;
const NANOSECONDS = 1e6;
const MICROSECONDS = 1e3;

const path = process.env['BENCH_PROBE'];
if (path !== undefined && isMainThread) watch(path);

function watch(to: string): void {
  const delays = monitorEventLoopDelay({ resolution: PERIOD_MS });
  delays.enable();
  let longestCollectionMs = 0;
  let collectionsMs = 0;
  let longestBlockCpuMs = 0;
  let cpuBefore = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(cpuBefore);
    cpuBefore = process.cpuUsage();
    longestBlockCpuMs = Math.max(longestBlockCpuMs, (user + system) / MICROSECONDS);
  }, PERIOD_MS).unref();
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      longestCollectionMs = Math.max(longestCollectionMs, duration);
      collectionsMs += duration;
    }
  }).observe({ entryTypes: ['gc'] });
  const isWorker = process.argv[1]?.includes('worker') === true;
  setInterval(() => {
    const longestBlockMs = delays.max / NANOSECONDS - PERIOD_MS;
    delays.reset();
    const line: ProbeLine = {
      pid: process.pid,
      isWorker,
      longestBlockMs,
      longestBlockCpuMs,
      longestCollectionMs,
      collectionsMs,
    };
    longestCollectionMs = 0;
    collectionsMs = 0;
    longestBlockCpuMs = 0;
    appendFileSync(to, `${JSON.stringify(line)}\n`);
  }, 1000).unref();
}
