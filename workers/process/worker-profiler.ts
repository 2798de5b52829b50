/** This worker's profilers, commanded by the supervisor. Loaded only when somebody profiles. */
import { writeFile } from 'node:fs/promises';
import type { ProfileCommand } from '../../shared/messages/supervisor-to-worker.ts';
import { ProcessProfiler } from '../../shared/profiling/process-profiler.ts';

export class WorkerProfiler {
  readonly #profiler = new ProcessProfiler();

  /** Rejects when a profiler that does not run is read, or the file cannot be written. */
  async obey(command: ProfileCommand, path: string): Promise<void> {
    switch (command) {
      case 'start_cpu':
        return await this.#profiler.startCpu();
      case 'start_heap':
        return await this.#profiler.startHeap();
      case 'start_allocations':
        return await this.#profiler.startAllocations();
      case 'stop_allocations':
        return await write(path, await this.#profiler.stopAllocations());
      case 'stop_cpu':
        return await write(path, await this.#profiler.stopCpu());
      case 'read_heap':
        return await write(path, await this.#profiler.readHeap());
      case 'stop_heap':
        return await write(path, await this.#profiler.stopHeap());
    }
  }
}

async function write(path: string, profile: object): Promise<void> {
  await writeFile(path, JSON.stringify(profile), { mode: 0o600 });
}
