/**
 * What goes wrong with connections: what the runtime's handles report as errors, and Envoy's words
 * for failed connects, the operating system's or TLS's.
 */
import { getSystemErrorName } from 'node:util';
import { tlsErrorText } from '../../shared/tls/tls-errors.ts';

/** As `syscall` of errors that the call itself answered. */
export const IMMEDIATE_CONNECT = 'connect at once';

const TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EADDRNOTAVAIL: 'Cannot assign requested address',
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset by peer',
  EHOSTUNREACH: 'No route to host',
  EMFILE: 'Too many open files',
  ENETUNREACH: 'Network is unreachable',
  ENOENT: 'No such file or directory',
  ETIMEDOUT: 'Connection timed out',
};

/** For example `delayed connect error: Connection refused`; `remote` is where to. */
export function connectErrorText(error: NodeJS.ErrnoException, remote: string): string {
  const ofTls = tlsErrorText(error);
  if (ofTls !== undefined) return ofTls;
  if (isLocalConnectError(error)) return error.message;
  const code = error.code ?? '';
  const text = TEXTS[code] ?? code;
  return error.syscall === IMMEDIATE_CONNECT
    ? `immediate connect error: ${text}|remote address:${remote}`
    : `delayed connect error: ${text}`;
}

/** This side's socket could not be made as it was wanted: nothing was sent. */
export function isLocalConnectError({ syscall }: NodeJS.ErrnoException): boolean {
  return syscall === 'bind' || syscall === 'setsockopt' || syscall === 'socket';
}

/** How libuv reports the end of what the peer sends. */
export const UV_EOF = -4095;
/** This side gave the connection up. */
export const UV_ECONNABORTED = -103;

/** `status` is a negative errno, `call` such as `read`. */
export function systemError(status: number, call: string): NodeJS.ErrnoException {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${call} ${code}`), { code, errno: status, syscall: call });
}
