/** Resolves envoy.extensions.filters.http.rbac.v3.RBAC, for a chain and per route. */
import type {
  RBAC,
  RBACPerRoute,
} from '../../../shared/api/generated/envoy/extensions/filters/http/rbac/v3/rbac.ts';
import type {
  HttpFilter,
  RbacOptions,
  RbacPerRoute,
} from '../../../shared/resources/http-filters.ts';
import { extension } from '../extensions.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
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
]);

function resolveRbac(message: RBAC, scope: Scope): RbacOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { rules, shadow_rules: shadow } = message;
  return {
    rulesStatPrefix: message.rules_stat_prefix ?? '',
    shadowRulesStatPrefix: message.shadow_rules_stat_prefix ?? '',
    ...optional('rules', rules && resolveRbacRules(rules, scope.at('rules'))),
    ...optional('shadowRules', shadow && resolveRbacRules(shadow, scope.at('shadow_rules'))),
  };
}
