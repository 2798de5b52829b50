/** Settings and stats of envoy.filters.http.rbac. */
import type { RbacDecider } from '../common/rbac.ts';
import type { FilterResource } from '../declare-filter.ts';
import { declareKind } from '../declare-filter.ts';
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';

export interface RbacOptions {
  readonly rules?: RbacDecider;
  readonly shadowRules?: RbacDecider;
  /** Counts by policy too. */
  readonly countsPolicies: boolean;
  readonly rulesStatPrefix: string;
  readonly shadowRulesStatPrefix: string;
}

/** Per route: other rules, or none at all. */
export interface RbacPerRoute {
  readonly rbac?: RbacOptions;
}

/**
 * Prefix: `http.<stat_prefix>.rbac.<rules_stat_prefix>`; allowed and denied per policy are dynamic.
 */
export const RBAC = defineTemplate('rbac', {
  allowed: counter('Requests allowed'),
  denied: counter('Requests denied'),
});

/** Prefix: `http.<stat_prefix>.rbac.<shadow_rules_stat_prefix>` */
export const RBAC_SHADOW = defineTemplate('rbac_shadow', {
  shadow_allowed: counter('Requests that the shadow rules would allow'),
  shadow_denied: counter('Requests that the shadow rules would deny'),
});

export type RbacFilterSettings = FilterResource<'rbac', RbacOptions>;

export const RBAC_DECLARATION = declareKind<RbacFilterSettings>(RBAC, RBAC_SHADOW);
