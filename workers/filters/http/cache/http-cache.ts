/**
 * Serves responses from a cache, and keeps those that may be kept. Source: envoy.filters.http.cache.
 */
import { compileStringMatcher } from '../../../../shared/matchers/string-matcher.ts';
import {
  CACHE_LOOKUPS,
  type CacheStore,
  type HttpCacheFilterSettings,
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
import {
  ageOf,
  type CacheControl,
  isCacheable,
  mayBeServed,
  needsValidation,
  requestControl,
} from './cache-control.ts';
import { IncomingEntry } from './incoming-entry.ts';
import { addConditions, keptAnswer, refreshedHeaders } from './kept-answer.ts';
import type { KeptResponse } from './memory-cache.ts';
import { MEMORY, openStore, type ResponseStore } from './response-store.ts';

const DETAILS = 'cache.response_from_cache_filter';

interface CacheParts {
  readonly store: ResponseStore;
  readonly count: (event: 'hit' | 'miss') => void;
  readonly options: HttpCacheFilterSettings['options'];
  readonly mayVaryBy: (name: string) => boolean;
  readonly nowS: () => number;
}

export function makeHttpCacheFilter(
  { name, options }: HttpCacheFilterSettings,
  context: FilterContext,
): FilterFactory {
  if (options.store === undefined) return { name, create: () => new PassThroughFilter() };
  const allowed = options.allowedVary.map(compileStringMatcher);
  const parts: CacheParts = {
    store: openStore(options.store, context),
    count: lookupCounter(options.store, context),
    options,
    mayVaryBy: (header) => allowed.some((matches) => matches(header)),
    nowS: () => Math.floor(context.loop.clock.wallMs / 1000),
  };
  return { name, create: (callbacks) => new HttpCacheFilter(parts, callbacks) };
}

/** Only folders have counters, as in Envoy. */
function lookupCounter(store: CacheStore, context: FilterContext): (event: 'hit' | 'miss') => void {
  if (store.kind === 'memory') return () => undefined;
  const base = context.stats.defineBlock(
    CACHE_LOOKUPS,
    `cache.event.cache_path.${store.path}.event_type.`,
  );
  context.onBlock(base);
  return (event) => context.stats.increment(base + CACHE_LOOKUPS.index[event]);
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
  #isLookingUp = false;
  #passes = false;
  #isOver = false;

  constructor(parts: CacheParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { route } = this.#callbacks;
    if (!endStream || route?.kind !== 'cluster' || !mayBeServed(headers)) return 'continue';
    const { options } = this.#parts;
    const control = options.ignoresRequestControl ? undefined : requestControl(headers);
    const scheme = options.excludesScheme ? '' : headers.scheme;
    const host = options.excludesHost ? '' : headers.authority;
    this.#key = [route.clusterName, scheme, host, headers.path].join('\n');
    this.#mayKeep = headers.method === 'GET' && control?.noStore !== true;
    this.#isLookingUp = true;
    this.#lookUp(this.#key, headers, (found) => this.#found(found, headers, control));
    this.#isLookingUp = false;
    return this.#passes ? 'continue' : 'stop';
  }

  #lookUp(
    key: string,
    headers: HeaderMap,
    found: (response: KeptResponse | undefined) => void,
  ): void {
    const { store } = this.#parts;
    const owner = this.#callbacks;
    const byName = (kept: KeptResponse | undefined): void => {
      const vary = kept?.headers.getAll('vary');
      if (vary === undefined) found(kept);
      else store.find(variantOf(key, vary, headers), found, owner);
    };
    store.find(key, byName, owner);
  }

  /** At once, or later from a disk: then the request has waited. */
  #found(
    found: KeptResponse | undefined,
    headers: HeaderMap,
    control: CacheControl | undefined,
  ): void {
    if (this.#isOver) return;
    this.#parts.count(found === undefined ? 'miss' : 'hit');
    this.#passes = !this.#answers(found, headers, control);
    if (this.#passes && !this.#isLookingUp) this.#callbacks.continueDecoding();
  }

  /** Whether the request is answered here. */
  #answers(
    found: KeptResponse | undefined,
    headers: HeaderMap,
    control: CacheControl | undefined,
  ): boolean {
    if (found === undefined) return false;
    const age = ageOf(found.headers, found.receivedS, this.#parts.nowS());
    if (needsValidation(control ?? requestControl(new HeaderMap()), found.headers, age)) {
      this.#validated = found;
      addConditions(found.headers, headers);
      return false;
    }
    this.#serve(found, headers, age);
    return true;
  }

  /** `age` is undefined for what the upstream was asked about just now. */
  #serve(found: KeptResponse, request: HeaderMap, age: number | undefined): void {
    const { info } = this.#callbacks;
    info.responseFlags |= ResponseFlag.responseFromCacheFilter;
    this.#state = 'serving';
    this.#callbacks.sendLocalReply(keptAnswer(found, request, { age, details: DETAILS }));
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
      const entry = new IncomingEntry(MEMORY, this.#parts.options.maxBodyBytes, (body) =>
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
    this.#isOver = true;
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
      this.#parts.store.keep(variantOf(this.#key, vary, request), response);
      // Under the key itself stands what to vary by.
      const names = new HeaderMap();
      names.set('vary', vary);
      this.#parts.store.keep(this.#key, { headers: names, body: Buffer.alloc(0), receivedS: 0 });
    } else {
      this.#parts.store.keep(this.#key, response);
    }
  }

  /** The upstream said that the kept response holds: it is served with the newer headers. */
  #refresh(kept: KeptResponse, newer: HeaderMap, request: HeaderMap): void {
    const headers = refreshedHeaders(kept.headers, newer);
    const { body } = kept;
    const fresh = { headers, body, receivedS: this.#parts.nowS() };
    if (this.#mayKeep) this.#keep(headers, body, request);
    this.#serve(fresh, request, undefined);
  }
}

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
