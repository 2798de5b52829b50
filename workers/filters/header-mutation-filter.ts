/**
 * Changes headers of requests and responses in the order of its rules, the chain's before the
 * route's. Source: envoy.filters.http.header_mutation.
 */
import type {
  HeaderMutationOptions,
  HeaderMutationRule,
} from '../../shared/resources/http-filters.ts';
import type { FilterCallbacks, FilterFactory, HeadersStatus } from '../http/filter.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { JOINED_IN_REQUESTS, JOINED_IN_RESPONSES } from '../http/joined-headers.ts';
import { compileHeaderMutations, type HeaderMutation } from '../routing/header-mutations.ts';
import { CompiledSettings } from './filter-context.ts';
import { PassThroughFilter } from './pass-through-filter.ts';

interface CompiledMutations {
  readonly request: HeaderMutation | undefined;
  readonly response: HeaderMutation | undefined;
}

export function makeHeaderMutationFilter(name: string, own: HeaderMutationOptions): FilterFactory {
  const compiled = new CompiledSettings(
    ({ request, response }: HeaderMutationOptions): CompiledMutations => ({
      request: compileRules(request, JOINED_IN_REQUESTS),
      response: compileRules(response, JOINED_IN_RESPONSES),
    }),
  );
  const ofChain = compiled.of(own);
  return {
    name,
    create: (callbacks) => {
      const settings = callbacks.routeConfig(name) as HeaderMutationOptions | undefined;
      const ofRoute = settings && compiled.of(settings);
      return new HeaderMutationFilter(ofRoute ? [ofChain, ofRoute] : [ofChain], callbacks);
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
    for (const { request } of this.levels) request?.(headers, this.callbacks.info);
    return 'continue';
  }

  override encodeHeaders(headers: HeaderMap): HeadersStatus {
    for (const { response } of this.levels) response?.(headers, this.callbacks.info);
    return 'continue';
  }
}

/** Each rule is a set of its own, so that they take effect one after the other. */
function compileRules(
  rules: readonly HeaderMutationRule[],
  joined: ReadonlySet<string>,
): HeaderMutation | undefined {
  return compileHeaderMutations(
    rules.map((rule) =>
      rule.kind === 'remove'
        ? { add: [], remove: [rule.name] }
        : { add: [rule.option], remove: [] },
    ),
    joined,
  );
}
