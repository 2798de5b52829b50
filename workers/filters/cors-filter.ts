/**
 * Cross-origin resource sharing: answers preflight requests and adds what browsers ask for to
 * responses. The policy comes with the route. Source: envoy.filters.http.cors, Fetch standard.
 */
import type { CorsPolicy } from '../../shared/resources/http-filters.ts';
import { CORS } from '../../shared/stats/templates/http-filters.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../http/filter.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { compileStringMatcher, type TextPredicate } from '../../shared/matchers/string-matcher.ts';
import { isEnabled } from '../runtime.ts';
import { CompiledSettings, type FilterContext } from './filter-context.ts';
import { PassThroughFilter } from './pass-through-filter.ts';

interface CompiledPolicy {
  readonly policy: CorsPolicy;
  readonly origins: readonly TextPredicate[];
}

interface CorsParts {
  readonly name: string;
  readonly context: FilterContext;
  readonly base: number;
  readonly policies: CompiledSettings<CorsPolicy, CompiledPolicy>;
}

export function makeCorsFilter(name: string, context: FilterContext): FilterFactory {
  const base = context.stats.defineBlock(CORS, `${context.statPrefix}cors.`);
  context.onBlock(base);
  const policies = new CompiledSettings((policy: CorsPolicy) => ({
    policy,
    origins: policy.allowOrigins.map((matcher) =>
      matcher.kind === 'exact' && matcher.value === '*'
        ? () => true
        : compileStringMatcher(matcher),
    ),
  }));
  const parts: CorsParts = { name, context, base, policies };
  return { name, create: (callbacks) => new CorsFilter(parts, callbacks) };
}

class CorsFilter extends PassThroughFilter {
  private readonly parts: CorsParts;
  private readonly callbacks: FilterCallbacks;
  private policy: CorsPolicy | undefined = undefined;
  private origin = '';

  constructor(parts: CorsParts, callbacks: FilterCallbacks) {
    super();
    this.parts = parts;
    this.callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { context, base, name, policies } = this.parts;
    const origin = headers.get('origin') ?? '';
    const settings = this.callbacks.routeConfig(name) as CorsPolicy | undefined;
    if (origin === '' || settings === undefined) return 'continue';
    const { policy, origins } = policies.of(settings);
    const isOn = this.draw(policy.filterEnabled, true);
    if (!isOn && !this.draw(policy.shadowEnabled, false)) return 'continue';
    const isAllowed = origins.some((matches) => matches(origin));
    context.stats.increment(
      base + (isAllowed ? CORS.index.origin_valid : CORS.index.origin_invalid),
    );
    if (!isOn) return 'continue';
    if (!isAllowed) return this.passNotMatching(headers, policy);
    this.policy = policy;
    this.origin = origin;
    if (!isPreflight(headers)) return 'continue';
    this.callbacks.sendLocalReply({
      status: 200,
      body: '',
      details: 'cors_response',
      modifyHeaders: (answer) => this.addPreflightHeaders(answer, headers),
    });
    return 'stop';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    const { policy } = this;
    if (policy === undefined) return 'continue';
    headers.set('access-control-allow-origin', this.origin);
    if (policy.allowCredentials === true) headers.set('access-control-allow-credentials', 'true');
    if (policy.exposeHeaders !== '') {
      headers.set('access-control-expose-headers', policy.exposeHeaders);
    }
    return 'continue';
  }

  private passNotMatching(headers: HeaderMap, policy: CorsPolicy): HeadersStatus {
    if (policy.forwardNotMatchingPreflights || !isPreflight(headers)) return 'continue';
    this.callbacks.sendLocalReply({ status: 200, body: '', details: 'cors_response' });
    return 'stop';
  }

  private addPreflightHeaders(answer: HeaderMap, request: HeaderMap): void {
    const { policy } = this;
    if (policy === undefined) return;
    answer.set('access-control-allow-origin', this.origin);
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

  private draw(fraction: CorsPolicy['filterEnabled'], otherwise: boolean): boolean {
    const { runtime } = this.parts.context;
    return fraction === undefined ? otherwise : isEnabled(fraction, runtime, runtime.random());
  }
}

function isPreflight(headers: HeaderMap): boolean {
  return (
    headers.method === 'OPTIONS' && (headers.get('access-control-request-method') ?? '') !== ''
  );
}
