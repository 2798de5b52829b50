/**
 * A filter that a tree of matchers decides about per request: it is skipped, or another one runs in
 * its place. Sources: envoy.extensions.common.matching.v3.ExtensionWithMatcher,
 * envoy.filters.http.composite.
 */
import { CallbacksWithoutRoute } from '../common/callbacks-without-route.ts';
import {
  COMPOSITE,
  type CompositeAction,
  type CompositeFilterSettings,
  type CompositeMatcher,
  type CompositePerRoute,
  type MatchMoment,
} from '../../../shared/resources/filters/http/matching/composite.ts';
import type { HttpFilter as FilterSettings } from '../../../shared/resources/filters/http-filters.ts';
import { isEnabled } from '../../loop/runtime.ts';
import { compileMatcherTree, type TreeMatcher } from '../../matching/matcher-tree.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  HttpFilter,
  TrailersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { CompiledSettings, type FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

type MakeFactory = (filter: FilterSettings, context: FilterContext) => FilterFactory;

type Outcome =
  | { readonly kind: 'skip' }
  | { readonly kind: 'execute'; readonly factory: FilterFactory; readonly isDrawn: () => boolean };

interface CompiledMatcher {
  readonly match: TreeMatcher<Outcome>;
  readonly moment: MatchMoment;
}

interface CompositeParts {
  readonly name: string;
  readonly own: FilterFactory | undefined;
  readonly ownMatcher: CompiledMatcher | undefined;
  readonly compiled: CompiledSettings<CompositeMatcher, CompiledMatcher>;
  readonly count: (stat: keyof typeof COMPOSITE.index) => void;
}

/** `make` makes the factory of settings as those of any filter. */
export function makeCompositeFilter(
  { name, options: { filter, matcher } }: CompositeFilterSettings,
  context: FilterContext,
  make: MakeFactory,
): FilterFactory {
  const { stats } = context;
  const base = stats.defineBlock(COMPOSITE, `${context.statPrefix}composite.`);
  context.onBlock(base);
  const compiled = new CompiledSettings(({ tree, moment }: CompositeMatcher) => ({
    match: compileMatcherTree(
      tree,
      (action) => compileAction(action, context, make),
      context.runtime,
    ),
    moment,
  }));
  const parts: CompositeParts = {
    name,
    own: filter && make(filter, context),
    ownMatcher: matcher && compiled.of(matcher),
    compiled,
    count: (stat) => stats.increment(base + COMPOSITE.index[stat]),
  };
  return { name, create: (callbacks) => new CompositeFilter(parts, callbacks) };
}

function compileAction(
  action: CompositeAction,
  context: FilterContext,
  make: MakeFactory,
): Outcome {
  if (action.kind === 'skip') return action;
  const { share } = action;
  return {
    kind: 'execute',
    factory: make(action.filter, context),
    isDrawn: () =>
      share === undefined || isEnabled(share, context.runtime, context.runtime.random()),
  };
}

const NOTHING = new PassThroughFilter();

class CompositeFilter implements HttpFilter {
  readonly #parts: CompositeParts;
  readonly #callbacks: FilterCallbacks;
  readonly #matcher: CompiledMatcher | undefined;
  #inner: HttpFilter = NOTHING;
  #hasHeaders = false;
  #isDecided = false;

  constructor(parts: CompositeParts, callbacks: FilterCallbacks) {
    this.#parts = parts;
    const ofRoute = callbacks.routeConfig(parts.name);
    const own = isPerRoute(ofRoute) ? ofRoute.matcher : undefined;
    this.#matcher = own === undefined ? parts.ownMatcher : parts.compiled.of(own);
    // What the route says of the tree is not what it says of the filter inside.
    this.#callbacks = isPerRoute(ofRoute) ? new CallbacksWithoutRoute(callbacks) : callbacks;
    if (parts.own !== undefined) this.#inner = parts.own.create(this.#callbacks);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    this.#hasHeaders = true;
    this.#decide('request', headers);
    return this.#inner.decodeHeaders(headers, endStream);
  }

  decodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#inner.decodeData(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#inner.decodeTrailers(trailers);
  }

  encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    const { info } = this.#callbacks;
    if (!this.#isDecided && this.#hasHeaders && info.requestHeaders !== undefined) {
      // Inputs read the response from the stream, which may not know it yet.
      info.responseHeaders = headers;
      this.#decide('response', info.requestHeaders);
    }
    return this.#inner.encodeHeaders(headers, endStream);
  }

  encodeData(data: Buffer, endStream: boolean): DataStatus {
    return this.#inner.encodeData(data, endStream);
  }

  encodeTrailers(trailers: HeaderMap): TrailersStatus {
    return this.#inner.encodeTrailers(trailers);
  }

  onDestroy(): void {
    this.#inner.onDestroy();
  }

  #decide(moment: MatchMoment, headers: HeaderMap): void {
    const matcher = this.#matcher;
    if (matcher?.moment !== moment) return;
    this.#isDecided = true;
    const outcome = matcher.match(headers, this.#callbacks.info);
    if (outcome === undefined) return;
    if (outcome.kind === 'skip') {
      this.#replace(NOTHING);
    } else if (this.#parts.own === undefined && outcome.isDrawn()) {
      this.#parts.count('filter_delegation_success');
      this.#replace(outcome.factory.create(this.#callbacks));
    }
  }

  #replace(filter: HttpFilter): void {
    this.#inner.onDestroy();
    this.#inner = filter;
  }
}

function isPerRoute(settings: unknown): settings is CompositePerRoute {
  return typeof settings === 'object' && settings !== null && 'matcher' in settings;
}
