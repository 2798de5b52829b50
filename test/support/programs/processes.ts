/** What /proc says of processes: children, liveness, open ports. Linux only. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** Process ids of the direct children. */
export function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((word) => word !== '')
    .map(Number);
}

/** False for a process that is gone or only waits to be reaped. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; the state follows it.
    return stat[stat.lastIndexOf(')') + 2] !== 'Z';
  } catch {
    return false;
  }
}

/** Processor time of the process' main thread: other threads and programs do not count. */
export function mainThreadMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Whether the process has a handler for the signal of this number. */
export function catchesSignal(pid: number, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mask = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  return (mask & (1n << BigInt(signal - 1))) !== 0n;
}

/** TCP ports on which the process listens, from the descriptors that it holds. */
export function listeningPorts(pid: number): number[] {
  const ports = listeningSockets(pid).map(({ port }) => port);
  return [...new Set(ports)].sort((a, b) => a - b);
}

/** TCP sockets that listen and of which the process holds a descriptor; an inode is one socket. */
export function listeningSockets(pid: number): { readonly inode: string; readonly port: number }[] {
  const held = new Set(
    readdirSync(`/proc/${pid}/fd`)
      .map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
      .map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1])
      .filter((inode) => inode !== undefined),
  );
  const rows = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1),
  );
  return rows
    .map((row) => row.trim().split(/\s+/))
    .map(([, local, , state, , , , , , inode = '']) => ({ local, state, inode }))
    .filter(({ state, inode }) => state === '0A' && held.has(inode))
    .map(({ local, inode }) => ({
      inode,
      port: Number.parseInt(local?.split(':')[1] ?? '', 16),
    }));
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
