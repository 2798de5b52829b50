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
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { RBAC_REQUESTS, resolveRbacDecider } from '../../common/rbac-matcher.ts';
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
    ...optional('rules', resolveRbacDecider(message, '', RBAC_REQUESTS, scope)),
    ...optional('shadowRules', resolveRbacDecider(message, 'shadow_', RBAC_REQUESTS, scope)),
  };
}
