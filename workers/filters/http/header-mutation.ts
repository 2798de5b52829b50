/**
 * Changes headers of requests and responses, and parameters of paths, in the order of its rules, the chain's before the
 * route's. Source: envoy.filters.http.header_mutation.
 */
import type {
  HeaderMutationOptions,
  HeaderMutationFilterSettings,
} from '../../../shared/resources/filters/http/header-mutation.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../../stream/joined-headers.ts';
import type { HeaderMutation } from '../../routing/header-mutations.ts';
import { compileQueryMutations } from '../common/query-mutations.ts';
import { compileHeaderRules } from '../../routing/header-rules.ts';
import { CompiledSettings } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

const SIDES = ['request', 'requestTrailers', 'response', 'responseTrailers'] as const;
type Side = (typeof SIDES)[number];

type CompiledMutations = Readonly<Record<Side | 'query', HeaderMutation | undefined>>;

export function makeHeaderMutationFilter({
  name,
  options: own,
}: HeaderMutationFilterSettings): FilterFactory {
  const compiled = new CompiledSettings((options: HeaderMutationOptions): CompiledMutations => ({
    query: compileQueryMutations(options.query),
    request: compileHeaderRules(options.request, JOINED_IN_REQUESTS),
    requestTrailers: compileHeaderRules(options.requestTrailers, JOINED_IN_REQUESTS),
    response: compileHeaderRules(options.response, JOINED_IN_RESPONSES),
    responseTrailers: compileHeaderRules(options.responseTrailers, JOINED_IN_RESPONSES),
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
  readonly #levels: readonly CompiledMutations[];
  readonly #callbacks: FilterCallbacks;

  constructor(levels: readonly CompiledMutations[], callbacks: FilterCallbacks) {
    super();
    this.#levels = levels;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    const { info } = this.#callbacks;
    for (const { request, query } of this.#levels) {
      request?.(headers, info);
      query?.(headers, info);
    }
    return 'continue';
  }

  override decodeTrailers(trailers: HeaderMap): HeadersStatus {
    return this.#change('requestTrailers', trailers);
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    // Formats read the response from the stream, which may not know it yet.
    this.#callbacks.info.responseHeaders = headers;
    return this.#change('response', headers);
  }

  override encodeTrailers(trailers: HeaderMap): HeadersStatus {
    return this.#change('responseTrailers', trailers);
  }

  #change(side: Exclude<Side, 'request'>, headers: HeaderMap): 'continue' {
    for (const level of this.#levels) level[side]?.(headers, this.#callbacks.info);
    return 'continue';
  }
}
