/** Resolves envoy.extensions.filters.http.cors.v3: the filter, and its policy per route. */
import type {
  Cors,
  CorsPolicy as CorsPolicyMessage,
} from '../../../../shared/api/generated/envoy/extensions/filters/http/cors/v3/cors.ts';
import type {
  CorsPolicy,
  CorsFilterSettings,
} from '../../../../shared/resources/filters/http/cors.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import { resolveRuntimeFraction } from '../../matchers/fraction.ts';
import { resolveStringMatcher } from '../../matchers/string-matcher.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { httpFilter, perRoute } from '../http-filter-row.ts';

const CORS_POLICY_TYPE = 'envoy.extensions.filters.http.cors.v3.CorsPolicy';

export const CORS_FILTER = httpFilter(
  'envoy.filters.http.cors',
  'envoy.extensions.filters.http.cors.v3.Cors',
  (_message: Cors, _scope, name): CorsFilterSettings => ({ kind: 'cors', name, options: {} }),
  perRoute(CORS_POLICY_TYPE, resolveCorsPolicy),
);

const FIELDS = knownFields<CorsPolicyMessage>([
  'allow_origin_string_match',
  'allow_methods',
  'allow_headers',
  'expose_headers',
  'max_age',
  'allow_credentials',
  'filter_enabled',
  'shadow_enabled',
  'allow_private_network_access',
  'forward_not_matching_preflights',
]);

export function resolveCorsPolicy(message: CorsPolicyMessage, scope: Scope): CorsPolicy {
  refuseOtherFields(message, FIELDS, scope);
  const origins = (message.allow_origin_string_match ?? []).map((origin, index) =>
    resolveStringMatcher(origin, scope.at('allow_origin_string_match', index)),
  );
  const { filter_enabled: enabled, shadow_enabled: shadow } = message;
  return {
    allowOrigins: origins.filter((matcher) => matcher !== undefined),
    allowMethods: message.allow_methods ?? '',
    allowHeaders: message.allow_headers ?? '',
    exposeHeaders: message.expose_headers ?? '',
    maxAge: message.max_age ?? '',
    ...optional('forwardNotMatchingPreflights', message.forward_not_matching_preflights),
    ...optional('allowCredentials', message.allow_credentials),
    ...optional('allowPrivateNetworkAccess', message.allow_private_network_access),
    ...optional('filterEnabled', enabled && resolveRuntimeFraction(enabled)),
    ...optional('shadowEnabled', shadow && resolveRuntimeFraction(shadow)),
  };
}
