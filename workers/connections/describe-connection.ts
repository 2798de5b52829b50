/** What is said of one open connection. */
import {
  type ConnectionRow,
  LISTED_STREAMS_MAX,
  type RequestRow,
} from '../../shared/connections/connections.ts';
import type { OpenConnection } from '../listener/open-connections.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** Undefined for one that has ended. */
export function describeConnection(
  listener: string,
  { connection, chain }: OpenConnection,
  nowMs: number,
): ConnectionRow | undefined {
  const info = connection?.describe?.();
  if (connection === undefined || info === undefined) return undefined;
  const streams = connection.openStreams ?? 0;
  const known = firstOf(connection.streams?.() ?? []);
  const latest = known.at(-1) ?? info;
  const place = { connection, chain };
  const idleMs = idleMsOf(place, nowMs);
  return {
    id: info.connection.id,
    listener,
    filterChain: chain.resource.name,
    client: info.connection.remoteAddress.text,
    local: info.connection.localAddress.text,
    serverName: info.connection.requestedServerName,
    tls: info.connection.tls?.version ?? '',
    protocol: protocolOf(place),
    ...wayOf(latest),
    ageMs: Math.round(nowMs - connection.openedMs),
    ...(idleMs !== undefined && { idleMs: Math.round(idleMs) }),
    bytesReceived: info.bytesReceived,
    bytesSent: info.bytesSent,
    streams,
    requests: streams === 0 ? [] : known.map((request) => requestRow(request, nowMs)),
  };
}

/** Undefined with a request open, and where there are none. */
export function idleMsOf(
  { connection }: Pick<OpenConnection, 'connection'>,
  nowMs: number,
): number | undefined {
  const sinceMs = connection?.idleSinceMs;
  return sinceMs === undefined ? undefined : nowMs - sinceMs;
}

export function protocolOf({ connection }: Pick<OpenConnection, 'connection'>): string {
  if (connection?.openStreams === undefined) return 'TCP';
  return connection.describe?.()?.protocol ?? 'HTTP';
}

export function bytesOf({ connection }: OpenConnection): number {
  const info = connection?.describe?.();
  return info === undefined ? 0 : info.bytesReceived + info.bytesSent;
}

function firstOf(requests: Iterable<StreamInfo>): readonly StreamInfo[] {
  const first: StreamInfo[] = [];
  for (const info of requests) {
    first.push(info);
    if (first.length >= LISTED_STREAMS_MAX) break;
  }
  return first;
}

function requestRow(info: StreamInfo, nowMs: number): RequestRow {
  return { id: info.requestId, ...wayOf(info), ageMs: Math.round(nowMs - info.startMs) };
}

function wayOf(info: StreamInfo): Pick<RequestRow, 'route' | 'cluster' | 'host'> {
  return {
    route: info.routeName,
    cluster: info.upstreamCluster,
    host: info.upstreamHost?.id ?? '',
  };
}
