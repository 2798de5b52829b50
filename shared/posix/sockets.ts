/**
 * Sockets as Node 20 cannot make them: with SO_REUSEPORT, of the datagram unix type, as
 * descriptors that can be handed on. Every one is made with CLOEXEC. This file decides no policy.
 */
import {
  AF_UNSPEC,
  SOCKADDR_BYTES_MAX,
  SOCK_CLOEXEC,
  SOCK_DGRAM,
  SOCK_NONBLOCK,
  SOL_SOCKET,
  SO_PEERCRED,
  SUN_PATH_OFFSET,
  UCRED_BYTES,
  UCRED_UID_OFFSET,
} from './layout.ts';
import { closeDescriptor } from './descriptors.ts';
import { check, libcFunction, stableBuffer } from './libc.ts';
import { PosixError } from './posix-error.ts';
import {
  addressFamilyOf,
  decodeSocketAddress,
  encodeSocketAddress,
  type SocketAddress,
  type UnixSocketAddress,
} from './socket-address.ts';

const socket = libcFunction<[number, number, number], number>('int socket(int, int, int)');
const bind = libcFunction<[number, Buffer, number], number>(
  'int bind(int, const uint8_t *, uint32_t)',
);
const connect = libcFunction<[number, Buffer, number], number>(
  'int connect(int, const uint8_t *, uint32_t)',
);
const listen = libcFunction<[number, number], number>('int listen(int, int)');
const accept4 = libcFunction<[number, null, null, number], number>(
  'int accept4(int, void *, void *, int)',
);
const getsockname = libcFunction<[number, Buffer, Buffer], number>(
  'int getsockname(int, _Out_ uint8_t *, _Inout_ uint8_t *)',
);
const setsockopt = libcFunction<[number, number, number, Buffer, number], number>(
  'int setsockopt(int, int, int, const uint8_t *, uint32_t)',
);
const getsockopt = libcFunction<[number, number, number, Buffer, Buffer], number>(
  'int getsockopt(int, int, int, _Out_ uint8_t *, _Inout_ uint8_t *)',
);

/** A new non-blocking socket of the address's family; `type` is SOCK_STREAM, SOCK_DGRAM or so. */
export function openSocket(address: SocketAddress, type: number, protocol = 0): number {
  const flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
  return check(socket(addressFamilyOf(address), type | flags, protocol), 'socket');
}

/** Throws `PosixError`: EADDRINUSE, EACCES, EADDRNOTAVAIL and the like. */
export function bindSocket(fd: number, address: SocketAddress): void {
  const bytes = encodeSocketAddress(address);
  check(bind(fd, bytes, bytes.length), 'bind');
}

/** Whether a living process has bound this datagram socket; nothing is sent to it. */
export function isDatagramSocketHeld(address: UnixSocketAddress): boolean {
  const fd = openSocket(address, SOCK_DGRAM);
  try {
    const bytes = encodeSocketAddress(address);
    check(connect(fd, bytes, bytes.length), 'connect');
    return true;
  } catch (error) {
    if (!(error instanceof PosixError)) throw error;
    // Refused for want of permission: somebody is there all the same.
    return error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT';
  } finally {
    closeDescriptor(fd);
  }
}

/**
 * Lets a datagram socket hear one other socket only: the kernel refuses everybody else, and the
 * other one is never refused for a full queue. False where nobody is bound there.
 */
export function hearOnly(fd: number, address: UnixSocketAddress): boolean {
  const bytes = encodeSocketAddress(address);
  return connect(fd, bytes, bytes.length) === 0;
}

/** Undoes `hearOnly`. What waits in the socket is thrown away. */
export function hearEverybody(fd: number): boolean {
  const bytes = stableBuffer(SUN_PATH_OFFSET);
  bytes.writeUInt16LE(AF_UNSPEC, 0);
  return connect(fd, bytes, bytes.length) === 0;
}

/** The kernel lowers `backlog` to net.core.somaxconn. */
export function listenOn(fd: number, backlog: number): void {
  check(listen(fd, backlog), 'listen');
}

/**
 * The next connection that waits at a non-blocking listening socket, non-blocking as well;
 * undefined when none does, or when it cannot be taken now.
 */
export function acceptWaiting(fd: number): number | undefined {
  const accepted = accept4(fd, null, null, SOCK_NONBLOCK | SOCK_CLOEXEC);
  return accepted < 0 ? undefined : accepted;
}

/** The address a socket is bound to; undefined for an unnamed unix socket. */
export function localAddress(fd: number): SocketAddress | undefined {
  const bytes = stableBuffer(SOCKADDR_BYTES_MAX);
  const length = stableBuffer(4);
  length.writeUInt32LE(bytes.length, 0);
  check(getsockname(fd, bytes, length), 'getsockname');
  return decodeSocketAddress(bytes.subarray(0, length.readUInt32LE(0)));
}

/** Sets an option whose value is a C int. */
export function setSocketOption(fd: number, level: number, option: number, value: number): void {
  const bytes = stableBuffer(4);
  bytes.writeInt32LE(value, 0);
  check(setsockopt(fd, level, option, bytes, bytes.length), 'setsockopt');
}

/** Sets an option whose value is other bytes. */
export function setSocketOptionBytes(
  fd: number,
  level: number,
  option: number,
  value: Buffer,
): void {
  const bytes = stableBuffer(value.length);
  value.copy(bytes);
  check(setsockopt(fd, level, option, bytes, bytes.length), 'setsockopt');
}

/** Reads an option whose value is a C int. */
export function socketOption(fd: number, level: number, option: number): number {
  const bytes = stableBuffer(4);
  const length = stableBuffer(4);
  length.writeUInt32LE(4, 0);
  check(getsockopt(fd, level, option, bytes, length), 'getsockopt');
  return bytes.readInt32LE(0);
}

/** Whose process is at the other end of a unix stream socket. Linux only. */
export function peerUid(fd: number): number {
  const bytes = stableBuffer(UCRED_BYTES);
  const length = stableBuffer(4);
  length.writeUInt32LE(UCRED_BYTES, 0);
  check(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, bytes, length), 'getsockopt');
  return bytes.readUInt32LE(UCRED_UID_OFFSET);
}
