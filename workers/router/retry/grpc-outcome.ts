/** What a gRPC status says of the host that sent it, in terms of HTTP. */
import type { HeaderMap } from '../../stream/header-map.ts';

/** By gRPC status, 0 to 16. */
const HTTP_STATUSES: readonly number[] = [
  200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];
const UNKNOWN_STATUS = 500;

/** Undefined where there is no such status in these headers or trailers. */
export function httpStatusOfGrpc(headers: HeaderMap): number | undefined {
  const text = headers.get('grpc-status');
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? (HTTP_STATUSES[Number(text)] ?? UNKNOWN_STATUS) : UNKNOWN_STATUS;
}

/** Whether the call ended well; it has to say so. */
export function isGrpcSuccess(headers: HeaderMap): boolean {
  return (httpStatusOfGrpc(headers) ?? UNKNOWN_STATUS) < 500;
}
