/** Resolves envoy.filters.http.cache and envoy.filters.http.cache_v2. */
import type {
  CacheConfig,
  CacheConfig_KeyCreatorParams as KeyParams,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/cache/v3/cache.ts';
import type { CacheV2Config } from '../../../../../shared/api/generated/envoy/extensions/filters/http/cache_v2/v3/cache.ts';
import type {
  HttpCacheFilterSettings,
  HttpCacheOptions,
  HttpCacheV2FilterSettings,
} from '../../../../../shared/resources/filters/http/matching/http-cache.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveStringMatcher } from '../../../matchers/string-matcher.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter } from '../../http-filter-row.ts';
import { CACHE_STORES, CACHE_V2_STORES } from './cache-stores.ts';

const FIELDS = knownFields<CacheConfig>([
  'typed_config',
  'disabled',
  'allowed_vary_headers',
  'key_creator_params',
  'max_body_bytes',
  'ignore_request_cache_control_header',
]);
const V2_FIELDS = knownFields<CacheV2Config>([
  'typed_config',
  'disabled',
  'allowed_vary_headers',
  'key_creator_params',
  'max_body_bytes',
  'ignore_request_cache_control_header',
  'override_upstream_cluster',
]);
/** Whole paths are kept apart, as in Envoy, whatever is said of their parameters. */
const KEY_FIELDS = knownFields<KeyParams>(
  ['exclude_scheme', 'exclude_host'],
  ['query_parameters_included', 'query_parameters_excluded'],
);

export const HTTP_CACHE_FILTER = httpFilter(
  'envoy.filters.http.cache',
  'envoy.extensions.filters.http.cache.v3.CacheConfig',
  (message: CacheConfig, scope, name): HttpCacheFilterSettings | undefined => {
    refuseOtherFields(message, FIELDS, scope);
    const options = resolveOptions(message, CACHE_STORES, scope);
    return options && { kind: 'cache', name, options };
  },
);

export const HTTP_CACHE_V2_FILTER = httpFilter(
  'envoy.filters.http.cache_v2',
  'envoy.extensions.filters.http.cache_v2.v3.CacheV2Config',
  (message: CacheV2Config, scope, name): HttpCacheV2FilterSettings | undefined => {
    refuseOtherFields(message, V2_FIELDS, scope);
    const options = resolveOptions(message, CACHE_V2_STORES, scope);
    const cluster = message.override_upstream_cluster || undefined;
    return (
      options && {
        kind: 'cache_v2',
        name,
        options: { ...options, ...optional('cluster', cluster) },
      }
    );
  },
);

function resolveOptions(
  message: Omit<CacheV2Config, 'override_upstream_cluster'>,
  stores: typeof CACHE_STORES,
  scope: Scope,
): HttpCacheOptions | undefined {
  const { disabled = false, typed_config: config, key_creator_params: key = {} } = message;
  refuseOtherFields(key, KEY_FIELDS, scope.at('key_creator_params'));
  if (config === undefined && !disabled) {
    scope.error('conflict', 'at least one of typed_config or disabled must be set');
    return undefined;
  }
  const store = config && stores.resolve({ name: 'cache', typed_config: config }, scope);
  const allowedVary = (message.allowed_vary_headers ?? []).map((matcher, index) =>
    resolveStringMatcher(matcher, scope.at('allowed_vary_headers', index)),
  );
  const limit = message.max_body_bytes;
  return {
    ...optional('store', disabled ? undefined : store),
    allowedVary: allowedVary.filter((matcher) => matcher !== undefined),
    excludesScheme: key.exclude_scheme ?? false,
    excludesHost: key.exclude_host ?? false,
    ...optional('maxBodyBytes', limit === 0 ? undefined : limit),
    ignoresRequestControl: message.ignore_request_cache_control_header ?? false,
  };
}
