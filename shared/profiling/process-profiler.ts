/**
 * V8's own profilers for this process, through an inspector session inside it: no port is opened.
 * Owns the session; files and formats are the supervisor's.
 */
import type { Profiler } from 'node:inspector';
import type { Session } from 'node:inspector/promises';
import { startHeapSampling } from './heap-sampling.ts';

export type CpuProfile = Profiler.Profile;

/** What V8 returns; node's types leave out the ids and the samples. */
export interface HeapProfile {
  readonly head: HeapNode;
  readonly samples: readonly { readonly nodeId: number; readonly size: number }[];
}

export interface HeapNode {
  readonly id: number;
  readonly callFrame: CpuProfile['nodes'][number]['callFrame'];
  readonly children: readonly HeapNode[];
}

/** Microseconds between two samples of the stack: a hundred times a second, as Envoy's. */
const CPU_INTERVAL_US = 10_000;
/** Bytes allocated between two samples, on average. */
const HEAP_INTERVAL_BYTES = 512 * 1024;

export class ProcessProfiler {
  #session: Session | undefined;
  #isCpuRunning = false;
  #isHeapRunning = false;

  get isCpuRunning(): boolean {
    return this.#isCpuRunning;
  }

  get isHeapRunning(): boolean {
    return this.#isHeapRunning;
  }

  async startCpu(): Promise<void> {
    if (this.#isCpuRunning) return;
    this.#isCpuRunning = true;
    const session = await this.#connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_US });
    await session.post('Profiler.start');
  }

  /** Must be running. */
  async stopCpu(): Promise<CpuProfile> {
    const session = await this.#connect();
    const { profile } = await session.post('Profiler.stop');
    await session.post('Profiler.disable');
    this.#isCpuRunning = false;
    return profile;
  }

  async startHeap(): Promise<void> {
    if (this.#isHeapRunning) return;
    this.#isHeapRunning = true;
    if (startHeapSampling(HEAP_INTERVAL_BYTES, 'inuse')) return;
    const session = await this.#connect();
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
  }

  /** What was sampled since the start and is still in use. Must be running; goes on. */
  async readHeap(): Promise<HeapProfile> {
    const session = await this.#connect();
    const { profile } = await session.post('HeapProfiler.getSamplingProfile');
    return profile as unknown as HeapProfile;
  }

  /** As `readHeap`, and ends the sampling. */
  async stopHeap(): Promise<HeapProfile> {
    const session = await this.#connect();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    this.#isHeapRunning = false;
    return profile as unknown as HeapProfile;
  }

  /** Samples what is allocated, whether or not it is freed again, in place of what is in use. */
  async startAllocations(): Promise<void> {
    if (this.#isHeapRunning) await this.stopHeap();
    if (startHeapSampling(HEAP_INTERVAL_BYTES, 'alloc')) return;
    const session = await this.#connect();
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: HEAP_INTERVAL_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
  }

  /** What was allocated since. */
  async stopAllocations(): Promise<HeapProfile> {
    return await this.stopHeap();
  }

  async #connect(): Promise<Session> {
    if (this.#session === undefined) {
      const inspector = await import('node:inspector/promises');
      this.#session = new inspector.Session();
      this.#session.connect();
    }
    return this.#session;
  }
}
