/** Resolves which redirects of an upstream are followed here. */
import type {
  InternalRedirectPolicy,
  RouteAction,
} from '../../../shared/api/generated/envoy/config/route/v3/route_components.ts';
import type { AllowListedRoutesConfig } from '../../../shared/api/generated/envoy/extensions/internal_redirect/allow_listed_routes/v3/allow_listed_routes_config.ts';
import type {
  InternalRedirect,
  InternalRedirectPredicate,
} from '../../../shared/resources/routes/route.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { asciiLower } from '../matchers/string-matcher.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<InternalRedirectPolicy>([
  'max_internal_redirects',
  'redirect_response_codes',
  'predicates',
  'allow_cross_scheme_redirect',
  'response_headers_to_copy',
]);
const CODES: readonly number[] = [301, 302, 303, 307, 308];
const DEFAULT_CODE = 302;

export const REDIRECT_PREDICATES = new ExtensionRegistry<InternalRedirectPredicate>(
  'envoy.internal_redirect_predicates',
  'internal redirect predicate',
  {
    allow_listed_routes: extension(
      'envoy.internal_redirect_predicates.allow_listed_routes',
      'envoy.extensions.internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig',
      (message: AllowListedRoutesConfig) => ({
        kind: 'allow_listed_routes',
        routeNames: message.allowed_route_names ?? [],
      }),
    ),
    previous_routes: extension(
      'envoy.internal_redirect_predicates.previous_routes',
      'envoy.extensions.internal_redirect.previous_routes.v3.PreviousRoutesConfig',
      () => ({ kind: 'previous_routes' }),
    ),
    safe_cross_scheme: extension(
      'envoy.internal_redirect_predicates.safe_cross_scheme',
      'envoy.extensions.internal_redirect.safe_cross_scheme.v3.SafeCrossSchemeConfig',
      () => ({ kind: 'safe_cross_scheme' }),
    ),
  },
);

/** Undefined: redirects of upstreams go to the client. The policy wins over the older fields. */
export function resolveInternalRedirect(
  { internal_redirect_policy: policy, internal_redirect_action: action, ...rest }: RouteAction,
  scope: Scope,
): InternalRedirect | undefined {
  if (policy !== undefined) return resolvePolicy(policy, scope.at('internal_redirect_policy'));
  if (action !== 'HANDLE_INTERNAL_REDIRECT') return undefined;
  return resolvePolicy(
    { ...optional('max_internal_redirects', rest.max_internal_redirects) },
    scope,
  );
}

function resolvePolicy(message: InternalRedirectPolicy, scope: Scope): InternalRedirect {
  refuseOtherFields(message, FIELDS, scope);
  const codes = (message.redirect_response_codes ?? []).filter((code) => CODES.includes(code));
  const predicates = (message.predicates ?? []).map((predicate, index) =>
    REDIRECT_PREDICATES.resolve(predicate, scope.at('predicates', index)),
  );
  return {
    maxRedirects: message.max_internal_redirects ?? 1,
    codes: codes.length === 0 ? [DEFAULT_CODE] : codes,
    allowCrossScheme: message.allow_cross_scheme_redirect ?? false,
    responseHeadersToCopy: (message.response_headers_to_copy ?? []).map(asciiLower),
    predicates: predicates.filter((predicate) => predicate !== undefined),
  };
}
