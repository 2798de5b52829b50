/** Lets requests pass by role-based rules; shadow rules only count. Source: envoy.filters.http.rbac. */
import type { RbacOptions, RbacPerRoute } from '../../shared/resources/http-filters.ts';
import { RBAC, RBAC_SHADOW } from '../../shared/stats/templates/http-filters.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../http/filter.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { CompiledSettings, type FilterContext } from './filter-context.ts';
import { PassThroughFilter } from './pass-through-filter.ts';
import { compileRbacRules, type RbacEngine } from './rbac-engine.ts';

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
  name: string,
  own: RbacOptions,
  context: FilterContext,
): FilterFactory {
  const prefix = `${context.statPrefix}rbac.`;
  const base = context.stats.defineBlock(RBAC, prefix + own.rulesStatPrefix);
  const shadowBase = context.stats.defineBlock(RBAC_SHADOW, prefix + own.shadowRulesStatPrefix);
  context.onBlock(base);
  context.onBlock(shadowBase);
  const compiled = new CompiledSettings(({ rules, shadowRules }: RbacOptions) => ({
    rules: rules && compileRbacRules(rules),
    shadowRules: shadowRules && compileRbacRules(shadowRules),
  }));
  const parts: RbacParts = { name, context, own, base, shadowBase, compiled };
  return { name, create: (callbacks) => new RbacFilter(parts, callbacks) };
}

class RbacFilter extends PassThroughFilter {
  private readonly parts: RbacParts;
  private readonly callbacks: FilterCallbacks;

  constructor(parts: RbacParts, callbacks: FilterCallbacks) {
    super();
    this.parts = parts;
    this.callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { name, own, compiled, context, base, shadowBase } = this.parts;
    const ofRoute = this.callbacks.routeConfig(name) as RbacPerRoute | undefined;
    const settings = ofRoute === undefined ? own : ofRoute.rbac;
    if (settings === undefined) return 'continue';
    const { rules, shadowRules } = compiled.of(settings);
    const { stats } = context;
    const { info } = this.callbacks;
    if (shadowRules !== undefined) {
      const { shadow_allowed: allowed, shadow_denied: denied } = RBAC_SHADOW.index;
      const { isAllowed } = shadowRules(headers, info);
      stats.increment(shadowBase + (isAllowed ? allowed : denied));
    }
    if (rules === undefined) return 'continue';
    const { isAllowed, policy } = rules(headers, info);
    stats.increment(base + (isAllowed ? RBAC.index.allowed : RBAC.index.denied));
    if (isAllowed) return 'continue';
    this.callbacks.sendLocalReply({
      status: 403,
      body: 'RBAC: access denied',
      details: `rbac_access_denied_matched_policy[${policy ?? 'none'}]`.replaceAll(' ', '_'),
    });
    return 'stop';
  }
}
