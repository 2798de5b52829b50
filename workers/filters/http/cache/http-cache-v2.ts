/**
 * Serves responses from a cache that fetches what several requests want at once only once: the first
 * request goes on and fills the cache, the others wait for it. Source: envoy.filters.http.cache_v2.
 */
import {
  CACHE_EVENTS,
  type CacheStore,
  type HttpCacheV2FilterSettings,
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
import type { WorkerLoop } from '../../../loop/worker-loop.ts';
import type { FilterContext } from '../../filter-context.ts';
import { PassThroughFilter } from '../../pass-through-filter.ts';
import {
  ageOf,
  isCacheable,
  mayBeServed,
  needsValidation,
  requestControl,
} from './cache-control.ts';
import type { Landing, Passenger } from './flights.ts';
import { IncomingEntry } from './incoming-entry.ts';
import { RangedBody } from './ranged-body.ts';
import { addConditions, keptAnswer, refreshedHeaders } from './kept-answer.ts';
import type { KeptResponse } from './memory-cache.ts';
import { MEMORY, openStore, type ResponseStore } from './response-store.ts';

const SERVED = 'cache.response_from_cache_filter';
const INSERTED = 'cache.insert_via_upstream';
/** As statistics call the stores. */
const LABELS: Readonly<Record<CacheStore['kind'], string>> = {
  memory: 'envoy_extensions_http_cache_v2_simple',
  disk: 'envoy_extensions_http_cache_v2_file_system_http_cache',
};

interface CacheParts {
  readonly store: ResponseStore;
  readonly options: HttpCacheV2FilterSettings['options'];
  readonly count: (event: keyof typeof CACHE_EVENTS.index) => void;
  readonly nowS: () => number;
  readonly loop: WorkerLoop;
}

export function makeHttpCacheV2Filter(
  { name, options }: HttpCacheV2FilterSettings,
  context: FilterContext,
): FilterFactory {
  if (options.store === undefined) return { name, create: () => new PassThroughFilter() };
  const { stats, loop } = context;
  const prefix = `cache.event.cache_label.${LABELS[options.store.kind]}.event_type.`;
  const base = stats.defineBlock(CACHE_EVENTS, prefix);
  context.onBlock(base);
  const parts: CacheParts = {
    store: openStore(options.store, context),
    options,
    count: (event) => stats.increment(base + CACHE_EVENTS.index[event]),
    nowS: () => Math.floor(loop.clock.wallMs / 1000),
    loop,
  };
  return { name, create: (callbacks) => new HttpCacheV2Filter(parts, callbacks) };
}

/**
 * `waiting` for a lookup or another's flight, `passing` without the cache, `flying` to fill it,
 * `answering` from it.
 */
type State = 'waiting' | 'passing' | 'flying' | 'answering' | 'over';

class HttpCacheV2Filter extends PassThroughFilter implements Passenger {
  readonly #parts: CacheParts;
  readonly #callbacks: FilterCallbacks;
  #state: State = 'passing';
  #key = '';
  #isAtOnce = false;
  #validated: KeptResponse | undefined;
  #incoming: IncomingEntry | undefined;
  /** What the request asked for of a response that is fetched whole, and its part of the body. */
  #range: string | undefined;
  #part: RangedBody | undefined;

  constructor(parts: CacheParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { route } = this.#callbacks;
    const { options, count } = this.#parts;
    if (!endStream || !mayBeServed(headers)) {
      count('uncacheable');
      return 'continue';
    }
    if (route?.kind !== 'cluster') {
      this.#callbacks.sendLocalReply({ status: 404, body: '', details: 'cache_no_route' });
      return 'stop';
    }
    const scheme = options.excludesScheme ? '' : headers.scheme;
    const host = options.excludesHost ? '' : headers.authority;
    const cluster = options.cluster ?? route.clusterName;
    this.#key = ['v2', cluster, scheme, host, headers.path].join('\n');
    this.#state = 'waiting';
    this.#isAtOnce = true;
    this.#lookUp(headers);
    this.#isAtOnce = false;
    return this.#goesOn() ? 'continue' : 'stop';
  }

  onException(): void {
    this.#callbacks.onException();
  }

  /** What another request fetched is there now, or it is not to be had that way. */
  onLanding(landing: Landing): void {
    const headers = this.#callbacks.info.requestHeaders;
    if (this.#state !== 'waiting' || headers === undefined) return;
    if (landing === 'unkept') {
      this.#parts.count('uncacheable');
      this.#pass();
    } else this.#lookUp(headers);
  }

  /** Apart from where it is set, since a lookup may end at once. */
  #goesOn(): boolean {
    return this.#state === 'passing' || this.#state === 'flying';
  }

  #lookUp(headers: HeaderMap): void {
    const { store } = this.#parts;
    if (store.flights.board(this.#key, this)) return;
    const decide = (found: KeptResponse | undefined): void => {
      if (this.#state === 'waiting') this.#found(found, headers);
    };
    store.find(this.#key, decide, this.#callbacks);
  }

  #found(found: KeptResponse | undefined, headers: HeaderMap): void {
    const { options, count, nowS, store } = this.#parts;
    if (found !== undefined) {
      const control = requestControl(options.ignoresRequestControl ? new HeaderMap() : headers);
      const age = ageOf(found.headers, found.receivedS, nowS());
      if (!needsValidation(control, found.headers, age)) {
        count('hit');
        this.#answer(found, headers, age);
        return;
      }
    }
    // Somebody else may have begun while a disk was asked.
    if (store.flights.board(this.#key, this)) return;
    if (headers.method !== 'GET') {
      count('uncacheable');
      this.#pass();
    } else this.#fly(found, headers);
  }

  #fly(found: KeptResponse | undefined, headers: HeaderMap): void {
    const { store, options } = this.#parts;
    this.#state = 'flying';
    store.flights.begin(this.#key);
    this.#callbacks.info.overridingCluster = options.cluster;
    if (found !== undefined) {
      this.#validated = found;
      addConditions(found.headers, headers);
    }
    this.#range = headers.getAll('range');
    headers.remove('range');
    if (!this.#isAtOnce) this.#callbacks.continueDecoding();
  }

  #pass(): void {
    this.#state = 'passing';
    if (!this.#isAtOnce) this.#callbacks.continueDecoding();
  }

  /** `age` is undefined for what the upstream was asked about just now. */
  #answer(response: KeptResponse, headers: HeaderMap, age: number | undefined): void {
    const { info } = this.#callbacks;
    this.#state = 'answering';
    info.responseFlags |= ResponseFlag.responseFromCacheFilter;
    this.#callbacks.sendLocalReply(keptAnswer(response, headers, { age, details: SERVED }));
    this.#state = 'over';
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { info } = this.#callbacks;
    const request = info.requestHeaders;
    if (this.#state !== 'flying' || request === undefined) return 'continue';
    if (this.#validated !== undefined && headers.status === 304) {
      this.#refresh(this.#validated, headers, request);
      return 'stop';
    }
    if (!isCacheable(headers) || headers.has('vary')) {
      this.#parts.count('uncacheable');
      this.#land('unkept');
      return 'continue';
    }
    this.#parts.count('miss');
    const kept = headers.clone();
    headers.remove('age');
    info.responseFlags |= ResponseFlag.responseFromCacheFilter;
    info.responseCodeDetails = INSERTED;
    this.#incoming = new IncomingEntry(
      MEMORY,
      this.#parts.options.maxBodyBytes,
      (body) => this.#keep(kept, body),
      () => this.#land('unkept'),
    );
    if (endStream) this.#incoming.end();
    else if (this.#range !== undefined) this.#part = RangedBody.of(headers, this.#range);
    return 'continue';
  }

  override encodeData(data: Buffer, endStream: boolean): DataStatus {
    // What still comes of a response that was replaced.
    if (this.#state === 'over') return 'taken';
    this.#incoming?.take(data);
    if (endStream) this.#incoming?.end();
    if (this.#part === undefined) return 'continue';
    this.#callbacks.injectResponseData(this.#part.cut(data), endStream);
    return 'taken';
  }

  override encodeTrailers(): TrailersStatus {
    if (this.#state === 'over') return 'taken';
    // Responses with trailers are not kept: they would be served without them.
    this.#incoming?.drop();
    if (this.#state === 'flying') this.#land('unkept');
    return 'continue';
  }

  override onDestroy(): void {
    if (this.#state === 'waiting') this.#parts.store.flights.leave(this.#key, this);
    // Where the client has left another request takes over; where the body broke off all go on.
    if (this.#state === 'flying') {
      this.#land(this.#incoming === undefined ? 'failed' : 'unkept');
    }
    this.#state = 'over';
    this.#incoming?.drop();
  }

  #keep(headers: HeaderMap, body: Buffer): void {
    const { store, nowS } = this.#parts;
    store.keep(this.#key, { headers, body, receivedS: nowS() });
    this.#land('kept');
  }

  /** The upstream said that the kept response holds: it is served with the newer headers. */
  #refresh(kept: KeptResponse, newer: HeaderMap, request: HeaderMap): void {
    const { store, nowS, count } = this.#parts;
    count('validate');
    const headers = refreshedHeaders(kept.headers, newer);
    const fresh = { ...kept, headers, receivedS: nowS() };
    store.keep(this.#key, fresh);
    this.#land('kept');
    this.#answer(fresh, request, undefined);
  }

  #land(landing: Landing): void {
    if (this.#state === 'flying') this.#state = 'passing';
    const { store, loop } = this.#parts;
    store.flights.land(this.#key, landing, loop);
  }
}
