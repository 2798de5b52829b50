/**
 * How many workers this machine gives the process: the CPUs of its affinity mask and the CPU quota
 * of its control group (version 1 and 2).
 */
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';

import { readTextIfThere } from '../../shared/text/read-text.ts';
import type { HostInfo } from './check-options.ts';

/** Reads a file's text; undefined when it cannot be read. */
export type ReadText = (path: string) => string | undefined;

export const hostInfoOf: HostInfo = {
  hardwareThreads: () => availableParallelism(),
  assignedCpus: () => assignedCpus(availableParallelism(), readTextIfThere),
};

/** The affinity's CPUs lowered to the smallest quota on the way up the group's tree. */
export function assignedCpus(affinityCpus: number, read: ReadText): number {
  const quota = cgroupQuota(read);
  return Math.max(
    1,
    quota === undefined ? affinityCpus : Math.min(affinityCpus, Math.floor(quota)),
  );
}

function cgroupQuota(read: ReadText): number | undefined {
  const quotas: number[] = [];
  for (const line of (read('/proc/self/cgroup') ?? '').split('\n')) {
    const [id, controllers = '', path = '/'] = line.split(':');
    const isUnified = id === '0' && controllers === '';
    if (!isUnified && !controllers.split(',').includes('cpu')) continue;
    const root = isUnified ? '/sys/fs/cgroup' : `/sys/fs/cgroup/${controllers}`;
    for (const folder of withAncestors(path)) {
      const quota = isUnified
        ? unifiedQuota(join(root, folder), read)
        : v1Quota(root, folder, read);
      if (quota !== undefined) quotas.push(quota);
    }
  }
  return quotas.length === 0 ? undefined : Math.min(...quotas);
}

/** `/a/b`, `/a`, `/`: inside a container only the last may exist. */
function withAncestors(path: string): string[] {
  const folders = [path];
  let folder = path;
  while (dirname(folder) !== folder) {
    folder = dirname(folder);
    folders.push(folder);
  }
  return folders;
}

/** `cpu.max` holds quota and period in microseconds, or `max`. */
function unifiedQuota(folder: string, read: ReadText): number | undefined {
  const [quota, period] = (read(join(folder, 'cpu.max')) ?? '').trim().split(' ');
  return ratio(quota, period);
}

function v1Quota(root: string, folder: string, read: ReadText): number | undefined {
  const file = (name: string): string | undefined => read(join(root, folder, name))?.trim();
  return ratio(file('cpu.cfs_quota_us'), file('cpu.cfs_period_us'));
}

function ratio(quota: string | undefined, period: string | undefined): number | undefined {
  const cpus = Number(quota) / Number(period);
  return cpus > 0 && Number.isFinite(cpus) ? cpus : undefined;
}
