/**
 * The profilers of all workers. Profiles cross in files, since they may be larger than a message;
 * the folder is this process's own and goes away with each result.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProfileCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { CpuProfile, HeapProfile } from '../../shared/profiling/process-profiler.ts';
import type { ProcessProfile } from './pprof-writer.ts';
import type { WorkerProfilers } from './profilers.ts';

/** The worker pool's part; resolves with the indices of the workers that obeyed. */
export interface ProfiledWorkers {
  profile(command: ProfileCommand, pathOf: (index: number) => string): Promise<readonly number[]>;
}

export function makeWorkerProfilers(workers: ProfiledWorkers): WorkerProfilers {
  const begin = async (command: ProfileCommand): Promise<void> => {
    await workers.profile(command, () => '');
  };
  return {
    startCpu: async () => await begin('start_cpu'),
    startHeap: async () => await begin('start_heap'),
    startAllocations: async () => await begin('start_allocations'),
    stopAllocations: async () => await collect<HeapProfile>(workers, 'stop_allocations'),
    stopCpu: async () => await collect<CpuProfile>(workers, 'stop_cpu'),
    readHeap: async () => await collect<HeapProfile>(workers, 'read_heap'),
    stopHeap: async () => await collect<HeapProfile>(workers, 'stop_heap'),
  };
}

async function collect<Kind>(
  workers: ProfiledWorkers,
  command: ProfileCommand,
): Promise<ProcessProfile<Kind>[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-profile-'));
  try {
    const pathOf = (index: number) => join(folder, `worker-${index}.json`);
    const indices = await workers.profile(command, pathOf);
    return await Promise.all(
      indices.map(async (index) => ({
        process: `worker ${index}`,
        profile: JSON.parse(await readFile(pathOf(index), 'utf8')) as Kind,
      })),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
