/**
 * Orphans that were handed to this process because it is PID 1 of a container: somebody has to take
 * their exit status, or they stay in the process table for ever. Own epochs are left to Node.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { reapChild } from '../../shared/posix/processes.ts';

/** Takes every ended child that is not one of `own`; called on each SIGCHLD. */
export function reapOrphans(own: ReadonlySet<number>): void {
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid) || own.has(pid) || !isZombieChild(pid)) continue;
    reapChild(pid);
  }
}

function isZombieChild(pid: number): boolean {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return false; // it was taken between the listing and the reading
  }
  // pid (name) state parent ...; the name may hold anything, so read from its last bracket.
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return state === 'Z' && Number(parent) === process.pid;
}
