/** Words for failed connections, as the reference shows them: the operating system's or TLS's. */
import { tlsErrorText } from '../../shared/tls/tls-errors.ts';

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

/** For example `delayed connect error: Connection refused`. */
export function connectErrorText(error: NodeJS.ErrnoException): string {
  const ofTls = tlsErrorText(error);
  if (ofTls !== undefined) return ofTls;
  const code = error.code ?? '';
  return `delayed connect error: ${TEXTS[code] ?? code}`;
}
