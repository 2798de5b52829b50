/** Resolves envoy.extensions.filters.http.jwt_authn.v3. */
import { meantName } from '../../../meant-name.ts';
import type { Dictionary } from '../../../../../shared/text/dictionary.ts';
import type {
  FilterStateRule,
  JwtAuthentication,
  JwtProvider as ProviderMessage,
  PerRouteConfig,
  RequirementRule,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/jwt_authn/v3/config.ts';
import type {
  JwtAuthnFilterSettings,
  JwtAuthnOptions,
  JwtAuthnPerRoute,
  JwtProvider,
} from '../../../../../shared/resources/filters/http/jwt-authn.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveRouteMatch } from '../../../routes/route-match.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';
import { resolveProvider } from './provider.ts';
import { wrongName, RequirementResolver } from './requirement.ts';

const PACKAGE = 'envoy.extensions.filters.http.jwt_authn.v3';
const FIELDS = knownFields<JwtAuthentication>([
  'providers',
  'rules',
  'filter_state_rules',
  'bypass_cors_preflight',
  'requirement_map',
  'strip_failure_response',
  'stat_prefix',
]);
const RULE_FIELDS = knownFields<RequirementRule>(['match', 'requires', 'requirement_name']);
const STATE_FIELDS = knownFields<FilterStateRule>(['name', 'requires']);
const ROUTE_FIELDS = knownFields<PerRouteConfig>(['disabled', 'requirement_name']);

export const JWT_AUTHN_FILTER = httpFilter(
  'envoy.filters.http.jwt_authn',
  `${PACKAGE}.JwtAuthentication`,
  (message: JwtAuthentication, scope, name): JwtAuthnFilterSettings => ({
    kind: 'jwt_authn',
    name,
    options: resolveOptions(message, scope),
  }),
  perRoute(`${PACKAGE}.PerRouteConfig`, (message: PerRouteConfig, scope): JwtAuthnPerRoute => {
    refuseOtherFields(message, ROUTE_FIELDS, scope);
    return { requirement: message.requirement_name };
  }),
);

function resolveOptions(message: JwtAuthentication, scope: Scope): JwtAuthnOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { stat_prefix: prefix = '', requirement_map: named = {} } = message;
  const resolver = new RequirementResolver(new Set(Object.keys(message.providers ?? {})));
  const requirements = resolver.map(named, scope.at('requirement_map'));
  const state = message.filter_state_rules;
  return {
    statPrefix: prefix === '' || prefix.endsWith('.') ? prefix : `${prefix}.`,
    providers: resolveProviders(message.providers ?? {}, scope.at('providers')),
    rules: (message.rules ?? []).flatMap((rule, index) => {
      const place = scope.at('rules', index);
      refuseOtherFields(rule, RULE_FIELDS, place);
      const match = rule.match && resolveRouteMatch(rule.match, place.at('match'));
      const byName = rule.requirement_name;
      const requires =
        byName === undefined
          ? resolver.resolve(rule.requires ?? {}, place.at('requires'))
          : requirements.get(byName);
      if (requires === undefined && byName !== undefined) {
        const names = Object.keys(named);
        place.error('reference', wrongName(byName, names), meantName(byName, names));
      }
      return match === undefined || requires === undefined ? [] : [{ match, requires }];
    }),
    ...optional('filterState', state && resolveState(state, resolver, scope)),
    requirements,
    bypassesPreflight: message.bypass_cors_preflight ?? false,
    stripsFailure: message.strip_failure_response ?? false,
  };
}

function resolveProviders(
  messages: Dictionary<ProviderMessage>,
  scope: Scope,
): readonly JwtProvider[] {
  return Object.keys(messages)
    .sort()
    .map((name) => resolveProvider(name, messages[name] ?? {}, scope.at(name)))
    .filter((provider) => provider !== undefined);
}

function resolveState(
  message: FilterStateRule,
  resolver: RequirementResolver,
  scope: Scope,
): NonNullable<JwtAuthnOptions['filterState']> {
  const place = scope.at('filter_state_rules');
  refuseOtherFields(message, STATE_FIELDS, place);
  const requires = resolver.map(message.requires ?? {}, place.at('requires'));
  return { name: message.name ?? '', requires };
}
