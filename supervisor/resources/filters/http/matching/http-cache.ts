/** Resolves envoy.filters.http.cache with its store in memory. */
import type {
  CacheConfig,
  CacheConfig_KeyCreatorParams as KeyParams,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/cache/v3/cache.ts';
import type {
  CacheStore,
  HttpCacheFilterSettings,
} from '../../../../../shared/resources/filters/http/matching/http-cache.ts';
import { extension, ExtensionRegistry } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import { optional } from '../../../values.ts';
import { httpFilter } from '../../http-filter-row.ts';

const FIELDS = knownFields<CacheConfig>([
  'typed_config',
  'disabled',
  'allowed_vary_headers',
  'key_creator_params',
  'max_body_bytes',
  'ignore_request_cache_control_header',
]);
const KEY_FIELDS = knownFields<KeyParams>(['exclude_scheme', 'exclude_host']);

export const CACHE_STORES = new ExtensionRegistry<CacheStore>('envoy.http.cache', 'HTTP cache', {
  memory: extension(
    'envoy.extensions.http.cache.simple',
    'envoy.extensions.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig',
    () => ({ kind: 'memory' }),
  ),
});

export const HTTP_CACHE_FILTER = httpFilter(
  'envoy.filters.http.cache',
  'envoy.extensions.filters.http.cache.v3.CacheConfig',
  (message: CacheConfig, scope, name): HttpCacheFilterSettings | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const { disabled = false, typed_config: config, key_creator_params: key = {} } = message;
    refuseOtherFields(key, KEY_FIELDS, scope.at('key_creator_params'));
    if (config === undefined && !disabled) {
      scope.error('conflict', 'at least one of typed_config or disabled must be set');
      return undefined;
    }
    const store = config && CACHE_STORES.resolve({ name: 'cache', typed_config: config }, scope);
    const allowedVary = (message.allowed_vary_headers ?? []).map((matcher, index) =>
      resolveStringMatcher(matcher, scope.at('allowed_vary_headers', index)),
    );
    const limit = message.max_body_bytes;
    return {
      kind: 'cache',
      name,
      options: {
        ...optional('store', disabled ? undefined : store),
        allowedVary: allowedVary.filter((matcher) => matcher !== undefined),
        excludesScheme: key.exclude_scheme ?? false,
        excludesHost: key.exclude_host ?? false,
        ...optional('maxBodyBytes', limit === 0 ? undefined : limit),
        ignoresRequestControl: message.ignore_request_cache_control_header ?? false,
      },
    };
  },
);
