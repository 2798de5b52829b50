/** Resolves envoy.extensions.filters.http.rbac.v3.RBAC, for a chain and per route. */
import type {
  RBAC,
  RBACPerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/rbac/v3/rbac.ts';
import type {
  RbacFilterSettings,
  RbacOptions,
  RbacPerRoute,
} from '../../../../../shared/resources/filters/http/rbac.ts';
import type { RbacDecider } from '../../../../../shared/resources/filters/common/rbac.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { resolveRbacMatcher } from './rbac-matcher.ts';
import { resolveRbacRules } from '../../common/rbac-rules.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

const RBAC_PER_ROUTE_TYPE = 'envoy.extensions.filters.http.rbac.v3.RBACPerRoute';

export const RBAC_FILTER = httpFilter(
  'envoy.filters.http.rbac',
  'envoy.extensions.filters.http.rbac.v3.RBAC',
  (message: RBAC, scope, name): RbacFilterSettings => ({
    kind: 'rbac',
    name,
    options: resolveRbac(message, scope),
  }),
  perRoute(RBAC_PER_ROUTE_TYPE, resolveRbacPerRoute),
);

function resolveRbacPerRoute(message: RBACPerRoute, scope: Scope): RbacPerRoute {
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
