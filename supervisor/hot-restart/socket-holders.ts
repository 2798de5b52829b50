/**
 * Who holds a unix socket by its name: for messages to people, so that a refusal names the process.
 * What /proc does not show (another user's process) stays unknown.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { UnixSocketAddress } from '../../shared/posix/socket-address.ts';

/** `pid 1234`, `pids 1234 and 1240`, or undefined when it cannot be told. */
export function describeHolders(address: UnixSocketAddress): string | undefined {
  const links = new Set(inodesOf(address.path).map((inode) => `socket:[${inode}]`));
  if (links.size === 0) return undefined;
  const pids = listOf('/proc').filter((entry) => /^\d+$/.test(entry) && holds(entry, links));
  if (pids.length === 0) return undefined;
  return pids.length === 1 ? `pid ${pids[0]}` : `pids ${pids.join(' and ')}`;
}

/** A line ends in the path; the NUL bytes that fill an abstract name are shown as `@`. */
function inodesOf(path: string): readonly string[] {
  let table: string;
  try {
    table = readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return [];
  }
  const inodes: string[] = [];
  for (const line of table.split('\n').slice(1)) {
    const [, , , , , , inode, name] = line.trim().split(/\s+/);
    if (inode !== undefined && name?.replace(/@+$/, '') === path) inodes.push(inode);
  }
  return inodes;
}

function holds(pid: string, links: ReadonlySet<string>): boolean {
  return listOf(`/proc/${pid}/fd`).some((fd) => {
    try {
      return links.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      return false; // closed in between
    }
  });
}

function listOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
