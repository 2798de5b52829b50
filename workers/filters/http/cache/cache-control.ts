/**
 * What `cache-control` and its relatives say of requests and responses, and how fresh a kept
 * response is. Times are whole seconds. Source: RFC 9111, as far as Envoy follows it.
 */
import type { HeaderMap } from '../../../stream/header-map.ts';

export interface CacheControl {
  readonly mustValidate: boolean;
  readonly noStore: boolean;
  /** Never to be served when stale. */
  readonly noStale: boolean;
  readonly maxAge: number | undefined;
  readonly maxStale: number | undefined;
  readonly minFresh: number | undefined;
}

const NOTHING: CacheControl = {
  mustValidate: false,
  noStore: false,
  noStale: false,
  maxAge: undefined,
  maxStale: undefined,
  minFresh: undefined,
};

/** Longer than any; so that sums stay exact. */
const SECONDS_MAX = 2 ** 31;
/** Directives of a header that are looked at. */
const DIRECTIVES_MAX = 64;

function directives(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const part of text.split(',', DIRECTIVES_MAX)) {
    const [name = '', value = ''] = part.split('=', 2);
    found.set(name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return found;
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Math.min(Number(text), SECONDS_MAX);
}

export function requestControl(headers: HeaderMap): CacheControl {
  const text = headers.getAll('cache-control');
  if (text === undefined) {
    const isPragma = headers.get('pragma')?.toLowerCase().includes('no-cache') === true;
    return isPragma ? { ...NOTHING, mustValidate: true } : NOTHING;
  }
  const found = directives(text);
  return {
    mustValidate: found.has('no-cache'),
    noStore: found.has('no-store'),
    noStale: false,
    maxAge: seconds(found.get('max-age')),
    // Without a number any age will do.
    maxStale: found.get('max-stale') === '' ? SECONDS_MAX : seconds(found.get('max-stale')),
    minFresh: seconds(found.get('min-fresh')),
  };
}

function responseControl(headers: HeaderMap): CacheControl {
  const text = headers.getAll('cache-control');
  if (text === undefined) return NOTHING;
  const found = directives(text);
  return {
    mustValidate: found.has('no-cache'),
    noStore: found.has('no-store') || found.has('private'),
    noStale: found.has('must-revalidate') || found.has('proxy-revalidate') || found.has('s-maxage'),
    maxAge: seconds(found.get('s-maxage')) ?? seconds(found.get('max-age')),
    maxStale: undefined,
    minFresh: undefined,
  };
}

/** 1970 for what is no date. */
function dateOf(headers: HeaderMap, name: string): number {
  const ms = Date.parse(headers.get(name) ?? '');
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000);
}

/** How old a response that came at `receivedS` is now. */
export function ageOf(headers: HeaderMap, receivedS: number, nowS: number): number {
  const apparent = Math.max(0, receivedS - dateOf(headers, 'date'));
  const said = seconds(headers.get('age')) ?? 0;
  return Math.max(apparent, said) + Math.max(0, nowS - receivedS);
}

/** Whether the upstream has to be asked before the kept response may be served. */
export function needsValidation(request: CacheControl, headers: HeaderMap, age: number): boolean {
  const response = responseControl(headers);
  const isTooOld = request.maxAge !== undefined && request.maxAge < age;
  if (response.mustValidate || request.mustValidate || isTooOld) return true;
  const lifetime = response.maxAge ?? dateOf(headers, 'expires') - dateOf(headers, 'date');
  if (age > lifetime) {
    return response.noStale || request.maxStale === undefined || request.maxStale < age - lifetime;
  }
  return request.minFresh !== undefined && request.minFresh > lifetime - age;
}

const KEPT_STATUSES: ReadonlySet<number> = new Set([
  200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 451, 501,
]);

/** Whether a response says enough of itself to be kept. */
export function isCacheable(headers: HeaderMap): boolean {
  const control = responseControl(headers);
  if (control.noStore || !KEPT_STATUSES.has(headers.status)) return false;
  const expires = headers.has('expires') && headers.has('date');
  return control.mustValidate || control.maxAge !== undefined || expires;
}

const CONDITIONS: readonly string[] = [
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
];

/** Whether the cache may answer the request at all. */
export function mayBeServed(headers: HeaderMap): boolean {
  const { method, scheme, path, authority } = headers;
  if (method !== 'GET' && method !== 'HEAD') return false;
  if ((scheme !== 'http' && scheme !== 'https') || path === '' || authority === '') return false;
  return !headers.has('authorization') && !CONDITIONS.some((name) => headers.has(name));
}
