/**
 * Changes headers of requests and responses in the order of its rules, the chain's before the
 * route's. Source: envoy.filters.http.header_mutation.
 */
import type {
  HeaderMutationOptions,
  HeaderMutationRule,
} from '../../shared/resources/http-filters.ts';
import { compileStringMatcher } from '../../shared/matchers/string-matcher.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../http/filter.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../http/joined-headers.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import { CompiledSettings } from './filter-context.ts';
import { PassThroughFilter } from './pass-through-filter.ts';

const SIDES = ['request', 'requestTrailers', 'response', 'responseTrailers'] as const;
type Side = (typeof SIDES)[number];

type CompiledMutations = Readonly<Record<Side, HeaderMutation | undefined>>;

export function makeHeaderMutationFilter(name: string, own: HeaderMutationOptions): FilterFactory {
  const compiled = new CompiledSettings((options: HeaderMutationOptions): CompiledMutations => ({
    request: compileRules(options.request, JOINED_IN_REQUESTS),
    requestTrailers: compileRules(options.requestTrailers, JOINED_IN_REQUESTS),
    response: compileRules(options.response, JOINED_IN_RESPONSES),
    responseTrailers: compileRules(options.responseTrailers, JOINED_IN_RESPONSES),
  }));
  const ofChain = compiled.of(own);
  return {
    name,
    create: (callbacks) => {
      const ofRoute = callbacks.routeConfigs(name) as readonly HeaderMutationOptions[];
      const levels = ofRoute.map((settings) => compiled.of(settings));
      if (own.mostSpecificWins) levels.reverse();
      return new HeaderMutationFilter([ofChain, ...levels], callbacks);
    },
  };
}

class HeaderMutationFilter extends PassThroughFilter {
  private readonly levels: readonly CompiledMutations[];
  private readonly callbacks: FilterCallbacks;

  constructor(levels: readonly CompiledMutations[], callbacks: FilterCallbacks) {
    super();
    this.levels = levels;
    this.callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    return this.change('request', headers);
  }

  override decodeTrailers(trailers: HeaderMap): HeadersStatus {
    return this.change('requestTrailers', trailers);
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    // Formats read the response from the stream, which may not know it yet.
    this.callbacks.info.responseHeaders = headers;
    return this.change('response', headers);
  }

  override encodeTrailers(trailers: HeaderMap): HeadersStatus {
    return this.change('responseTrailers', trailers);
  }

  private change(side: Side, headers: HeaderMap): 'continue' {
    for (const level of this.levels) level[side]?.(headers, this.callbacks.info);
    return 'continue';
  }
}

/** Each rule is a set of its own, so that they take effect one after the other. */
function compileRules(
  rules: readonly HeaderMutationRule[],
  joined: ReadonlySet<string>,
): HeaderMutation | undefined {
  const steps = rules.map((rule) => compileRule(rule, joined)).filter((step) => step !== undefined);
  const [only] = steps;
  if (steps.length <= 1) return only;
  return (headers, info) => {
    for (const step of steps) step(headers, info);
  };
}

function compileRule(
  rule: HeaderMutationRule,
  joined: ReadonlySet<string>,
): HeaderMutation | undefined {
  if (rule.kind === 'append') {
    return compileHeaderMutations([{ add: [rule.option], remove: [] }], joined);
  }
  if (rule.kind === 'remove') {
    return compileHeaderMutations([{ add: [], remove: [rule.name] }], joined);
  }
  const matches = compileStringMatcher(rule.matcher);
  return (headers) => {
    const names = new Set<string>();
    headers.forEach((name) => matches(name) && names.add(name));
    for (const name of names) headers.remove(name);
  };
}
