/** Settings of the network filter rbac: which connections may pass. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import type { RbacDecider } from '../common/rbac.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: the network filter's `stat_prefix`, then `rbac.` */
export const NETWORK_RBAC = defineTemplate('network_rbac', {
  allowed: counter('Connections allowed'),
  denied: counter('Connections denied'),
});

/** Prefix: as above, then the `shadow_rules_stat_prefix`. */
export const NETWORK_RBAC_SHADOW = defineTemplate('network_rbac_shadow', {
  shadow_allowed: counter('Connections that the shadow rules would allow'),
  shadow_denied: counter('Connections that the shadow rules would deny'),
});

export interface NetworkRbac {
  readonly kind: 'network_rbac';
  /** Whole prefixes of statistic names, with the trailing dot. */
  readonly statPrefix: string;
  readonly shadowStatPrefix: string;
  /** How long a connection that is denied stays open, unread. */
  readonly denyDelayMs: number;
  readonly rules?: RbacDecider;
  readonly shadowRules?: RbacDecider;
}

export const NETWORK_RBAC_DECLARATION = declareKind<NetworkRbac>(NETWORK_RBAC, NETWORK_RBAC_SHADOW);
