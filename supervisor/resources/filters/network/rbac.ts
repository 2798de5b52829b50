/** Resolves the network filter rbac. */
import type { RBAC } from '../../../../shared/api/generated/envoy/extensions/filters/network/rbac/v3/rbac.ts';
import type { NetworkFilter } from '../../../../shared/resources/listener.ts';
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { optional } from '../../values.ts';
import { resolveRbacRules } from '../common/rbac-rules.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<RBAC>([
  'rules',
  'shadow_rules',
  'shadow_rules_stat_prefix',
  'stat_prefix',
]);

export const RBAC_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.rbac',
  'envoy.extensions.filters.network.rbac.v3.RBAC',
  false,
  resolveRbac,
);

function resolveRbac(message: RBAC, scope: Scope): NetworkFilter {
  refuseOtherFields(message, FIELDS, scope);
  const { rules, shadow_rules: shadow } = message;
  const prefix = `${dottedPrefix(message.stat_prefix ?? '')}rbac.`;
  return {
    kind: 'network_rbac',
    statPrefix: prefix,
    shadowStatPrefix: prefix + dottedPrefix(message.shadow_rules_stat_prefix ?? ''),
    ...optional('rules', rules && resolveRbacRules(rules, scope.at('rules'))),
    ...optional('shadowRules', shadow && resolveRbacRules(shadow, scope.at('shadow_rules'))),
  };
}
