/**
 * Sockets for connections to hosts that need more than an address to go to: an address of their
 * own, options. Made by libc, since the runtime's own have neither before they connect.
 */
import net from 'node:net';
import { isIPv6 } from '../../shared/addresses/ip-text.ts';
import { setConfiguredOptions } from '../../shared/posix/configured-options.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { SOCK_STREAM } from '../../shared/posix/layout.ts';
import { PosixError } from '../../shared/posix/posix-error.ts';
import { bindSocket, openSocket } from '../../shared/posix/sockets.ts';
import type { LocalSocket } from '../../shared/resources/clusters/cluster.ts';

/** Stands for whatever the kernel had against an option. */
const EINVAL = 22;

/** What the socket connects to; `host` is an address. */
interface Remote {
  readonly host: string;
  readonly port: number;
}

/** A bound socket that connects nowhere yet; an error says which step failed. */
export function openLocalSocket(
  { source, options }: LocalSocket,
  { host, port }: Remote,
): number | NodeJS.ErrnoException {
  const family = isIPv6(host) ? 'v6' : 'v4';
  let fd = -1;
  try {
    fd = openSocket({ kind: 'ip', family, address: host, port }, SOCK_STREAM);
    setConfiguredOptions(fd, options, 'prebind');
    if (source !== undefined) bindTo(fd, source);
    setConfiguredOptions(fd, options, 'bound');
    return fd;
  } catch (error) {
    if (fd >= 0) closeDescriptor(fd);
    if (error instanceof PosixError) return error;
    const { message } = error as Error;
    return new PosixError('EINVAL', EINVAL, 'setsockopt', message);
  }
}

/** The same as a socket of node:net that is connecting, or that soon ends with the error. */
export function connectLocalSocket(local: LocalSocket, remote: Remote): net.Socket {
  const opened = openLocalSocket(local, remote);
  if (typeof opened === 'number') {
    const socket = new net.Socket({ fd: opened, readable: false, writable: false });
    return socket.connect({ ...remote });
  }
  const socket = new net.Socket();
  process.nextTick(() => socket.destroy(opened));
  return socket;
}

function bindTo(fd: number, { address, port }: { address: string; port: number }): void {
  const isV6 = isIPv6(address);
  try {
    bindSocket(fd, { kind: 'ip', family: isV6 ? 'v6' : 'v4', address, port });
  } catch (error) {
    if (!(error instanceof PosixError)) throw error;
    const shown = isV6 ? `[${address}]:${port}` : `${address}:${port}`;
    const { code, errno, message } = error;
    throw new PosixError(code, errno, 'bind', `failed to bind to ${shown}: ${message}`);
  }
}
