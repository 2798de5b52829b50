/** Where a connection was sent before the kernel's address translation redirected it. */
import { check, libcFunction, stableBuffer } from './libc.ts';
import { SOCKADDR_BYTES_MAX, SOL_IPV6 } from './layout.ts';
import { decodeSocketAddress, type SocketAddress } from './socket-address.ts';
import { PosixError } from './posix-error.ts';

const SOL_IP = 0;
/** The same number for both families, in linux/netfilter_ipv4.h and linux/netfilter_ipv6. */
const SO_ORIGINAL_DST = 80;

const getsockopt = libcFunction<[number, number, number, Buffer, Buffer], number>(
  'int getsockopt(int, int, int, _Out_ uint8_t *, _Inout_ uint8_t *)',
);

/** Undefined for a connection that nobody redirected. */
export function originalDestination(fd: number, family: 'v4' | 'v6'): SocketAddress | undefined {
  const bytes = stableBuffer(SOCKADDR_BYTES_MAX);
  const length = stableBuffer(4);
  length.writeUInt32LE(bytes.length, 0);
  try {
    const level = family === 'v6' ? SOL_IPV6 : SOL_IP;
    check(getsockopt(fd, level, SO_ORIGINAL_DST, bytes, length), 'getsockopt');
  } catch (error) {
    // The kernel knows no redirection of it, or cannot redirect at all.
    if (error instanceof PosixError) return undefined;
    throw error;
  }
  return decodeSocketAddress(bytes.subarray(0, length.readUInt32LE(0)));
}
