/**
 * Socket addresses between their typed form and the bytes of sockaddr_in, sockaddr_in6 and
 * sockaddr_un. A path that begins with `@` names an abstract unix socket.
 *
 *   sockaddr_in:   u16 family | u16 port (big endian) | 4 bytes address | 8 bytes zero
 *   sockaddr_in6:  u16 family | u16 port (big endian) | u32 flow | 16 bytes address | u32 scope
 *   sockaddr_un:   u16 family | path; the length given to the kernel ends the path
 */
import {
  AF_INET,
  AF_INET6,
  AF_UNIX,
  SOCKADDR_IN6_BYTES,
  SOCKADDR_IN_BYTES,
  SUN_PATH_BYTES,
  SUN_PATH_OFFSET,
} from './layout.ts';
import { lastError, libcFunction, stableBuffer } from './libc.ts';
import { PosixError } from './posix-error.ts';

interface IpSocketAddress {
  readonly kind: 'ip';
  readonly family: 'v4' | 'v6';
  /** Without brackets; an IPv6 address may end in `%<interface>`. */
  readonly address: string;
  readonly port: number;
}

export interface UnixSocketAddress {
  readonly kind: 'pipe';
  readonly path: string;
  /**
   * Abstract names only: NUL bytes fill the whole of sun_path, as the hot-restart sockets want it.
   */
  readonly padded?: boolean;
}

export type SocketAddress = IpSocketAddress | UnixSocketAddress;

/**
 * The bytes that bind, connect and sendmsg take. Throws `PosixError` with EINVAL for an address
 * that is none and ENAMETOOLONG for a path beyond 107 bytes.
 */
export function encodeSocketAddress(address: SocketAddress): Buffer {
  return address.kind === 'pipe' ? encodeUnix(address) : encodeIp(address);
}

/** Reads what getsockname or recvmsg wrote; undefined for an unnamed or unknown address. */
export function decodeSocketAddress(bytes: Buffer): SocketAddress | undefined {
  if (bytes.length < 2) return undefined;
  const family = bytes.readUInt16LE(0);
  if (family === AF_UNIX) return decodeUnix(bytes);
  if (family === AF_INET) return decodeIp(bytes, 'v4');
  if (family === AF_INET6) return decodeIp(bytes, 'v6');
  return undefined;
}

/** The AF_ constant of an address. */
export function addressFamilyOf(address: SocketAddress): number {
  if (address.kind === 'pipe') return AF_UNIX;
  return address.family === 'v4' ? AF_INET : AF_INET6;
}

const presentationToNetwork = libcFunction<[number, string, Buffer], number>(
  'int inet_pton(int, const char *, _Out_ uint8_t *)',
);
const networkToPresentation = libcFunction<[number, Buffer, Buffer, number], string | null>(
  'const char *inet_ntop(int, const uint8_t *, _Out_ uint8_t *, uint32_t)',
);
const interfaceIndex = libcFunction<[string], number>('uint32_t if_nametoindex(const char *)');

function encodeIp(address: IpSocketAddress): Buffer {
  const isV4 = address.family === 'v4';
  const bytes = stableBuffer(isV4 ? SOCKADDR_IN_BYTES : SOCKADDR_IN6_BYTES);
  const [host = '', zone] = address.address.split('%', 2);
  const raw = stableBuffer(16);
  if (presentationToNetwork(isV4 ? AF_INET : AF_INET6, host, raw) !== 1) {
    throw new PosixError('EINVAL', 22, 'inet_pton', `malformed IP address: ${address.address}`);
  }
  bytes.writeUInt16LE(isV4 ? AF_INET : AF_INET6, 0);
  bytes.writeUInt16BE(address.port, 2);
  raw.copy(bytes, isV4 ? 4 : 8, 0, isV4 ? 4 : 16);
  if (!isV4 && zone !== undefined) bytes.writeUInt32LE(scopeOf(zone), 24);
  return bytes;
}

function scopeOf(zone: string): number {
  if (/^[0-9]{1,9}$/.test(zone)) return Number(zone);
  const index = interfaceIndex(zone);
  if (index === 0) throw lastError('if_nametoindex');
  return index;
}

function decodeIp(bytes: Buffer, family: 'v4' | 'v6'): IpSocketAddress {
  const text = stableBuffer(64);
  const isV4 = family === 'v4';
  const raw = bytes.subarray(isV4 ? 4 : 8, isV4 ? 8 : 24);
  const address = networkToPresentation(isV4 ? AF_INET : AF_INET6, raw, text, text.length);
  if (address === null) throw lastError('inet_ntop');
  const scope = isV4 || bytes.length < SOCKADDR_IN6_BYTES ? 0 : bytes.readUInt32LE(24);
  return {
    kind: 'ip',
    family,
    address: scope === 0 ? address : `${address}%${scope}`,
    port: bytes.readUInt16BE(2),
  };
}

function encodeUnix(address: UnixSocketAddress): Buffer {
  const isAbstract = address.path.startsWith('@');
  const path = Buffer.from(address.path);
  // A path in the file system keeps its final NUL; an abstract name is ended by the length alone.
  if (path.length > (isAbstract ? SUN_PATH_BYTES : SUN_PATH_BYTES - 1)) {
    throw new PosixError('ENAMETOOLONG', 36, 'bind', 'File name too long');
  }
  const isWhole = isAbstract && address.padded === true;
  const used = isWhole ? SUN_PATH_BYTES : path.length + (isAbstract ? 0 : 1);
  const bytes = stableBuffer(SUN_PATH_OFFSET + used);
  bytes.writeUInt16LE(AF_UNIX, 0);
  path.copy(bytes, SUN_PATH_OFFSET);
  if (isAbstract) bytes[SUN_PATH_OFFSET] = 0;
  return bytes;
}

function decodeUnix(bytes: Buffer): UnixSocketAddress | undefined {
  const path = bytes.subarray(SUN_PATH_OFFSET);
  if (path.length === 0) return undefined;
  if (path[0] !== 0) {
    const end = path.indexOf(0);
    return { kind: 'pipe', path: path.toString('utf8', 0, end === -1 ? path.length : end) };
  }
  let end = path.length;
  while (end > 1 && path[end - 1] === 0) end -= 1;
  const name = `@${path.toString('utf8', 1, end)}`;
  return end < path.length && path.length === SUN_PATH_BYTES
    ? { kind: 'pipe', path: name, padded: true }
    : { kind: 'pipe', path: name };
}
