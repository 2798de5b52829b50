/** Makes streams for unit tests of whatever reads a StreamInfo. */
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { StreamInfo } from '../../../workers/stream/stream-info.ts';
import type { Address, ConnectionInfo } from '../../../workers/net/connection-info.ts';

export function ipAddress(ip: string, port: number): Address {
  return { kind: 'ip', ip, port, text: `${ip}:${port}` };
}

export function connectionInfo(changes: Partial<ConnectionInfo> = {}): ConnectionInfo {
  return {
    id: 7,
    remoteAddress: ipAddress('127.0.0.1', 50_000),
    directRemoteAddress: ipAddress('127.0.0.1', 50_000),
    localAddress: ipAddress('127.0.0.1', 8080),
    listenerName: 'web',
    direction: 'UNSPECIFIED',
    filterChainName: '',
    requestedServerName: '',
    tls: undefined,
    terminationDetails: '',
    transportFailureReason: '',
    ...changes,
  };
}

/** `:method`, `:path`, `:authority` and the like are given as headers. */
export function headerMap(headers: readonly (readonly [string, string])[]): HeaderMap {
  const map = new HeaderMap();
  for (const [name, value] of headers) map.add(name, value);
  return map;
}

export function requestHeaders(
  path = '/',
  headers: readonly (readonly [string, string])[] = [],
): HeaderMap {
  return headerMap([
    [':method', 'GET'],
    [':path', path],
    [':authority', 'h'],
    [':scheme', 'http'],
    ...headers,
  ]);
}

/** A stream with these request headers that began at 2026-11-21T11:18:53.257Z. */
export function streamInfo(
  headers: HeaderMap = requestHeaders(),
  connection: ConnectionInfo = connectionInfo(),
): StreamInfo {
  const info = new StreamInfo(connection, 1000, Date.UTC(2026, 10, 21, 11, 18, 53, 257));
  info.requestHeaders = headers;
  info.protocol = 'HTTP/1.1';
  return info;
}
