/** Requests that the header policy refuses or redirects, and small readings of its headers. */
import type { RequestRefusal } from '../manager/types.ts';
import type { HeaderMap } from '../stream/header-map.ts';

const REFUSED = { status: 400, details: '', body: '' };
export const UNDERSCORE_REFUSED: RequestRefusal = { ...REFUSED, fault: 'unexpected_underscore' };

export const PATH_REFUSED: RequestRefusal = {
  status: 400,
  details: 'path_normalization_failed',
  body: '',
};

export function rejected(status: number): RequestRefusal {
  return { status, details: 'rejecting_because_detection_failed', body: '' };
}

/** A redirect to the normal form; a gRPC client could not follow it and is refused instead. */
export function redirectTo(headers: HeaderMap): RequestRefusal {
  if (headers.get('content-type')?.startsWith('application/grpc') === true) return PATH_REFUSED;
  return { status: 307, details: 'path_normalization_failed', body: '', location: headers.path };
}

/** All values of a header that may have come several times as one entry. */
export function join(headers: HeaderMap, name: string): string | undefined {
  const value = headers.getAll(name);
  if (value !== undefined) headers.set(name, value);
  return value;
}

export function isSingleAddress(forwardedFor: string | undefined): boolean {
  return forwardedFor !== undefined && !forwardedFor.includes(',');
}
