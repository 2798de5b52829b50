/**
 * Lets requests pass by role-based rules; shadow rules only count. Source: envoy.filters.http.rbac.
 */
import type {
  RbacOptions,
  RbacPerRoute,
  RbacFilterSettings,
} from '../../../shared/resources/filters/http/rbac.ts';
import { RBAC, RBAC_SHADOW } from '../../../shared/resources/filters/http/rbac.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { addMetadata } from '../common/add-metadata.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';
import { compileRbacDecider, type RbacEngine } from '../common/rbac-engine.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';

const NAMESPACE = 'envoy.filters.http.rbac';
const COMMON = 'envoy.common';

interface CompiledRbac {
  readonly rules: RbacEngine | undefined;
  readonly shadowRules: RbacEngine | undefined;
}

interface RbacParts {
  readonly name: string;
  readonly context: FilterContext;
  readonly own: RbacOptions;
  readonly base: number;
  readonly shadowBase: number;
  readonly compiled: CompiledSettings<RbacOptions, CompiledRbac>;
}

export function makeRbacFilter(
  { name, options: own }: RbacFilterSettings,
  context: FilterContext,
): FilterFactory {
  const { rulesStatPrefix, shadowRulesStatPrefix } = own;
  const base = context.stats.defineBlock(RBAC, statPrefixOf(context, rulesStatPrefix));
  const shadowBase = context.stats.defineBlock(
    RBAC_SHADOW,
    statPrefixOf(context, shadowRulesStatPrefix),
  );
  context.onBlock(base);
  context.onBlock(shadowBase);
  const compiled = new CompiledSettings(({ rules, shadowRules }: RbacOptions) => ({
    rules: rules && compileRbacDecider(rules, context.runtime),
    shadowRules: shadowRules && compileRbacDecider(shadowRules, context.runtime),
  }));
  const parts: RbacParts = { name, context, own, base, shadowBase, compiled };
  return { name, create: (callbacks) => new RbacFilter(parts, callbacks) };
}

/** Where rules with this prefix of their own count. */
function statPrefixOf({ statPrefix }: FilterContext, own: string): string {
  return `${statPrefix}rbac.${dottedPrefix(own)}`;
}

class RbacFilter extends PassThroughFilter {
  readonly #parts: RbacParts;
  readonly #callbacks: FilterCallbacks;

  constructor(parts: RbacParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, compiled, context, base, shadowBase } = this.#parts;
    const ofRoute = this.#callbacks.routeConfig(name) as RbacPerRoute | undefined;
    const settings = ofRoute === undefined ? own : ofRoute.rbac;
    if (settings === undefined) return 'continue';
    const { rules, shadowRules } = compiled.of(settings);
    const { stats } = context;
    const { info } = this.#callbacks;
    if (shadowRules !== undefined) {
      const { shadow_allowed: allowed, shadow_denied: denied } = RBAC_SHADOW.index;
      const { isAllowed, policy } = shadowRules(headers, info);
      stats.increment(shadowBase + (isAllowed ? allowed : denied));
      this.#tell(`${settings.shadowRulesStatPrefix}shadow_`, isAllowed, policy);
      if (settings.countsPolicies) this.#countPolicy(policy, 'shadow_', isAllowed);
    }
    if (rules === undefined) return 'continue';
    const { isAllowed, policy, isLogged } = rules(headers, info);
    stats.increment(base + (isAllowed ? RBAC.index.allowed : RBAC.index.denied));
    if (isLogged !== undefined) addMetadata(info, COMMON, { access_log_hint: isLogged });
    this.#tell(`${settings.rulesStatPrefix}enforced_`, isAllowed, policy);
    if (settings.countsPolicies) this.#countPolicy(policy, '', isAllowed);
    if (isAllowed) return 'continue';
    this.#callbacks.sendLocalReply({
      status: 403,
      body: 'RBAC: access denied',
      details: `rbac_access_denied_matched_policy[${policy ?? 'none'}]`.replaceAll(' ', '_'),
    });
    return 'stop';
  }

  /** Leaves what was decided where access logs and other filters read it. */
  #tell(prefix: string, isAllowed: boolean, policy: string | undefined): void {
    addMetadata(this.#callbacks.info, NAMESPACE, {
      ...(policy === undefined ? {} : { [`${prefix}effective_policy_id`]: policy }),
      [`${prefix}engine_result`]: isAllowed ? 'allowed' : 'denied',
    });
  }

  #countPolicy(policy: string | undefined, prefix: '' | 'shadow_', isAllowed: boolean): void {
    if (policy === undefined) return;
    const { own, context } = this.#parts;
    const ofRules = prefix === '' ? own.rulesStatPrefix : own.shadowRulesStatPrefix;
    const verdict = isAllowed ? 'allowed' : 'denied';
    const name = `${statPrefixOf(context, ofRules)}policy.${policy}.${prefix}${verdict}`;
    context.stats.increment(context.stats.defineCounter(name));
  }
}
