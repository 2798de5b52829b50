/** The memory that a process has in RAM, as the kernel says. */
import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** 0 for a process that is gone. */
export function residentBytes(pid: number): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]);
    return pages * PAGE_BYTES;
  } catch {
    return 0;
  }
}
