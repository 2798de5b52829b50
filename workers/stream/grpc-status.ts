/** The gRPC status of a stream as access logs see it. */
import { grpcStatusOfHttp } from '../../shared/substitution/grpc-status-of-http.ts';
import type { StreamInfo } from './stream-info.ts';

/** By status number, 0 to 16. */
export const GRPC_STATUS_NAMES: readonly { readonly camel: string; readonly snake: string }[] = [
  { camel: 'OK', snake: 'OK' },
  { camel: 'Canceled', snake: 'CANCELLED' },
  { camel: 'Unknown', snake: 'UNKNOWN' },
  { camel: 'InvalidArgument', snake: 'INVALID_ARGUMENT' },
  { camel: 'DeadlineExceeded', snake: 'DEADLINE_EXCEEDED' },
  { camel: 'NotFound', snake: 'NOT_FOUND' },
  { camel: 'AlreadyExists', snake: 'ALREADY_EXISTS' },
  { camel: 'PermissionDenied', snake: 'PERMISSION_DENIED' },
  { camel: 'ResourceExhausted', snake: 'RESOURCE_EXHAUSTED' },
  { camel: 'FailedPrecondition', snake: 'FAILED_PRECONDITION' },
  { camel: 'Aborted', snake: 'ABORTED' },
  { camel: 'OutOfRange', snake: 'OUT_OF_RANGE' },
  { camel: 'Unimplemented', snake: 'UNIMPLEMENTED' },
  { camel: 'Internal', snake: 'INTERNAL' },
  { camel: 'Unavailable', snake: 'UNAVAILABLE' },
  { camel: 'DataLoss', snake: 'DATA_LOSS' },
  { camel: 'Unauthenticated', snake: 'UNAUTHENTICATED' },
];

/** What a `grpc-status` that is no number counts as. */
const INVALID = -1;

/** `application/grpc` and `application/grpc+proto`, but not `application/grpc-web`. */
export function isGrpcContentType(contentType: string | undefined): boolean {
  return (
    contentType !== undefined &&
    contentType.startsWith('application/grpc') &&
    (contentType.length === 16 || contentType[16] === '+')
  );
}

/**
 * From the trailers, the headers or the HTTP status, in this order; undefined unless it is gRPC.
 */
export function grpcStatusOf(info: StreamInfo): number | undefined {
  if (!isGrpcContentType(info.requestHeaders?.get('content-type'))) return undefined;
  return writtenStatusOf(info) ?? (info.responseCode === 0 ? undefined : anyGrpcStatusOf(info));
}

/** The same for every request, whatever it said that it is. */
export function anyGrpcStatusOf(info: StreamInfo): number {
  return writtenStatusOf(info) ?? grpcStatusOfHttp(info.responseCode);
}

function writtenStatusOf(info: StreamInfo): number | undefined {
  const text =
    info.responseTrailers?.get('grpc-status') ?? info.responseHeaders?.get('grpc-status');
  if (text === undefined) return undefined;
  return /^\d+$/.test(text) ? Number(text) : INVALID;
}
