/** Rules for headers that belong to one hop: what `connection` may name, and what stays of `te`. */
import type { HeaderMap } from '../stream/header-map.ts';

/** Headers that `connection` may name; each costs a walk through all of them. */
export const MAX_NOMINATED = 32;
/** Names that `connection` must not nominate: removing them would change what the message means. */
export const NOT_NOMINABLE = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
]);

/** Only trailers may be asked for of the next hop. */
export function keepOnlyTrailers(headers: HeaderMap): void {
  const value = headers.getAll('te') ?? '';
  const codings = value.split(',').map((part) => part.trim().toLowerCase());
  if (codings.includes('trailers')) headers.set('te', 'trailers');
  else headers.remove('te');
}
