/**
 * The profilers of all workers. Profiles cross in files, since they may be larger than a message;
 * each result has a folder of its own, which goes when the result has been used.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProfileCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { ProfileFile } from './pool-entry.ts';
import type { WorkerProfiles, WorkerProfilers } from './profilers.ts';

/** The worker pool's part; resolves with the indices of the workers that obeyed. */
export interface ProfiledWorkers {
  profile(command: ProfileCommand, pathOf: (index: number) => string): Promise<readonly number[]>;
}

export function makeWorkerProfilers(workers: ProfiledWorkers): WorkerProfilers {
  const begin = async (command: ProfileCommand): Promise<void> => {
    await workers.profile(command, () => '');
  };
  const collect = async (command: ProfileCommand): Promise<WorkerProfiles> =>
    await collectProfiles(workers, command);
  return {
    startCpu: async () => await begin('start_cpu'),
    startHeap: async () => await begin('start_heap'),
    startAllocations: async () => await begin('start_allocations'),
    stopAllocations: async () => await collect('stop_allocations'),
    stopCpu: async () => await collect('stop_cpu'),
    readHeap: async () => await collect('read_heap'),
    stopHeap: async () => await collect('stop_heap'),
  };
}

async function collectProfiles(
  workers: ProfiledWorkers,
  command: ProfileCommand,
): Promise<WorkerProfiles> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-profile-'));
  const remove = async (): Promise<void> => await rm(folder, { recursive: true, force: true });
  const pathOf = (index: number): string => join(folder, `worker-${index}.json`);
  try {
    const indices = await workers.profile(command, pathOf);
    const files = indices.map((index): ProfileFile => ({
      process: `worker ${index}`,
      path: pathOf(index),
    }));
    return { files, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
