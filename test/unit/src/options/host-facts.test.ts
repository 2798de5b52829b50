import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assignedCpus } from '../../../../src/options/host-facts.ts';

function files(contents: Record<string, string>): (path: string) => string | undefined {
  return (path) => contents[path];
}

describe('the CPUs assigned to the process', () => {
  it('are those of its affinity without a control group', () => {
    assert.equal(assignedCpus(6, files({})), 6);
  });

  it('are lowered by the smallest cpu.max on the way up (version 2)', () => {
    const read = files({
      '/proc/self/cgroup': '0::/a/b\n',
      '/sys/fs/cgroup/a/b/cpu.max': 'max 100000\n',
      '/sys/fs/cgroup/a/cpu.max': '250000 100000\n',
      '/sys/fs/cgroup/cpu.max': '400000 100000\n',
    });
    assert.equal(assignedCpus(6, read), 2);
    assert.equal(assignedCpus(1, read), 1);
  });

  it('are lowered by the CFS quota (version 1), never below one', () => {
    const group = '7:cpu,cpuacct:/docker/x\n';
    const read = files({
      '/proc/self/cgroup': group,
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us': '50000\n',
      '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us': '100000\n',
    });
    assert.equal(assignedCpus(6, read), 1);
  });

  it('are not lowered by an unlimited quota', () => {
    const read = files({
      '/proc/self/cgroup': '7:cpu:/\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    });
    assert.equal(assignedCpus(6, read), 6);
  });
});
