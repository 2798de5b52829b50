/** Shared memory and processes through libc. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { describe, it } from 'node:test';
import {
  openFileLimit,
  reapChild,
  setOpenFileLimit,
  usableProcessorCount,
} from '../../../../shared/posix/processes.ts';
import {
  createMemoryFile,
  mapSharedMemory,
  openSharedMemory,
} from '../../../../shared/posix/shared-memory.ts';
import { closeDescriptor } from '../../../../shared/posix/descriptors.ts';

describe('shared memory', () => {
  it('mapped twice is the same memory, and Atomics work on it', () => {
    const fd = createMemoryFile('sluice-test', 4096);
    const one = new Int32Array(mapSharedMemory(fd, 4096));
    const other = new Int32Array(mapSharedMemory(fd, 4096));
    closeDescriptor(fd);
    Atomics.add(one, 7, 41);
    Atomics.add(other, 7, 1);
    assert.equal(Atomics.load(one, 7), 42);
  });

  it('by name is made once and then opened', () => {
    const name = `/sluice_posix_test_${process.pid}`;
    try {
      const fd = openSharedMemory(name, 'create');
      assert.throws(() => openSharedMemory(name, 'create'), { code: 'EEXIST' });
      closeDescriptor(openSharedMemory(name, 'open'));
      closeDescriptor(fd);
    } finally {
      rmSync(`/dev/shm${name}`, { force: true });
    }
    assert.throws(() => openSharedMemory(name, 'open'), { code: 'ENOENT' });
  });
});

describe('processes', () => {
  it('that are not children are told apart, and 0 and below are refused', () => {
    assert.deepEqual(reapChild(1), { kind: 'not_a_child' });
    for (const pid of [0, -1]) assert.throws(() => reapChild(pid), RangeError);
  });

  it('that run are not waited for', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    assert.ok(child.pid);
    assert.deepEqual(reapChild(child.pid), { kind: 'running' });
    child.stdin?.end();
    await once(child, 'exit');
    assert.deepEqual(reapChild(child.pid), { kind: 'not_a_child' });
  });

  it('know their processors and their limit on open files', () => {
    assert.equal(usableProcessorCount(), availableParallelism());
    const limit = openFileLimit();
    assert.ok(limit.current > 0n && limit.current <= limit.maximum);
    setOpenFileLimit({ ...limit, current: limit.current - 1n });
    assert.equal(openFileLimit().current, limit.current - 1n);
    setOpenFileLimit(limit);
  });
});
