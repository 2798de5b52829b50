/** Resolves the network filter rbac. */
import type { RBAC } from '../../../../shared/api/generated/envoy/extensions/filters/network/rbac/v3/rbac.ts';
import type { OfKind } from '../../../../shared/resources/by-kind.ts';
import type { NetworkFilter } from '../../../../shared/resources/listener.ts';
import { dottedPrefix } from '../../../../shared/stats/stat-scope.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { durationMs, optional } from '../../values.ts';
import { RBAC_CONNECTIONS, resolveRbacDecider } from '../common/rbac-matcher.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<RBAC>([
  'rules',
  'shadow_rules',
  'matcher',
  'shadow_matcher',
  'delay_deny',
  'shadow_rules_stat_prefix',
  'stat_prefix',
]);

export const RBAC_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.rbac',
  'envoy.extensions.filters.network.rbac.v3.RBAC',
  false,
  resolveRbac,
);

function resolveRbac(message: RBAC, scope: Scope): OfKind<NetworkFilter, 'network_rbac'> {
  refuseOtherFields(message, FIELDS, scope);
  const prefix = `${dottedPrefix(message.stat_prefix ?? '')}rbac.`;
  return {
    kind: 'network_rbac',
    statPrefix: prefix,
    shadowStatPrefix: prefix + dottedPrefix(message.shadow_rules_stat_prefix ?? ''),
    denyDelayMs: durationMs(message.delay_deny ?? '0s'),
    ...optional('rules', resolveRbacDecider(message, '', RBAC_CONNECTIONS, scope)),
    ...optional('shadowRules', resolveRbacDecider(message, 'shadow_', RBAC_CONNECTIONS, scope)),
  };
}
