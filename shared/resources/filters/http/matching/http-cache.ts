/** Settings of envoy.filters.http.cache. */
import { declareKind, type FilterResource } from '../../declare-filter.ts';
import type { StringMatcher } from '../../../routes/matchers.ts';

/** Where responses are kept. */
export interface CacheStore {
  readonly kind: 'memory';
}

interface HttpCacheOptions {
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

export type HttpCacheFilterSettings = FilterResource<'cache', HttpCacheOptions>;

export const HTTP_CACHE_DECLARATION = declareKind<HttpCacheFilterSettings>();
