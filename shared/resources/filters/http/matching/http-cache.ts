/** Settings and stats of envoy.filters.http.cache and envoy.filters.http.cache_v2. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { StringMatcher } from '../../../routes/matchers.ts';

/** Where responses are kept. */
export type CacheStore =
  | { readonly kind: 'memory' }
  | {
      readonly kind: 'disk';
      /** Ends in a slash. */
      readonly path: string;
      readonly makesFolder: boolean;
      /** Infinity: no limit. */
      readonly bytesMax: number;
      readonly filesMax: number;
      readonly entryBytesMax?: number;
      /** How much of the limits is freed when they are reached. */
      readonly evictFraction: number;
    };

export interface HttpCacheOptions {
  /** Absent: nothing is kept, and nothing served. */
  readonly store?: CacheStore;
  /** Names of request headers that a response may vary by. */
  readonly allowedVary: readonly StringMatcher[];
  readonly excludesScheme: boolean;
  readonly excludesHost: boolean;
  /** Absent: as large as the cache takes. */
  readonly maxBodyBytes?: number;
  readonly ignoresRequestControl: boolean;
}

interface HttpCacheV2Options extends HttpCacheOptions {
  /** What is fetched for the cache goes there; absent: to the route's cluster. */
  readonly cluster?: string;
}

/** Prefix: `cache.event.cache_path.<folder>.event_type.` */
export const CACHE_LOOKUPS = defineTemplate('cache_lookups', {
  hit: counter('Lookups that found a response'),
  miss: counter('Lookups that found nothing'),
});

/** Prefix: `cache.event.cache_label.<name of the store>.event_type.` */
export const CACHE_EVENTS = defineTemplate('cache_events', {
  hit: counter('Requests answered from the cache without asking the upstream'),
  miss: counter('Requests for what the cache did not have'),
  uncacheable: counter('Requests and responses that the cache has nothing to do with'),
  validate: counter('Responses that the upstream said still hold'),
});

export type HttpCacheFilterSettings = FilterResource<'cache', HttpCacheOptions>;
export type HttpCacheV2FilterSettings = FilterResource<'cache_v2', HttpCacheV2Options>;

export const HTTP_CACHE_DECLARATION = declareKind<HttpCacheFilterSettings>(CACHE_LOOKUPS);
export const HTTP_CACHE_V2_DECLARATION = declareKind<HttpCacheV2FilterSettings>(CACHE_EVENTS);
