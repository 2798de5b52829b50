/** Which descriptors a request has that a rate limit service is asked about. */
import type {
  RateLimitHits,
  RateLimitOverride,
  RateLimitPolicy,
} from '../../../../shared/resources/routes/rate-limits.ts';
import { RATE_LIMIT_UNITS } from '../../../../shared/resources/routes/rate-limits.ts';
import type {
  RateLimitOptions,
  RateLimitPerRoute,
} from '../../../../shared/resources/filters/http/limits/rate-limit.ts';
import { memberOf } from '../../../../shared/text/dictionary.ts';
import { metadataValue } from '../../../matching/metadata-value.ts';
import type { FilterCallbacks } from '../../../stream/filter.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { ResolvedRoute } from '../../../stream/route.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { compileTextFormat } from '../../../substitution/compile-format.ts';
import { compileDescriptor, type DescriptorMaker } from '../../common/rate-limit-descriptors.ts';
import type { AskedDescriptor } from '../../common/rate-limit-service.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { isEnabled } from '../../../loop/runtime.ts';

const PERCENT = 100;
const HITS_MAX = 1_000_000_000;

interface CompiledPolicy {
  readonly policy: RateLimitPolicy;
  readonly make: DescriptorMaker;
  readonly hits: ((info: StreamInfo) => AskedDescriptor['hits']) | undefined;
}

export class LimitDescriptors {
  readonly #options: RateLimitOptions;
  readonly #context: FilterContext;
  /** Made once per list of policies, which routes and virtual hosts bring. */
  readonly #compiled: CompiledSettings<readonly RateLimitPolicy[], readonly CompiledPolicy[]>;

  constructor(options: RateLimitOptions, context: FilterContext) {
    this.#options = options;
    this.#context = context;
    this.#compiled = new CompiledSettings((policies: readonly RateLimitPolicy[]) =>
      policies
        .filter(({ stage }) => stage === options.stage)
        .map((policy) => ({
          policy,
          make: compileDescriptor(policy, context.nodeCluster),
          hits: policy.hits && compileHits(policy.hits),
        })),
    );
  }

  /** `isDone`: those that are asked about when the request is over, else all others. */
  of(
    headers: HeaderMap,
    { info, route }: Pick<FilterCallbacks, 'info' | 'route'>,
    perRoute: RateLimitPerRoute | undefined,
    isDone: boolean,
  ): readonly AskedDescriptor[] {
    const asked: AskedDescriptor[] = [];
    const own = this.#ownList(perRoute);
    for (const policies of own === undefined ? listsOf(route, perRoute) : [own]) {
      for (const compiled of this.#compiled.of(policies)) {
        if (compiled.policy.appliesWhenDone !== isDone || this.#isOff(compiled)) continue;
        const descriptor = describe(compiled, headers, info, own !== undefined);
        if (descriptor !== undefined) asked.push(descriptor);
      }
    }
    return asked;
  }

  /** A list of the filter's, which takes the place of those of routes and virtual hosts. */
  #ownList(perRoute: RateLimitPerRoute | undefined): readonly RateLimitPolicy[] | undefined {
    if (perRoute !== undefined && perRoute.rateLimits.length > 0) return perRoute.rateLimits;
    return this.#options.rateLimits.length > 0 ? this.#options.rateLimits : undefined;
  }

  #isOff({ policy: { disableKey } }: CompiledPolicy): boolean {
    if (disableKey === '') return false;
    const { runtime } = this.#context;
    const runtimeKey = `ratelimit.${disableKey}.http_filter_enabled`;
    const fraction = { numerator: PERCENT, denominator: PERCENT, runtimeKey } as const;
    return !isEnabled(fraction, runtime, runtime.random());
  }
}

/** The limits of a route, and those of its virtual host where both count. */
function listsOf(
  route: ResolvedRoute | undefined,
  perRoute: RateLimitPerRoute | undefined,
): readonly (readonly RateLimitPolicy[])[] {
  const action = route?.kind === 'cluster' ? route.action : undefined;
  const ofRoute = action?.rateLimits ?? [];
  const option = perRoute?.virtualHostLimits ?? 'OVERRIDE';
  const includes =
    action?.includeVirtualHostRateLimits === true ||
    option === 'INCLUDE' ||
    (option === 'OVERRIDE' && ofRoute.length === 0);
  return includes ? [ofRoute, route?.virtualHost.rateLimits ?? []] : [ofRoute];
}

/** How much a request counts is said by lists of the filter's own alone, as in Envoy. */
function describe(
  { policy, make, hits }: CompiledPolicy,
  headers: HeaderMap,
  info: StreamInfo,
  isOwn: boolean,
): AskedDescriptor | undefined {
  const entries = make(headers, info);
  if (entries === undefined || entries.length === 0) return undefined;
  return {
    entries,
    limit: policy.limit && overrideOf(policy.limit, info),
    tells: policy.tells,
    hits: isOwn ? hits?.(info) : undefined,
  };
}

function overrideOf(override: RateLimitOverride, info: StreamInfo): AskedDescriptor['limit'] {
  if (override.kind === 'fixed') return override;
  const value = metadataValue(info.dynamicMetadata, override.namespace, override.path);
  const requestsPerUnit = memberOf(value, 'requests_per_unit');
  const unit = memberOf(value, 'unit');
  if (typeof requestsPerUnit !== 'number' || typeof unit !== 'string') return undefined;
  const number = RATE_LIMIT_UNITS.get(unit);
  if (number === undefined) return undefined;
  return { requestsPerUnit: Math.trunc(requestsPerUnit), unit: number };
}

function compileHits({
  number,
  format,
  isNegative,
}: RateLimitHits): (info: StreamInfo) => AskedDescriptor['hits'] {
  if (format === '') return () => ({ number, isNegative });
  const formatter = compileTextFormat(format, { omitEmptyValues: true });
  return (info) => {
    const text = formatter(info);
    if (!/^[0-9]{1,10}$/.test(text)) return undefined;
    const value = Number(text);
    return value > HITS_MAX ? undefined : { number: value, isNegative };
  };
}
