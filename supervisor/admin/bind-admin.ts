/** Makes an admin server listen on what `admin.address` says. */
import { chmod, lstat, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import type { BoundAddress } from '../../shared/resources/listener.ts';

/** `admin.address` could not be bound. */
export class AdminBindError extends Error {
  readonly code = 'admin_bind';
}

export interface AdminAddress {
  readonly address: BoundAddress;
  /** Unix sockets: permission bits of the file; 0 leaves them. */
  readonly mode?: number;
  /** A socket that is bound already, such as one that systemd or a parent epoch handed over. */
  readonly fd?: number;
}

/** Returns the address with the port it got. Rejects with AdminBindError. */
export async function bindAdmin(server: Server, wanted: AdminAddress): Promise<BoundAddress> {
  const { address } = wanted;
  if (address.kind === 'pipe' && wanted.fd === undefined) await removeStaleSocket(address.path);
  await listen(server, listenOptions(wanted), describeAddress(address));
  if (address.kind === 'pipe') {
    const isFile = !address.path.startsWith('@');
    if (isFile && (wanted.mode ?? 0) !== 0) await chmod(address.path, wanted.mode ?? 0);
    return address;
  }
  const bound = server.address() as AddressInfo | null;
  return bound === null ? address : { ...address, port: bound.port };
}

/** `127.0.0.1:9901`, `[::1]:9901` or the path: as listeners and `--admin-address-path` print it. */
export function describeAddress(address: BoundAddress): string {
  if (address.kind === 'pipe') return address.path;
  return address.family === 'v6'
    ? `[${address.address}]:${address.port}`
    : `${address.address}:${address.port}`;
}

/** True for loopback and unix sockets; anything else deserves a warning in the log. */
export function isLocalOnly(address: BoundAddress): boolean {
  if (address.kind === 'pipe') return true;
  return address.family === 'v6'
    ? address.address === '::1' || address.address.startsWith('::ffff:127.')
    : address.address.startsWith('127.');
}

function listenOptions(wanted: AdminAddress): ListenOptions & { fd?: number } {
  if (wanted.fd !== undefined) return { fd: wanted.fd };
  const { address } = wanted;
  if (address.kind === 'pipe') return { path: address.path.replace(/^@/, '\0') };
  return { host: address.address, port: address.port, ipv6Only: address.family === 'v6' };
}

async function listen(server: Server, options: ListenOptions, name: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: Error) =>
      reject(new AdminBindError(`cannot bind '${name}': ${reasonOf(error)}`, { cause: error }));
    server.once('error', fail);
    server.listen(options, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

// A socket file outlives its process; only sockets are removed, never a file of another kind.
async function removeStaleSocket(path: string): Promise<void> {
  if (path.startsWith('@')) return;
  try {
    if ((await lstat(path)).isSocket()) await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw new AdminBindError(`cannot replace '${path}': ${reasonOf(error as Error)}`, {
        cause: error,
      });
    }
  }
}

function reasonOf(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return 'Address already in use';
    case 'EACCES':
      return 'Permission denied';
    case 'EADDRNOTAVAIL':
      return 'Cannot assign requested address';
    default:
      return error.message;
  }
}
