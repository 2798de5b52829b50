/** The answer that a kept response is to a request: whole, a range of it, or its headers alone. */
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { LocalReply } from '../../../stream/filter.ts';
import { byteRange } from './byte-range.ts';
import type { KeptResponse } from './memory-cache.ts';

export function keptAnswer(
  { headers: kept, body }: KeptResponse,
  request: HeaderMap,
  { age, details }: { readonly age: number | undefined; readonly details: string },
): LocalReply {
  const headers = kept.clone();
  if (age === undefined) headers.remove('age');
  else headers.set('age', String(age));
  const asked = request.method === 'GET' ? request.getAll('range') : undefined;
  const range = headers.status === 200 ? byteRange(asked, body.length) : undefined;
  let part = body;
  if (range === 'not_satisfiable') {
    headers.status = 416;
    headers.set('content-range', `bytes */${body.length}`);
    headers.set('content-length', '0');
    part = Buffer.alloc(0);
  } else if (range !== undefined) {
    headers.status = 206;
    part = body.subarray(range.first, range.last + 1);
    headers.set('content-range', `bytes ${range.first}-${range.last}/${body.length}`);
    headers.set('content-length', String(part.length));
  }
  return {
    status: headers.status,
    body: request.method === 'HEAD' ? '' : part,
    details,
    wholeHeaders: headers,
    replacesAnswer: true,
  };
}

/** Headers by which the upstream says whether the kept response still holds. */
export function addConditions(kept: HeaderMap, request: HeaderMap): void {
  const etag = kept.get('etag');
  if (etag !== undefined) request.set('if-none-match', etag);
  const since = kept.get('last-modified');
  if (since !== undefined) request.set('if-modified-since', since);
  else {
    const date = kept.get('date');
    if (date !== undefined) request.set('if-modified-since', date);
  }
}

/** What a 304 says of itself, not of the kept response. */
const UNCHANGED: ReadonlySet<string> = new Set([
  'content-length',
  'content-range',
  'etag',
  'set-cookie',
  'vary',
]);

/** The headers of a kept response after the upstream said that it holds. */
export function refreshedHeaders(kept: HeaderMap, newer: HeaderMap): HeaderMap {
  const headers = kept.clone();
  newer.forEach((name) => {
    const value = newer.getAll(name);
    if (!UNCHANGED.has(name) && value !== undefined) headers.set(name, value);
  });
  return headers;
}
