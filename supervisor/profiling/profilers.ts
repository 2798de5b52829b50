/**
 * The profilers behind `/cpuprofiler`, `/heapprofiler`, `/allocprofiler` and `/heap_dump`, for the
 * supervisor and all workers together. Owns the profile file and what is running.
 */
import { open, writeFile } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import { ProcessProfiler } from '../../shared/profiling/process-profiler.ts';
import type { CpuProfile, HeapProfile } from '../../shared/profiling/process-profiler.ts';
import type { ProcessProfile } from './pprof-writer.ts';

/** The same profilers in the workers. Workers that die meanwhile are left out of the result. */
export interface WorkerProfilers {
  startCpu(): Promise<void>;
  stopCpu(): Promise<readonly ProcessProfile<CpuProfile>[]>;
  startHeap(): Promise<void>;
  readHeap(): Promise<readonly ProcessProfile<HeapProfile>[]>;
  stopHeap(): Promise<readonly ProcessProfile<HeapProfile>[]>;
  startAllocations(): Promise<void>;
  stopAllocations(): Promise<readonly ProcessProfile<HeapProfile>[]>;
}

/** A peak is one when the heap is this many times larger than at the one before. */
const PEAK_GROWTH = 1.5;

/** `admin.profile_path` when it is not set; the reference's. */
const DEFAULT_PROFILE_PATH = '/var/log/envoy/envoy.prof';

export class Profilers {
  readonly path: string;
  readonly #own = new ProcessProfiler();
  readonly #workers: WorkerProfilers | undefined;
  #isHeapRunning = false;
  #isAllocationsRunning = false;
  #peak: { readonly usedBytes: number; readonly profile: HeapProfile } | undefined;

  constructor(options: { readonly path?: string; readonly workers?: WorkerProfilers } = {}) {
    this.path =
      options.path === undefined || options.path === '' ? DEFAULT_PROFILE_PATH : options.path;
    this.#workers = options.workers;
  }

  get isCpuRunning(): boolean {
    return this.#own.isCpuRunning;
  }

  get isAllocationsRunning(): boolean {
    return this.#isAllocationsRunning;
  }

  get isHeapRunning(): boolean {
    return this.#isHeapRunning;
  }

  /**
   * Samples the supervisor's own heap from now on, so that `readHeap` always has an answer. The
   * supervisor carries no traffic; workers are sampled only between `startHeap` and `stopHeap`.
   */
  async sampleSupervisor(): Promise<void> {
    if (!this.#isAllocationsRunning) await this.#own.startHeap();
  }

  /** Keeps what is in use when the heap is larger than it ever was; to be called now and then. */
  async notePeak(): Promise<void> {
    const usedBytes = getHeapStatistics().used_heap_size;
    const isPeak = usedBytes > (this.#peak?.usedBytes ?? 0) * PEAK_GROWTH;
    if (!isPeak || this.#isAllocationsRunning || !this.#own.isHeapRunning) return;
    this.#peak = { usedBytes, profile: await this.#own.readHeap() };
  }

  /** What was in use when the supervisor's heap was at its peak, as far as `notePeak` saw it. */
  async readPeakHeap(): Promise<Uint8Array> {
    await this.sampleSupervisor();
    await this.notePeak();
    if (this.#peak === undefined) return await this.readHeap();
    return await heapProfile(this.#peak.profile, []);
  }

  /** Samples every allocation of all processes. Must not run; the sampling of use stops meanwhile. */
  async startAllocations(): Promise<void> {
    this.#isAllocationsRunning = true;
    await Promise.all([this.#own.startAllocations(), this.#workers?.startAllocations()]);
  }

  /** What was allocated, as a gzipped pprof profile. Must be running. */
  async stopAllocations(): Promise<Uint8Array> {
    const [own, workers] = await Promise.all([
      this.#own.stopAllocations(),
      this.#workers?.stopAllocations(),
    ]);
    this.#isAllocationsRunning = false;
    await this.sampleSupervisor();
    return await heapProfile(own, workers ?? [], 'alloc');
  }

  /** False when the profile file cannot be written. Nothing happens while it runs already. */
  async startCpu(): Promise<boolean> {
    if (this.isCpuRunning) return true;
    if (!(await this.#canWrite())) return false;
    await Promise.all([this.#own.startCpu(), this.#workers?.startCpu()]);
    return true;
  }

  /** Writes what was measured. Nothing happens when it does not run. */
  async stopCpu(): Promise<void> {
    if (!this.isCpuRunning) return;
    const [own, workers] = await Promise.all([this.#own.stopCpu(), this.#workers?.stopCpu()]);
    const { writeCpuProfile } = await import('./pprof-writer.ts');
    const profile = await writeCpuProfile([supervisorOf(own), ...(workers ?? [])]);
    await writeFile(this.path, profile, { mode: 0o600 });
  }

  /** False when the profile file cannot be written. */
  async startHeap(): Promise<boolean> {
    if (!(await this.#canWrite())) return false;
    this.#isHeapRunning = true;
    await Promise.all([this.#own.startHeap(), this.#workers?.startHeap()]);
    return true;
  }

  /** Writes what is in use. Must be running. */
  async stopHeap(): Promise<void> {
    const [own, workers] = await Promise.all([this.#own.readHeap(), this.#workers?.stopHeap()]);
    this.#isHeapRunning = false;
    await writeFile(this.path, await heapProfile(own, workers ?? []), { mode: 0o600 });
  }

  /** What is in use now, as a gzipped pprof profile; begins to sample when nothing does. */
  async readHeap(): Promise<Uint8Array> {
    await this.sampleSupervisor();
    const [own, workers] = await Promise.all([
      this.#own.readHeap(),
      this.#isHeapRunning ? this.#workers?.readHeap() : undefined,
    ]);
    return await heapProfile(own, workers ?? []);
  }

  // Found out before minutes of profiling, not after them. An older profile stays until then.
  async #canWrite(): Promise<boolean> {
    try {
      await (await open(this.path, 'a', 0o600)).close();
      return true;
    } catch {
      return false;
    }
  }
}

async function heapProfile(
  own: HeapProfile,
  workers: readonly ProcessProfile<HeapProfile>[],
  what: 'inuse' | 'alloc' = 'inuse',
): Promise<Uint8Array> {
  const { writeHeapProfile } = await import('./pprof-writer.ts');
  return await writeHeapProfile([supervisorOf(own), ...workers], what);
}

function supervisorOf<Kind>(profile: Kind): ProcessProfile<Kind> {
  return { process: 'supervisor', profile };
}
