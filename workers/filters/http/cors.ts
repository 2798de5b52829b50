/**
 * Cross-origin resource sharing: answers preflight requests and adds what browsers ask for to
 * responses. The policy comes with the route. Source: envoy.filters.http.cors, Fetch standard.
 */
import type {
  CorsPolicy,
  CorsFilterSettings,
} from '../../../shared/resources/filters/http/cors.ts';
import { CORS } from '../../../shared/resources/filters/http/cors.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import {
  compileStringMatcher,
  type TextPredicate,
} from '../../../shared/matchers/string-matcher.ts';
import { configsOf } from '../../routing/route-context.ts';
import { type FilterSettings } from '../../stream/route.ts';
import { isEnabled } from '../../loop/runtime.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

interface CompiledPolicy {
  readonly policy: CorsPolicy;
  readonly origins: readonly TextPredicate[];
}

/** Levels of one route, the most specific first. */
type Levels = readonly CorsPolicy[];

interface CorsParts {
  readonly context: FilterContext;
  readonly base: number;
  readonly policies: CompiledSettings<FilterSettings, CompiledPolicy | undefined>;
}

export function makeCorsFilter(
  { name }: CorsFilterSettings,
  context: FilterContext,
): FilterFactory {
  const base = context.stats.defineBlock(CORS, `${context.statScope}cors.`);
  context.onBlock(base);
  const policies = new CompiledSettings((route: FilterSettings) => compilePolicy(name, route));
  const parts: CorsParts = { context, base, policies };
  return { name, create: (callbacks) => new CorsFilter(parts, callbacks) };
}

/** Undefined for a route that has no policy. */
function compilePolicy(name: string, settings: FilterSettings): CompiledPolicy | undefined {
  const typed = configsOf(settings, name) as Levels;
  const levels = typed.length > 0 ? typed : settings.corsPolicies;
  if (levels.length === 0) return undefined;
  const policy = mergePolicies(levels);
  const origins = policy.allowOrigins.map((matcher) => {
    const matches = compileStringMatcher(matcher);
    // As in Envoy, whatever matches the character `*` allows every origin, a regex too.
    return matches('*') ? () => true : matches;
  });
  return { policy, origins };
}

/**
 * Whether the filter is on is the most specific level's to say; the rest is the first that says it.
 */
function mergePolicies(levels: Levels): CorsPolicy {
  const [first] = levels;
  const text = (member: 'allowMethods' | 'allowHeaders' | 'exposeHeaders' | 'maxAge'): string =>
    levels.map((level) => level[member]).find((value) => value !== '') ?? '';
  const flag = (
    member: 'allowCredentials' | 'allowPrivateNetworkAccess' | 'forwardNotMatchingPreflights',
  ): Partial<CorsPolicy> => {
    const value = levels.map((level) => level[member]).find((each) => each !== undefined);
    return value === undefined ? {} : { [member]: value };
  };
  return {
    ...first,
    allowOrigins: levels.find(({ allowOrigins }) => allowOrigins.length > 0)?.allowOrigins ?? [],
    allowMethods: text('allowMethods'),
    allowHeaders: text('allowHeaders'),
    exposeHeaders: text('exposeHeaders'),
    maxAge: text('maxAge'),
    ...flag('allowCredentials'),
    ...flag('allowPrivateNetworkAccess'),
    ...flag('forwardNotMatchingPreflights'),
  };
}

class CorsFilter extends PassThroughFilter {
  readonly #parts: CorsParts;
  readonly #callbacks: FilterCallbacks;
  #policy: CorsPolicy | undefined = undefined;
  #origin = '';

  constructor(parts: CorsParts, callbacks: FilterCallbacks) {
    super();
    this.#parts = parts;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { context, base, policies } = this.#parts;
    const origin = headers.get('origin') ?? '';
    const { route } = this.#callbacks;
    const compiled =
      origin === '' || route === undefined ? undefined : policies.of(route.filterSettings);
    if (compiled === undefined) return 'continue';
    const { policy, origins } = compiled;
    const isOn = this.#draw(policy.filterEnabled, true);
    if (!isOn && !this.#draw(policy.shadowEnabled, false)) return 'continue';
    const isAllowed = origins.some((matches) => matches(origin));
    context.stats.increment(
      base + (isAllowed ? CORS.index.origin_valid : CORS.index.origin_invalid),
    );
    if (!isOn) return 'continue';
    if (!isAllowed) return this.#passNotMatching(headers, policy);
    this.#policy = policy;
    this.#origin = origin;
    if (!isPreflight(headers)) return 'continue';
    this.#callbacks.sendLocalReply({
      status: 200,
      body: '',
      details: 'cors_response',
      modifyHeaders: (answer) => {
        answer.set('access-control-allow-origin', origin);
        addPreflightHeaders(answer, headers, policy);
      },
    });
    return 'stop';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const policy = this.#policy;
    if (policy === undefined) return 'continue';
    headers.set('access-control-allow-origin', this.#origin);
    if (policy.allowCredentials === true) headers.set('access-control-allow-credentials', 'true');
    if (policy.exposeHeaders !== '') {
      headers.set('access-control-expose-headers', policy.exposeHeaders);
    }
    return 'continue';
  }

  #passNotMatching(headers: HeaderMap, policy: CorsPolicy): HeadersStatus {
    const forwards = policy.forwardNotMatchingPreflights ?? true;
    if (forwards || !isPreflight(headers)) return 'continue';
    this.#callbacks.sendLocalReply({
      status: 200,
      body: '',
      details: 'cors_response',
      modifyHeaders: (answer) => addPreflightHeaders(answer, headers, policy),
    });
    return 'stop';
  }

  #draw(fraction: CorsPolicy['filterEnabled'], otherwise: boolean): boolean {
    const { runtime } = this.#parts.context;
    return fraction === undefined ? otherwise : isEnabled(fraction, runtime, runtime.random());
  }
}

function addPreflightHeaders(answer: HeaderMap, request: HeaderMap, policy: CorsPolicy): void {
  if (policy.allowCredentials === true) answer.set('access-control-allow-credentials', 'true');
  for (const [name, value] of [
    ['access-control-allow-methods', policy.allowMethods],
    ['access-control-allow-headers', policy.allowHeaders],
    ['access-control-max-age', policy.maxAge],
  ] as const) {
    if (value !== '') answer.set(name, value);
  }
  if (
    policy.allowPrivateNetworkAccess === true &&
    request.get('access-control-request-private-network') === 'true'
  ) {
    answer.set('access-control-allow-private-network', 'true');
  }
}

function isPreflight(headers: HeaderMap): boolean {
  return (
    headers.method === 'OPTIONS' && (headers.get('access-control-request-method') ?? '') !== ''
  );
}
