/** Processes and their limits, as far as Node offers no call of its own. */
import { constants } from 'node:os';
import { PR_SET_PDEATHSIG, RLIMIT_CORE, RLIMIT_NOFILE, WNOHANG } from './layout.ts';
import { check, errnoOf, lastErrno, layout, libcFunction, stableBuffer } from './libc.ts';

const prctl = libcFunction<[number, number, number, number, number], number>(
  'int prctl(int, ulong, ulong, ulong, ulong)',
);
const waitpid = libcFunction<[number, Buffer, number], number>(
  'int waitpid(int, _Out_ uint8_t *, int)',
);
const getAffinity = libcFunction<[number, number, Buffer], number>(
  'int sched_getaffinity(int, size_t, _Out_ uint8_t *)',
);
const getrlimit = libcFunction<[number, Buffer], number>('int getrlimit(int, _Out_ uint8_t *)');
const setrlimit = libcFunction<[number, Buffer], number>('int setrlimit(int, const uint8_t *)');

/** The kernel kills this process with SIGKILL when the thread that started it ends. */
export function dieWithParent(): void {
  check(prctl(PR_SET_PDEATHSIG, constants.signals.SIGKILL, 0, 0, 0), 'prctl');
}

/** What became of a child: still running, ended (`status` is the raw wait status), or not ours. */
export type ChildState =
  | { readonly kind: 'running' }
  | { readonly kind: 'ended'; readonly status: number }
  | { readonly kind: 'not_a_child' };

/**
 * Asks for one child without waiting. Never call it for a child that Node started: Node would not
 * learn of its end.
 */
export function reapChild(pid: number): ChildState {
  if (pid <= 0) throw new RangeError('reapChild needs the id of one process');
  const status = stableBuffer(4);
  const result = waitpid(pid, status, WNOHANG);
  if (result === 0) return { kind: 'running' };
  if (result < 0 && lastErrno() === errnoOf('ECHILD')) return { kind: 'not_a_child' };
  check(result, 'waitpid');
  return { kind: 'ended', status: status.readInt32LE(0) };
}

/** How many processors this process may run on. */
export function usableProcessorCount(): number {
  const mask = stableBuffer(1024);
  const bytes = check(getAffinity(0, mask.length, mask), 'sched_getaffinity');
  // glibc answers 0 and fills the whole mask; the raw system call answers the bytes it wrote.
  let count = 0;
  for (const byte of mask.subarray(0, bytes === 0 ? mask.length : bytes)) {
    for (let rest = byte; rest !== 0; rest &= rest - 1) count += 1;
  }
  return count;
}

export interface ResourceLimit {
  readonly current: bigint;
  readonly maximum: bigint;
}

/** The limit on open files (RLIMIT_NOFILE). */
export function openFileLimit(): ResourceLimit {
  return readLimit(RLIMIT_NOFILE);
}

/** Throws EPERM when `maximum` is raised without privilege, EINVAL when `current` exceeds it. */
export function setOpenFileLimit(limit: ResourceLimit): void {
  writeLimit(RLIMIT_NOFILE, limit);
}

/** The limit on the size of core files in bytes (RLIMIT_CORE). */
export function coreFileLimit(): ResourceLimit {
  return readLimit(RLIMIT_CORE);
}

/** Throws as `setOpenFileLimit` does. Children started afterwards inherit it. */
export function setCoreFileLimit(limit: ResourceLimit): void {
  writeLimit(RLIMIT_CORE, limit);
}

function readLimit(resource: number): ResourceLimit {
  const { rlimit } = layout();
  const bytes = stableBuffer(rlimit.size);
  check(getrlimit(resource, bytes), 'getrlimit');
  return {
    current: bytes.readBigUInt64LE(rlimit.current),
    maximum: bytes.readBigUInt64LE(rlimit.maximum),
  };
}

function writeLimit(resource: number, limit: ResourceLimit): void {
  const { rlimit } = layout();
  const bytes = stableBuffer(rlimit.size);
  bytes.writeBigUInt64LE(limit.current, rlimit.current);
  bytes.writeBigUInt64LE(limit.maximum, rlimit.maximum);
  check(setrlimit(resource, bytes), 'setrlimit');
}
