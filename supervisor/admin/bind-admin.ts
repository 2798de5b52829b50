/** Makes an admin server listen on what `admin.address` says. */
import { chmod, lstat, unlink } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { SOCK_STREAM, SOL_SOCKET, SO_REUSEADDR } from '../../shared/posix/layout.ts';
import { bindSocket, openSocket, setSocketOption } from '../../shared/posix/sockets.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import type { SocketOption } from '../../shared/addresses/socket-options.ts';
import { setConfiguredOptions } from '../../shared/posix/configured-options.ts';

/** `admin.address` could not be bound. */
export class AdminBindError extends Error {
  readonly code = 'admin_bind';
}

export interface AdminAddress {
  readonly address: BoundAddress;
  /** Unix sockets: permission bits of the file; 0 leaves them. */
  readonly mode?: number;
  /** `admin.socket_options`, in their order. */
  readonly socketOptions?: readonly SocketOption[];
  /** A socket that is bound already, such as one that systemd or a parent epoch handed over. */
  readonly fd?: number;
}

/** Returns the address with the port it got. Rejects with AdminBindError. */
export async function bindAdmin(server: Server, wanted: AdminAddress): Promise<BoundAddress> {
  const { address } = wanted;
  if (address.kind === 'pipe' && wanted.fd === undefined) await removeStaleSocket(address.path);
  const { socketOptions = [] } = wanted;
  const fd = wanted.fd ?? (socketOptions.length === 0 ? undefined : openSocketWith(wanted));
  await listen(server, listenOptions(address, fd), describeAddress(address));
  if (fd !== undefined) setOptions(fd, wanted, 'listening');
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

/** A bound socket of our own: node's server sets no options before it binds. */
function openSocketWith(wanted: AdminAddress): number {
  const { address } = wanted;
  const fd = openSocket(address, SOCK_STREAM);
  try {
    setOptions(fd, wanted, 'prebind');
    if (address.kind === 'ip') setSocketOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    bindSocket(fd, address);
    setOptions(fd, wanted, 'bound');
    return fd;
  } catch (cause) {
    closeDescriptor(fd);
    if (cause instanceof AdminBindError) throw cause;
    throw new AdminBindError(
      `cannot bind '${describeAddress(address)}': ${reasonOf(cause as Error)}`,
      { cause },
    );
  }
}

function setOptions(fd: number, wanted: AdminAddress, state: SocketOption['state']): void {
  try {
    setConfiguredOptions(fd, wanted.socketOptions, state);
  } catch (cause) {
    const name = describeAddress(wanted.address);
    throw new AdminBindError(`cannot bind '${name}': ${(cause as Error).message}`, { cause });
  }
}

function listenOptions(
  address: BoundAddress,
  fd: number | undefined,
): ListenOptions & { fd?: number } {
  if (fd !== undefined) return { fd };
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
