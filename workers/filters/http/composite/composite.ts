/**
 * A filter that a tree of matchers decides about per request: it is skipped, or others run in its
 * place. It has as many places in the chain as the longest of its chains has filters, so that each
 * of them stops, buffers and answers as any filter does. Sources: envoy.extensions.common.matching.v3.ExtensionWithMatcher,
 * envoy.filters.http.composite.
 */
import { CallbacksWithoutRoute } from '../../common/callbacks-without-route.ts';
import {
  COMPOSITE,
  type CompositeAction,
  type CompositeFilterSettings,
  type CompositeMatcher,
  type CompositePerRoute,
  type ExecuteAction,
  type MatchMoment,
} from '../../../../shared/resources/filters/http/matching/composite.ts';
import type { HttpFilter as FilterSettings } from '../../../../shared/resources/filters/http-filters.ts';
import { isEnabled } from '../../../loop/runtime.ts';
import { compileMatcherTree, type TreeMatcher } from '../../../matching/matcher-tree.ts';
import type {
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  HttpFilter,
} from '../../../stream/filter.ts';
import type { ResolvedRoute } from '../../../stream/route.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import { CompiledSettings, type FilterContext } from '../../filter-context.ts';
import { FollowingPlace, Place } from './places.ts';

type MakeFactory = (filter: FilterSettings, context: FilterContext) => FilterFactory;

type Outcome =
  | { readonly kind: 'skip' }
  | { readonly kind: 'execute'; readonly chain: Chain; readonly isDrawn: () => boolean };

/** Filters to run in place of this one. */
interface Chain {
  readonly factories: readonly FilterFactory[];
  /** Nothing runs, and that is counted as an error. */
  readonly isRefused: boolean;
}

interface CompiledMatcher {
  readonly match: TreeMatcher<Outcome>;
  readonly moment: MatchMoment;
  /** Places that the longest of its chains needs. */
  readonly width: number;
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
  { name, options: { filter, matcher, chains = [] } }: CompositeFilterSettings,
  context: FilterContext,
  make: MakeFactory,
): FilterFactory {
  const { stats } = context;
  const base = stats.defineBlock(COMPOSITE, `${context.statPrefix}composite.`);
  context.onBlock(base);
  const makeChain = (filters: readonly FilterSettings[]): Chain => ({
    factories: filters.map((inner) => make(inner, context)),
    isRefused: false,
  });
  const named = new Map(chains.map(({ name: key, filters }) => [key, makeChain(filters)]));
  const chainOf = (action: ExecuteAction): Chain | undefined => {
    if (action.chainName !== undefined) return named.get(action.chainName);
    const chain = makeChain(action.filters);
    // As in Envoy, what is named alone may not be several filters.
    return { ...chain, isRefused: !action.isChain && action.filters[0]?.kind === 'filter_chain' };
  };
  const compiled = new CompiledSettings((settings: CompositeMatcher) =>
    compileMatcher(settings, chainOf, context),
  );
  const parts: CompositeParts = {
    name,
    own: filter && make(filter, context),
    ownMatcher: matcher && compiled.of(matcher),
    compiled,
    count: (stat) => stats.increment(base + COMPOSITE.index[stat]),
  };
  return new CompositeFactory(parts);
}

function compileMatcher(
  { tree, moment }: CompositeMatcher,
  chainOf: (action: ExecuteAction) => Chain | undefined,
  { runtime }: FilterContext,
): CompiledMatcher {
  let width = 1;
  const compileAction = (action: CompositeAction): Outcome => {
    if (action.kind === 'skip') return action;
    const chain = chainOf(action) ?? NO_CHAIN;
    width = Math.max(width, widthOf(chain.factories));
    const { share } = action;
    const isDrawn = (): boolean =>
      share === undefined || isEnabled(share, runtime, runtime.random());
    return { kind: 'execute', chain, isDrawn };
  };
  const match = compileMatcherTree(tree, compileAction, runtime);
  return { match, moment, width };
}

/** A name that no chain has: nothing runs and nothing is counted, as in Envoy. */
const NO_CHAIN: Chain = { factories: [], isRefused: false };

function widthOf(factories: readonly FilterFactory[]): number {
  return factories.reduce((sum, { width = 1 }) => sum + width, 0);
}

function spread(factories: readonly FilterFactory[]): readonly FilterFactory[] {
  // The route's settings are those of the filter in whose place these run.
  return factories.flatMap((factory) => factory.filtersFor?.(undefined) ?? [factory]);
}

class CompositeFactory implements FilterFactory {
  readonly #parts: CompositeParts;
  readonly #own: readonly FilterFactory[];
  readonly #ownWidth: number;

  constructor(parts: CompositeParts) {
    this.#parts = parts;
    this.#own = parts.own === undefined ? [] : [parts.own];
    this.#ownWidth = Math.max(widthOf(this.#own), parts.ownMatcher?.width ?? 1);
  }

  get name(): string {
    return this.#parts.name;
  }

  get width(): number {
    return this.#ownWidth;
  }

  create(callbacks: FilterCallbacks): HttpFilter {
    const [own] = this.#own;
    return new CompositeFilter(this.#parts, callbacks, own);
  }

  filtersFor(route: ResolvedRoute | undefined): readonly FilterFactory[] {
    const { name } = this.#parts;
    const matcher = matcherOf(this.#parts, route?.filterSettings.perFilterConfig.get(name));
    const width = Math.max(this.#ownWidth, matcher?.width ?? 1);
    if (width === 1) return this.#alone;
    const own = spread(this.#own);
    let first: CompositeFilter | undefined;
    return Array.from({ length: width }, (_, place) => ({
      name,
      create: (callbacks) => {
        const factory = own[place];
        if (first !== undefined) return first.follow(callbacks, factory);
        first = new CompositeFilter(this.#parts, callbacks, factory);
        return first;
      },
    }));
  }

  readonly #alone: readonly FilterFactory[] = [this];
}

function matcherOf(parts: CompositeParts, ofRoute: unknown): CompiledMatcher | undefined {
  const own = isPerRoute(ofRoute) ? ofRoute.matcher : undefined;
  return own === undefined ? parts.ownMatcher : parts.compiled.of(own);
}

/** The first place, which asks the tree. */
class CompositeFilter extends Place {
  readonly #parts: CompositeParts;
  readonly #matcher: CompiledMatcher | undefined;
  readonly #isOfRoute: boolean;
  #places: readonly Place[] = [this];
  #hasHeaders = false;
  #isDecided = false;

  constructor(
    parts: CompositeParts,
    callbacks: FilterCallbacks,
    factory: FilterFactory | undefined,
  ) {
    const ofRoute = callbacks.routeConfig(parts.name);
    const isOfRoute = isPerRoute(ofRoute);
    super(innerCallbacks(callbacks, isOfRoute), factory);
    this.#parts = parts;
    this.#isOfRoute = isOfRoute;
    this.#matcher = matcherOf(parts, ofRoute);
  }

  follow(callbacks: FilterCallbacks, factory: FilterFactory | undefined): HttpFilter {
    const place = new FollowingPlace(this, innerCallbacks(callbacks, this.#isOfRoute), factory);
    this.#places = [...this.#places, place];
    return place;
  }

  override decodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    this.#hasHeaders = true;
    this.#decide('request', headers);
    return super.decodeHeaders(headers, endStream);
  }

  override encodeHeaders(headers: HeaderMap, endStream: boolean): HeadersStatus {
    this.decideByResponse(headers);
    return super.encodeHeaders(headers, endStream);
  }

  decideByResponse(headers: HeaderMap): void {
    const { info } = this.callbacks;
    if (this.#isDecided || !this.#hasHeaders || info.requestHeaders === undefined) return;
    // Inputs read the response from the stream, which may not know it yet.
    info.responseHeaders = headers;
    this.#decide('response', info.requestHeaders);
  }

  #decide(moment: MatchMoment, headers: HeaderMap): void {
    const matcher = this.#matcher;
    if (matcher?.moment !== moment) return;
    this.#isDecided = true;
    const outcome = matcher.match(headers, this.callbacks.info);
    if (outcome === undefined) return;
    if (outcome.kind === 'skip') this.#run([]);
    else if (this.#parts.own === undefined && outcome.isDrawn()) this.#execute(outcome.chain);
  }

  #execute({ factories, isRefused }: Chain): void {
    if (factories.length === 0) return;
    const filters = spread(factories);
    const fits = !isRefused && filters.length <= this.#places.length;
    this.#parts.count(fits ? 'filter_delegation_success' : 'filter_delegation_error');
    if (fits) this.#run(filters);
  }

  #run(filters: readonly FilterFactory[]): void {
    this.#places.forEach((place, position) => place.replace(filters[position]));
  }
}

/** What the route says of the tree is not what it says of the filters inside. */
function innerCallbacks(callbacks: FilterCallbacks, isOfRoute: boolean): FilterCallbacks {
  return isOfRoute ? new CallbacksWithoutRoute(callbacks) : callbacks;
}

function isPerRoute(settings: unknown): settings is CompositePerRoute {
  return typeof settings === 'object' && settings !== null && 'matcher' in settings;
}
