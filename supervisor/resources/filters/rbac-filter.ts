/** Resolves envoy.extensions.filters.http.rbac.v3.RBAC, for a chain and per route. */
import type {
  RBAC,
  RBACPerRoute,
} from '../../../shared/api/generated/envoy/extensions/filters/http/rbac/v3/rbac.ts';
import type {
  HttpFilter,
  RbacDecider,
  RbacOptions,
  RbacPerRoute,
} from '../../../shared/resources/http-filters.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveRbacMatcher } from './rbac-matcher.ts';
import { resolveRbacRules } from './rbac-rules.ts';

export const RBAC_FILTER = {
  ...extension(
    'envoy.filters.http.rbac',
    'envoy.extensions.filters.http.rbac.v3.RBAC',
    (message: RBAC, scope, name): HttpFilter => ({
      kind: 'rbac',
      name,
      options: resolveRbac(message, scope),
    }),
  ),
  isTerminal: false,
};

export const RBAC_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.rbac.v3.RBACPerRoute';

export function resolveRbacPerRoute(message: RBACPerRoute, scope: Scope): RbacPerRoute {
  if (message.rbac === undefined) return {};
  return { rbac: resolveRbac(message.rbac, scope.at('rbac')) };
}

const FIELDS = knownFields<RBAC>([
  'rules',
  'shadow_rules',
  'rules_stat_prefix',
  'shadow_rules_stat_prefix',
  'matcher',
  'shadow_matcher',
  'track_per_rule_stats',
]);

function resolveRbac(message: RBAC, scope: Scope): RbacOptions {
  refuseOtherFields(message, FIELDS, scope);
  return {
    rulesStatPrefix: message.rules_stat_prefix ?? '',
    shadowRulesStatPrefix: message.shadow_rules_stat_prefix ?? '',
    countsPolicies: message.track_per_rule_stats ?? false,
    ...optional('rules', resolveDecider(message, '', scope)),
    ...optional('shadowRules', resolveDecider(message, 'shadow_', scope)),
  };
}

/** A tree wins over rules. */
function resolveDecider(
  message: RBAC,
  prefix: '' | 'shadow_',
  scope: Scope,
): RbacDecider | undefined {
  const rules = message[`${prefix}rules`];
  const matcher = message[`${prefix}matcher`];
  if (matcher !== undefined) return resolveRbacMatcher(matcher, scope.at(`${prefix}matcher`));
  if (rules === undefined) return undefined;
  return { kind: 'rules', rules: resolveRbacRules(rules, scope.at(`${prefix}rules`)) };
}
