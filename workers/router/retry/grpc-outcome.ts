/** What a gRPC status says of the host that sent it, in terms of HTTP. */
import type { HeaderMap } from '../../stream/header-map.ts';
import { httpStatusOfGrpcNumber } from '../../substitution/http-status-of-grpc.ts';

const UNKNOWN_STATUS = 500;

/** Undefined where there is no such status in these headers or trailers. */
export function httpStatusOfGrpc(headers: HeaderMap): number | undefined {
  const text = headers.get('grpc-status');
  if (text === undefined) return undefined;
  return /^\d+$/.test(text)
    ? (httpStatusOfGrpcNumber(Number(text)) ?? UNKNOWN_STATUS)
    : UNKNOWN_STATUS;
}

/** Whether the call ended well; it has to say so. */
export function isGrpcSuccess(headers: HeaderMap): boolean {
  return (httpStatusOfGrpc(headers) ?? UNKNOWN_STATUS) < 500;
}
