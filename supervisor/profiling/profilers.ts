/**
 * The profilers behind `/cpuprofiler`, `/heapprofiler`, `/allocprofiler` and `/heap_dump`, for the
 * supervisor and all workers together. Owns the profile file and what is running.
 */
import { open, writeFile } from 'node:fs/promises';
import { setImmediate as pause } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { ProcessProfiler } from '../../shared/profiling/process-profiler.ts';
import type { HeapProfile } from '../../shared/profiling/process-profiler.ts';
import type { ProfileFile, ProfileTask } from './pool-entry.ts';
import type { HeapProfileOptions } from './pprof-writer.ts';

/** The files of workers' profiles, which are there until this is disposed of. */
export interface WorkerProfiles extends AsyncDisposable {
  readonly files: readonly ProfileFile[];
}

/** The same profilers in the workers. Workers that die meanwhile are left out of the result. */
export interface WorkerProfilers {
  startCpu(): Promise<void>;
  stopCpu(): Promise<WorkerProfiles>;
  startHeap(): Promise<void>;
  readHeap(): Promise<WorkerProfiles>;
  stopHeap(): Promise<WorkerProfiles>;
  startAllocations(): Promise<void>;
  stopAllocations(): Promise<WorkerProfiles>;
}

/** A peak is one when the heap is this many times larger than at the one before. */
const PEAK_GROWTH = 1.5;

/** Told by `go tool pprof -comments`. */
const WITHOUT_WORKERS: HeapProfileOptions = {
  comment:
    'Workers are not sampled: start the server with --heap-sampling, or POST /heapprofiler?enable=y before.',
};

/** `admin.profile_path` when it is not set; Envoy's. */
const DEFAULT_PROFILE_PATH = '/var/log/envoy/envoy.prof';

export interface ProfilersOptions {
  /** Where profiles are written. */
  readonly path?: string;
  readonly workers?: WorkerProfilers;
  /** Samples the heaps of workers all the time, not only between `startHeap` and `stopHeap`. */
  readonly samplesWorkers?: boolean;
}

export class Profilers {
  readonly path: string;
  readonly #own = new ProcessProfiler();
  readonly #workers: WorkerProfilers | undefined;
  readonly #samplesWorkers: boolean;
  #isHeapRunning = false;
  #isAllocationsRunning = false;
  #reading: Promise<Uint8Array> | undefined;
  #peak: { readonly usedBytes: number; readonly profile: HeapProfile } | undefined;

  constructor(options: ProfilersOptions = {}) {
    this.path =
      options.path === undefined || options.path === '' ? DEFAULT_PROFILE_PATH : options.path;
    this.#workers = options.workers;
    this.#samplesWorkers = options.samplesWorkers === true && options.workers !== undefined;
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
   * Samples the supervisor's own heap from now on, so that `readHeap` always has an answer, and
   * those of workers where that is asked for; to be called now and then, for workers that are new.
   */
  async sample(): Promise<void> {
    if (this.#isAllocationsRunning) return;
    await Promise.all([
      this.#own.startHeap(),
      this.#samplesWorkers ? this.#workers?.startHeap() : undefined,
    ]);
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
    await this.sample();
    await this.notePeak();
    if (this.#peak === undefined) return await this.readHeap();
    return await heapProfile(this.#peak.profile);
  }

  /**
   * Samples every allocation of all processes. Must not run; the sampling of use stops meanwhile.
   */
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
    await this.sample();
    return await heapProfile(own, workers, { what: 'alloc' });
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
    const profile = await write(workers, (others) => ({ kind: 'cpu', own, others }));
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
    const [own, workers] = await Promise.all([
      this.#own.readHeap(),
      this.#samplesWorkers ? this.#workers?.readHeap() : this.#workers?.stopHeap(),
    ]);
    this.#isHeapRunning = false;
    await writeFile(this.path, await heapProfile(own, workers), { mode: 0o600 });
  }

  /**
   * What is in use now, as a gzipped pprof profile; begins to sample when nothing does.
   * Who asks while one is made gets the same.
   */
  async readHeap(): Promise<Uint8Array> {
    this.#reading ??= this.#readHeapNow().finally(() => (this.#reading = undefined));
    return await this.#reading;
  }

  async #readHeapNow(): Promise<Uint8Array> {
    await this.sample();
    const [own, workers] = await Promise.all([
      this.#own.readHeap(),
      this.#isHeapRunning || this.#samplesWorkers ? this.#workers?.readHeap() : undefined,
    ]);
    return await heapProfile(own, workers, workers === undefined ? WITHOUT_WORKERS : {});
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
  workers?: WorkerProfiles,
  options: HeapProfileOptions = {},
): Promise<Uint8Array> {
  return await write(workers, (others) => ({ kind: 'heap', own, others, options }));
}

/** Disposes of the workers' files. */
async function write(
  workers: WorkerProfiles | undefined,
  taskWith: (others: readonly ProfileFile[]) => ProfileTask,
): Promise<Uint8Array> {
  await using profiles = workers;
  // V8's reading and the start of a thread, some ten milliseconds each when they are the first.
  await pause();
  const { writeProfile } = await import('./write-profile.ts');
  return await writeProfile(taskWith(profiles?.files ?? []));
}
