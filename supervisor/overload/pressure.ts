/**
 * Reads how near a resource is to its limit, from 0 to 1 and beyond. Reads files of the kernel,
 * which never wait for a disk, and one that an operator names.
 */
import { KindTable } from '../../shared/resources/by-kind.ts';
import { readTextIfThere } from '../../shared/text/read-text.ts';
import type { ResourceMonitor } from './overload-config.ts';

export interface PressureEnvironment {
  /** The supervisor and its workers. */
  pids(): readonly number[];
  /** CLOCK_MONOTONIC. */
  monotonicMs(): number;
}

/** Gives the pressure now; undefined when it cannot be read. */
export type ReadPressure = () => number | undefined;

const READERS = new KindTable<ResourceMonitor, [PressureEnvironment], ReadPressure>({
  fixed_heap:
    ({ maxBytes }, environment) =>
    () =>
      privateBytes(environment.pids()) / maxBytes,
  cgroup_memory:
    ({ maxBytes }) =>
    () =>
      cgroupMemory(maxBytes),
  file:
    ({ path }) =>
    () =>
      pressureOf(readTextIfThere(path)),
  cpu: ({ isOfContainer }, environment) => (isOfContainer ? containerCpu(environment) : hostCpu()),
});

export function makePressureReader(
  monitor: ResourceMonitor,
  environment: PressureEnvironment,
): ReadPressure {
  return READERS.make(monitor, environment);
}

const PAGE_BYTES = 4096;

/** Resident memory that the processes do not share, in bytes. */
function privateBytes(pids: readonly number[]): number {
  let pages = 0;
  for (const pid of pids) {
    const [, resident = 0, shared = 0] = numbersOf(readTextIfThere(`/proc/${pid}/statm`) ?? '');
    pages += resident - shared;
  }
  return pages * PAGE_BYTES;
}

function cgroupMemory(configured: number | undefined): number | undefined {
  const used =
    readTextIfThere('/sys/fs/cgroup/memory.current') ??
    readTextIfThere('/sys/fs/cgroup/memory/memory.usage_in_bytes');
  const limit =
    readTextIfThere('/sys/fs/cgroup/memory.max') ??
    readTextIfThere('/sys/fs/cgroup/memory/memory.limit_in_bytes');
  if (used === undefined) return undefined;
  const own = Number(limit);
  const limits = [configured, own].filter((each) => each !== undefined && each > 0);
  // `max`: there is no limit to be near to.
  return limits.length === 0 ? 0 : Number(used) / Math.min(...(limits as number[]));
}

/** What Envoy takes from the file: a decimal number from 0 to 1. */
function pressureOf(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === '' ? NaN : Number(text);
  return value >= 0 && value <= 1 ? value : undefined;
}

/** How much of the newest sample counts in the average, as in Envoy. */
const NEWEST_SHARE = 0.05;

/** Work of all processors since the sample before, averaged over the samples. */
function hostCpu(): ReadPressure {
  let before = hostTimes();
  let average = 0;
  return () => {
    const now = hostTimes();
    if (now === undefined || before === undefined || now.total <= before.total) {
      before = now;
      return undefined;
    }
    const share = (now.work - before.work) / (now.total - before.total);
    before = now;
    average = average * (1 - NEWEST_SHARE) + share * NEWEST_SHARE;
    return average;
  };
}

/** In clock ticks since the machine started: `cpu user nice system idle ...`. */
function hostTimes(): { readonly work: number; readonly total: number } | undefined {
  const line = /^cpu +(.*)$/m.exec(readTextIfThere('/proc/stat') ?? '')?.[1];
  if (line === undefined) return undefined;
  const [user = 0, nice = 0, system = 0, idle = 0] = numbersOf(line);
  const work = user + nice + system;
  return { work, total: work + idle };
}

/** Work of this control group against what it may use, averaged over the samples. */
function containerCpu(environment: PressureEnvironment): ReadPressure {
  let before = { used: containerUsed(), atMs: environment.monotonicMs() };
  let average = 0;
  return () => {
    const now = { used: containerUsed(), atMs: environment.monotonicMs() };
    const { used, atMs } = before;
    before = now;
    if (now.used === undefined || used === undefined || now.atMs <= atMs) return undefined;
    const share = (now.used - used) / ((now.atMs - atMs) * 1000 * containerProcessors());
    average = average * (1 - NEWEST_SHARE) + Math.min(share, 1) * NEWEST_SHARE;
    return average;
  };
}

/** In microseconds. */
function containerUsed(): number | undefined {
  const text = readTextIfThere('/sys/fs/cgroup/cpu.stat');
  const used = /^usage_usec (\d+)$/m.exec(text ?? '')?.[1];
  if (used !== undefined) return Number(used);
  const nanoseconds = readTextIfThere('/sys/fs/cgroup/cpu/cpuacct.usage');
  return nanoseconds === undefined ? undefined : Number(nanoseconds) / 1000;
}

function containerProcessors(): number {
  const [quota, period] = (readTextIfThere('/sys/fs/cgroup/cpu.max') ?? 'max').split(' ');
  const limit = Number(quota) / Number(period);
  if (limit > 0) return limit;
  return Math.max(1, (readTextIfThere('/proc/stat') ?? '').match(/^cpu\d/gm)?.length ?? 1);
}

function numbersOf(text: string): readonly number[] {
  return text.trim().split(/\s+/).map(Number);
}
