/** Who listens on a port or a unix socket, by what /proc shows; other users' processes stay unnamed. */
import { readdirSync, readlinkSync } from 'node:fs';
import { readHost } from './read-host.ts';

/** State of a listening socket in /proc/net/tcp. */
const LISTENING = '0A';
const HEX = 16;

export interface Holder {
  /** Absent where it cannot be told. */
  readonly pid?: number;
  readonly command?: string;
}

/** Undefined: nobody listens there. */
export function holderOfPort(port: number): Holder | undefined {
  const inodes = new Set<string>();
  for (const path of ['/proc/net/tcp', '/proc/net/tcp6']) {
    for (const line of (readHost(path) ?? '').split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/);
      const [, local = '', , state] = fields;
      const own = Number.parseInt(local.split(':')[1] ?? '', HEX);
      if (state === LISTENING && own === port) inodes.add(fields[9] ?? '');
    }
  }
  return inodes.size === 0 ? undefined : holderOf(inodes);
}

/** Names of sockets as /proc/net/unix shows them, without the NUL bytes that fill some. */
export function* unixSockets(): Generator<{ readonly name: string; readonly inode: string }> {
  for (const line of (readHost('/proc/net/unix') ?? '').split('\n').slice(1)) {
    const [, , , , , , inode, name] = line.trim().split(/\s+/);
    if (inode !== undefined && name !== undefined) yield { name: name.replace(/@+$/, ''), inode };
  }
}

export function holderOf(inodes: ReadonlySet<string>): Holder {
  const links = new Set([...inodes].map((inode) => `socket:[${inode}]`));
  for (const entry of listOf('/proc')) {
    if (!/^\d+$/.test(entry) || !holds(entry, links)) continue;
    const words = (readHost(`/proc/${entry}/cmdline`) ?? '').split('\0').join(' ').trim();
    return { pid: Number(entry), command: words.slice(0, 200) };
  }
  return {};
}

export function describeHolder({ pid, command }: Holder): string {
  return pid === undefined ? 'a process of another user' : `process ${pid} (${command ?? ''})`;
}

function holds(pid: string, links: ReadonlySet<string>): boolean {
  return listOf(`/proc/${pid}/fd`).some((fd) => {
    try {
      return links.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
    } catch {
      // Closed in between.
      return false;
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
