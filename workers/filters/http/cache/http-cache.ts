/**
 * Serves responses from a cache in memory, and keeps those that may be kept. Source:
 * envoy.filters.http.cache.
 */
import { KindTable } from '../../../../shared/resources/by-kind.ts';
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import type {
  CacheStore,
  HttpCacheFilterSettings,
} from '../../../../shared/resources/filters/http/matching/http-cache.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../../stream/filter.ts';
import { HeaderMap } from '../../../stream/header-map.ts';
import { ResponseFlag } from '../../../stream/response-flags.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import { byteRange } from './byte-range.ts';
import {
  ageOf,
  isCacheable,
  mayBeServed,
  needsValidation,
  requestControl,
} from './cache-control.ts';
import { IncomingEntry } from './incoming-entry.ts';
import { MemoryCache, type KeptResponse } from './memory-cache.ts';

/** What all filters of this worker keep in memory. */
const MEMORY = new MemoryCache();
const STORES = new KindTable<CacheStore, [], MemoryCache>({ memory: () => MEMORY });
const DETAILS = 'cache.response_from_cache_filter';

interface CacheParts {
  readonly store: MemoryCache;
  readonly options: HttpCacheFilterSettings['options'];
  readonly mayVaryBy: (name: string) => boolean;
  readonly nowS: () => number;
}

export function makeHttpCacheFilter(
  { name, options }: HttpCacheFilterSettings,
  { loop }: FilterContext,
): FilterFactory {
  if (options.store === undefined) return { name, create: () => new PassThroughFilter() };
  const allowed = options.allowedVary.map(compileStringMatcher);
  const parts: CacheParts = {
    store: STORES.make(options.store),
    options,
    mayVaryBy: (header) => allowed.some((matches) => matches(header)),
    nowS: () => Math.floor(loop.clock.wallMs / 1000),
  };
  return { name, create: (callbacks) => new HttpCacheFilter(parts, callbacks) };
}

class HttpCacheFilter extends PassThroughFilter {
  readonly #parts: CacheParts;
  readonly #callbacks: FilterCallbacks;
  /** Undefined: the request has nothing to do with the cache. */
  #key: string | undefined;
  #mayKeep = false;
  /** What the upstream is asked about. */
  #validated: KeptResponse | undefined;
  #incoming: IncomingEntry | undefined;
  #state: 'passing' | 'serving' | 'served' = 'passing';

  constructor(parts: CacheParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { route } = this.#callbacks;
    if (!endStream || route?.kind !== 'cluster' || !mayBeServed(headers)) return 'continue';
    const { options, nowS } = this.#parts;
    const control = options.ignoresRequestControl ? undefined : requestControl(headers);
    const scheme = options.excludesScheme ? '' : headers.scheme;
    const host = options.excludesHost ? '' : headers.authority;
    this.#key = [route.clusterName, scheme, host, headers.path].join('\n');
    this.#mayKeep = headers.method === 'GET' && control?.noStore !== true;
    const found = this.#lookUp(headers);
    if (found === undefined) return 'continue';
    const age = ageOf(found.headers, found.receivedS, nowS());
    if (needsValidation(control ?? requestControl(new HeaderMap()), found.headers, age)) {
      this.#validate(found, headers);
      return 'continue';
    }
    this.#serve(found, headers);
    return 'stop';
  }

  #lookUp(headers: HeaderMap): KeptResponse | undefined {
    if (this.#key === undefined) return undefined;
    const kept = this.#parts.store.get(this.#key);
    const vary = kept?.headers.getAll('vary');
    if (vary === undefined) return kept;
    return this.#parts.store.get(variantOf(this.#key, vary, headers));
  }

  /** Asks the upstream whether the kept response still holds. */
  #validate(found: KeptResponse, headers: HeaderMap): void {
    this.#validated = found;
    const etag = found.headers.get('etag');
    if (etag !== undefined) headers.set('if-none-match', etag);
    const since = found.headers.get('last-modified');
    if (since !== undefined) headers.set('if-modified-since', since);
    else if (etag === undefined) {
      const date = found.headers.get('date');
      if (date !== undefined) headers.set('if-modified-since', date);
    }
  }

  #serve({ headers: kept, body, receivedS }: KeptResponse, request: HeaderMap): void {
    const { info } = this.#callbacks;
    const headers = kept.clone();
    headers.set('age', String(ageOf(kept, receivedS, this.#parts.nowS())));
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
    info.responseFlags |= ResponseFlag.responseFromCacheFilter;
    this.#state = 'serving';
    this.#callbacks.sendLocalReply({
      status: headers.status,
      body: request.method === 'HEAD' ? '' : part,
      details: DETAILS,
      wholeHeaders: headers,
      replacesAnswer: true,
    });
    this.#state = 'served';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const request = this.#callbacks.info.requestHeaders;
    if (this.#state === 'serving' || this.#key === undefined || request === undefined) {
      return 'continue';
    }
    if (this.#validated !== undefined && headers.status === 304) {
      this.#refresh(this.#validated, headers, request);
      return 'stop';
    }
    if (this.#mayKeep && isCacheable(headers) && this.#mayVary(headers)) {
      const kept = headers.clone();
      const entry = new IncomingEntry(this.#parts.store, this.#parts.options.maxBodyBytes, (body) =>
        this.#keep(kept, body, request),
      );
      this.#incoming = entry;
      if (endStream) entry.end();
    }
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    // What still comes of a response that was replaced.
    if (this.#state === 'served') return 'taken';
    this.#incoming?.take(data);
    if (endStream) this.#incoming?.end();
    return 'continue';
  }

  override encodeTrailers(): TrailersStatus {
    if (this.#state === 'served') return 'taken';
    // Responses with trailers are not kept: they would be served without them.
    this.#incoming?.drop();
    return 'continue';
  }

  override onDestroy(): void {
    this.#incoming?.drop();
  }

  /** Whether all that the response varies by may tell entries apart. */
  #mayVary(headers: HeaderMap): boolean {
    const names = varyNames(headers.getAll('vary'));
    return names.length <= VARY_NAMES_MAX && names.every(this.#parts.mayVaryBy);
  }

  #keep(headers: HeaderMap, body: Buffer, request: HeaderMap): void {
    if (this.#key === undefined) return;
    const response = { headers, body, receivedS: this.#parts.nowS() };
    const vary = headers.getAll('vary');
    if (vary !== undefined) {
      this.#parts.store.set(variantOf(this.#key, vary, request), response);
      // Under the key itself stands what to vary by.
      const names = new HeaderMap();
      names.set('vary', vary);
      this.#parts.store.set(this.#key, { headers: names, body: Buffer.alloc(0), receivedS: 0 });
    } else {
      this.#parts.store.set(this.#key, response);
    }
  }

  /** The upstream said that the kept response holds: it is served with the newer headers. */
  #refresh(kept: KeptResponse, newer: HeaderMap, request: HeaderMap): void {
    const headers = kept.headers.clone();
    newer.forEach((name) => {
      const value = newer.getAll(name);
      if (!UNCHANGED.has(name) && value !== undefined) headers.set(name, value);
    });
    const { body } = kept;
    const fresh = { headers, body, receivedS: this.#parts.nowS() };
    if (this.#mayKeep) this.#keep(headers, body, request);
    this.#serve(fresh, request);
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
/** Headers that one response varies by. */
const VARY_NAMES_MAX = 16;

function varyNames(vary: string | undefined): readonly string[] {
  if (vary === undefined) return [];
  return vary.split(',').map((name) => name.trim().toLowerCase());
}

/** The key of the variant that a request gets. */
function variantOf(key: string, vary: string, request: HeaderMap): string {
  const values = varyNames(vary)
    .toSorted()
    .map((name) => `${name}=${JSON.stringify(request.getAll(name) ?? null)}`);
  return [key, ...values].join('\n');
}
