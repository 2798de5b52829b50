/** Settings of the network filter rbac: which connections may pass. */
import type { RbacRules } from '../common/rbac.ts';

export interface NetworkRbac {
  readonly kind: 'network_rbac';
  /** Whole prefixes of statistic names, with the trailing dot. */
  readonly statPrefix: string;
  readonly shadowStatPrefix: string;
  readonly rules?: RbacRules;
  readonly shadowRules?: RbacRules;
}
