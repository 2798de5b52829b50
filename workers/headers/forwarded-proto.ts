/** The scheme that a client came by, as its connection and its headers tell it. */
import type { HttpConnectionManager } from '../../shared/resources/listener.ts';
import type { ConnectionInfo } from '../net/connection-info.ts';

/** Ports count where a proxy before this one has told the destination. */
export function ownScheme(
  { tls, originalDestination }: ConnectionInfo,
  ports: HttpConnectionManager['forwardedProtoPorts'],
): 'http' | 'https' {
  if (ports !== undefined && originalDestination?.kind === 'ip') {
    if (ports.https.includes(originalDestination.port)) return 'https';
    if (ports.http.includes(originalDestination.port)) return 'http';
  }
  return tls === undefined ? 'http' : 'https';
}

export function schemeOf(forwardedProto: string, fallback: string): string {
  if (forwardedProto === 'http' || forwardedProto === 'https') return forwardedProto;
  const lower = forwardedProto.toLowerCase();
  return lower === 'http' || lower === 'https' ? lower : fallback;
}
