/** The network filter rbac: asks its policies when the first bytes are here. */
import type { NetworkRbac } from '../../../shared/resources/filters/network/rbac.ts';
import {
  NETWORK_RBAC,
  NETWORK_RBAC_SHADOW,
} from '../../../shared/resources/filters/network/rbac.ts';
import { HeaderMap } from '../../stream/header-map.ts';
import { compileRbacDecider } from '../common/rbac-engine.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';

const NO_HEADERS = new HeaderMap();

export function makeRbacGate(
  filter: NetworkRbac,
  { stats, runtime }: NetworkFilterContext,
): NetworkGate {
  const { allowed, denied } = NETWORK_RBAC.index;
  const { shadow_allowed: shadowAllowed, shadow_denied: shadowDenied } = NETWORK_RBAC_SHADOW.index;
  const base = stats.defineBlock(NETWORK_RBAC, filter.statPrefix);
  const shadowBase = stats.defineBlock(NETWORK_RBAC_SHADOW, filter.shadowStatPrefix);
  const rules = filter.rules && compileRbacDecider(filter.rules, runtime);
  const shadowRules = filter.shadowRules && compileRbacDecider(filter.shadowRules, runtime);
  return {
    onFirstBytes(info) {
      if (shadowRules !== undefined) {
        const { isAllowed } = shadowRules(NO_HEADERS, info);
        stats.increment(shadowBase + (isAllowed ? shadowAllowed : shadowDenied));
      }
      if (rules === undefined) return true;
      const { isAllowed, policy } = rules(NO_HEADERS, info);
      stats.increment(base + (isAllowed ? allowed : denied));
      if (isAllowed) return true;
      const name = (policy ?? 'none').replaceAll(' ', '_');
      info.connection.terminationDetails = `rbac_access_denied_matched_policy[${name}]`;
      return filter.denyDelayMs > 0 ? filter.denyDelayMs : false;
    },
    release() {
      stats.releaseBlock(base);
      stats.releaseBlock(shadowBase);
    },
  };
}
