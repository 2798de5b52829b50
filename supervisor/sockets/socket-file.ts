/** Files of unix sockets: made with permissions, removed where they are still ours. */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import type { BoundAddress } from '../../shared/resources/listener.ts';

export interface SocketFile {
  readonly path: string;
  readonly inode: bigint;
}

/** A file that is no socket is left alone; binding then fails with the reason. */
export function removeStaleSocketFile(path: string): void {
  if (path.startsWith('@')) return;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path);
}

/** The file that was made for a unix socket, with these permissions unless they are 0. */
export function socketFile(address: BoundAddress, mode: number): SocketFile | undefined {
  if (address.kind !== 'pipe' || address.path.startsWith('@')) return undefined;
  const { path } = address;
  if (mode !== 0) chmodSync(path, mode);
  const present = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return present === undefined ? undefined : { path, inode: present.ino };
}

/** That one and no other. */
export function removeSocketFile({ path, inode }: SocketFile): void {
  const present = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (present?.ino === inode) unlinkSync(path);
}
