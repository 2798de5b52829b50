/**
 * Memory that several processes see. Mappings are made once and never undone: an ArrayBuffer over
 * unmapped memory would crash the process.
 */
import { constants, ftruncateSync, openSync } from 'node:fs';
import { MAP_SHARED, MFD_CLOEXEC, PROT_READ, PROT_WRITE } from './layout.ts';
import { check, lastError, libcFunction, viewOf } from './libc.ts';

const memfdCreate = libcFunction<[string, number], number>('int memfd_create(const char *, uint)');
const mmap = libcFunction<[null, number, number, number, number, number], bigint>(
  'void *mmap(void *, size_t, int, int, int, int64_t)',
);

const MAP_FAILED = 0xffffffffffffffffn;

/** An anonymous memory file of `bytes` zero bytes, CLOEXEC. `name` shows up in /proc only. */
export function createMemoryFile(name: string, bytes: number): number {
  const fd = check(memfdCreate(name, MFD_CLOEXEC), 'memfd_create');
  ftruncateSync(fd, bytes);
  return fd;
}

/**
 * Opens a POSIX shared memory object by its name (with a leading slash), CLOEXEC. Does what
 * shm_open does, which older glibc keeps in a library of its own. Throws Node's errors (ENOENT,
 * EEXIST, EACCES).
 */
export function openSharedMemory(
  name: string,
  mode: 'create' | 'open',
  permissions = 0o600,
): number {
  const flags = constants.O_RDWR | constants.O_NOFOLLOW;
  const creating = mode === 'create' ? constants.O_CREAT | constants.O_EXCL : 0;
  return openSync(`/dev/shm${name}`, flags | creating, permissions);
}

/** Maps a descriptor's bytes for reading and writing, shared; `Atomics` work on views of it. */
export function mapSharedMemory(fd: number, bytes: number): ArrayBuffer {
  const address = mmap(null, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address === MAP_FAILED) throw lastError('mmap');
  return viewOf(address, bytes);
}
