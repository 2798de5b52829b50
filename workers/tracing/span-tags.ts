/** The tags and events that Envoy gives to spans of requests and of their attempts. */
import type { HeaderMap } from '../stream/header-map.ts';
import { RESPONSE_FLAG_NAMES } from '../stream/response-flags.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { isGrpcContentType } from '../stream/grpc-status.ts';
import type { Span } from './span.ts';

/** What stands where a header is missing. */
const NONE = '-';

/** Statuses of gRPC that say that the service has failed. */
const GRPC_ERRORS: ReadonlySet<number> = new Set([2, 4, 8, 12, 13, 14, 15]);

const MOMENTS = [
  ['last_downstream_rx_byte_received', 'lastDownstreamRxMs'],
  ['first_upstream_tx_byte_sent', 'firstUpstreamTxMs'],
  ['last_upstream_tx_byte_sent', 'lastUpstreamTxMs'],
  ['first_upstream_rx_byte_received', 'firstUpstreamRxMs'],
  ['last_upstream_rx_byte_received', 'lastUpstreamRxMs'],
  ['first_downstream_tx_byte_sent', 'firstDownstreamTxMs'],
  ['last_downstream_tx_byte_sent', 'lastDownstreamTxMs'],
] as const;
const UPSTREAM_MOMENTS = MOMENTS.slice(1, 5);

export function tagRequest(span: Span, info: StreamInfo, maxPathLength: number): void {
  const { requestHeaders: headers } = info;
  if (headers !== undefined) {
    if (info.requestId !== '') span.setTag('guid:x-request-id', info.requestId);
    span.setTag('http.url', originalUrl(headers, maxPathLength));
    span.setTag('http.method', headers.method);
    span.setTag('downstream_cluster', headers.get('x-envoy-downstream-service-cluster') ?? NONE);
    span.setTag('user_agent', headers.get('user-agent') ?? NONE);
    span.setTag('http.protocol', info.protocol ?? NONE);
    span.setTag('peer.address', info.connection.directRemoteAddress.ip);
    const client = headers.get('x-client-trace-id');
    if (client !== undefined) span.setTag('guid:x-client-trace-id', client);
    tagGrpcRequest(span, headers);
  }
  span.setTag('request_size', String(info.bytesReceived));
  span.setTag('response_size', String(info.bytesSent));
}

function originalUrl(headers: HeaderMap, maxPathLength: number): string {
  const path = headers.get('x-envoy-original-path') ?? headers.path;
  if (path === '') return '';
  const scheme = headers.get('x-forwarded-proto') ?? '';
  return `${scheme}://${headers.authority}${path.slice(0, maxPathLength)}`;
}

function tagGrpcRequest(span: Span, headers: HeaderMap): void {
  if (!isGrpcContentType(headers.get('content-type'))) return;
  span.setTag('grpc.path', headers.path);
  span.setTag('grpc.authority', headers.authority);
  span.setTag('grpc.content_type', headers.get('content-type') ?? '');
  const timeout = headers.get('grpc-timeout');
  if (timeout !== undefined) span.setTag('grpc.timeout', timeout);
}

/** Headers or trailers of a response. */
export function tagGrpcResponse(span: Span, headers: HeaderMap | undefined): void {
  const status = headers?.get('grpc-status');
  if (status === undefined) return;
  span.setTag('grpc.status_code', status);
  const message = headers?.get('grpc-message');
  if (message !== undefined) span.setTag('grpc.message', message);
  if (GRPC_ERRORS.has(Number(status))) span.setTag('error', 'true');
}

export interface Answer {
  readonly cluster: string | undefined;
  readonly clusterAlias: string;
  readonly status: number;
  readonly flags: number;
}

export function tagAnswer(span: Span, { cluster, clusterAlias, status, flags }: Answer): void {
  span.setTag('component', 'proxy');
  if (cluster !== undefined) {
    span.setTag('upstream_cluster', cluster);
    span.setTag('upstream_cluster.name', clusterAlias);
  }
  span.setTag('http.status_code', String(status));
  span.setTag('response_flags', shortFlags(flags));
  if (status === 0 || status >= 500) span.setTag('error', 'true');
}

function shortFlags(flags: number): string {
  if (flags === 0) return NONE;
  return RESPONSE_FLAG_NAMES.filter(([bit]) => (flags & bit) !== 0)
    .map(([, short]) => short)
    .join(',');
}

/** Notes moments; of `upstream` only what happened with the host. */
export function noteMoments(span: Span, info: StreamInfo, which: 'all' | 'upstream'): void {
  for (const [event, field] of which === 'all' ? MOMENTS : UPSTREAM_MOMENTS) {
    const ms = info[field];
    if (ms >= 0) span.note(event, info.startWallMs + ms - info.startMs);
  }
}
