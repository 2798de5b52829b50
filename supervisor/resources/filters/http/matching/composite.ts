/** Resolves filters that a tree of matchers decides about: ExtensionWithMatcher and composite. */
import type {
  ExtensionWithMatcher,
  ExtensionWithMatcherPerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/common/matching/v3/extension_matcher.ts';
import type {
  Composite,
  DynamicConfig,
  CompositePerRoute as CompositePerRouteMessage,
  ExecuteFilterAction,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/composite/v3/composite.ts';
import type { Matcher } from '../../../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type {
  CompositeAction,
  CompositeFilterSettings,
  CompositeMatcher,
  CompositePerRoute,
  ExecuteAction,
  MatchMoment,
  NamedChain,
} from '../../../../../shared/resources/filters/http/matching/composite.ts';
import type { HttpFilter } from '../../../../../shared/resources/filters/http-filters.ts';
import { resolveDiscoveredFilter } from '../discovered.ts';
import { typeNameOf } from '../../../../config/type-name.ts';
import { extension, ExtensionRegistry, type ExtensionMessage } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveRuntimeFraction } from '../../../matchers/fraction.ts';
import { resolveMatcherTree } from '../../../matchers/matcher-tree.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

/** Resolves a filter inside of another; the list of all filters knows how. */
interface ResolveInner {
  (
    message: ExtensionMessage,
    scope: Scope,
    /** By which routes know it; absent: its own. */
    name?: string,
  ): HttpFilter | undefined;
  readonly isUpstream: boolean;
  isKnownType(url: string, scope: Scope): boolean;
}
type Chains = Readonly<NonNullable<Composite['named_filter_chains']>>;

const MATCHED_TYPE = 'envoy.extensions.common.matching.v3.ExtensionWithMatcher';
const COMPOSITE_TYPE = 'envoy.extensions.filters.http.composite.v3.Composite';
const COMPOSITE_FIELDS = knownFields<Composite>(['named_filter_chains', 'matcher']);
const MATCHED_FIELDS = knownFields<ExtensionWithMatcher>(['extension_config', 'xds_matcher']);
const ACTION_FIELDS = knownFields<ExecuteFilterAction>([
  'typed_config',
  'dynamic_config',
  'sample_percent',
  'filter_chain',
  'filter_chain_name',
]);

export function compositeFilter(resolveInner: ResolveInner) {
  const makeRule = treeResolver(resolveInner);
  return httpFilter(
    'envoy.filters.http.composite',
    COMPOSITE_TYPE,
    (message: Composite, scope, name): CompositeFilterSettings => {
      refuseOtherFields(message, COMPOSITE_FIELDS, scope);
      const { matcher, named_filter_chains: named = {} } = message;
      const tree = matcher && makeRule(matcher, name, scope.at('matcher'));
      const chains = resolveChains(named, name, resolveInner, scope.at('named_filter_chains'));
      const own = chains.length > 0 ? { chains } : {};
      return { kind: 'composite', name, options: { ...optional('matcher', tree), ...own } };
    },
    perRoute(`${COMPOSITE_TYPE}PerRoute`, (message: CompositePerRouteMessage, scope: Scope) =>
      ofRoute(message.matcher, scope.at('matcher'), makeRule),
    ),
  );
}

export function matchedFilter(resolveInner: ResolveInner) {
  const makeRule = treeResolver(resolveInner);
  return httpFilter(
    'envoy.filters.http.match_delegate',
    MATCHED_TYPE,
    (message: ExtensionWithMatcher, scope, name): CompositeFilterSettings | undefined => {
      refuseOtherFields(message, MATCHED_FIELDS, scope);
      const { extension_config: inner = {}, xds_matcher: matcher } = message;
      // Routes know the filter inside by the name of the whole.
      const filter = resolveInner(inner, scope.at('extension_config'), name);
      if (filter === undefined) return undefined;
      const isComposite = filter.kind === 'composite' && filter.options.filter === undefined;
      const tree = matcher && makeRule(matcher, name, scope.at('xds_matcher'));
      const inside = isComposite ? optional('chains', filter.options.chains) : { filter };
      const options = { ...optional('matcher', tree), ...inside };
      return { kind: 'composite', name, options };
    },
    perRoute(`${MATCHED_TYPE}PerRoute`, (message: ExtensionWithMatcherPerRoute, scope: Scope) =>
      ofRoute(message.xds_matcher, scope.at('xds_matcher'), makeRule),
    ),
  );
}

function resolveChains(
  chains: Chains,
  name: string,
  resolveInner: ResolveInner,
  scope: Scope,
): readonly NamedChain[] {
  return Object.entries(chains).map(([key, { typed_config: messages = [] }]) => {
    const place = scope.at(key);
    if (messages.length === 0) {
      place.error('conflict', `Named filter chain '${key}' must contain at least one filter.`);
    }
    return { name: key, filters: resolveEach(messages, name, resolveInner, place) };
  });
}

/** Routes know what is inside by the name of the whole. */
function resolveEach(
  messages: readonly ExtensionMessage[],
  name: string | undefined,
  resolveInner: ResolveInner,
  scope: Scope,
): readonly HttpFilter[] {
  const place = scope.at('typed_config');
  return messages.flatMap((message, at) => resolveInner(message, place.at(at), name) ?? []);
}

type TreeResolver = (
  message: Matcher,
  name: string | undefined,
  scope: Scope,
) => CompositeMatcher | undefined;

function ofRoute(
  message: Matcher | undefined,
  scope: Scope,
  makeRule: TreeResolver,
): CompositePerRoute {
  const matcher = message && makeRule(message, undefined, scope);
  return matcher === undefined ? {} : { matcher };
}

const TYPES = 'envoy.type.matcher.v3';
const OF_RESPONSE: ReadonlySet<string> = new Set([
  `${TYPES}.HttpResponseHeaderMatchInput`,
  `${TYPES}.HttpResponseStatusCodeMatchInput`,
  `${TYPES}.HttpResponseStatusCodeClassMatchInput`,
]);
const OF_TRAILERS: ReadonlySet<string> = new Set([
  `${TYPES}.HttpRequestTrailerMatchInput`,
  `${TYPES}.HttpResponseTrailerMatchInput`,
]);

function treeResolver(resolveInner: ResolveInner): TreeResolver {
  return (message, name, scope) => {
    let moment: MatchMoment = 'request';
    const actions = actionsOf(resolveInner, name);
    const tree = resolveMatcherTree(
      message,
      {
        resolveAction: (action, place) => actions.resolve(action, place),
        checkInput(typeUrl, place) {
          const type = typeNameOf(typeUrl);
          if (OF_RESPONSE.has(type)) moment = 'response';
          if (OF_TRAILERS.has(type)) place.unsupported('a tree that reads trailers is');
        },
      },
      scope,
    );
    return tree && { tree, moment };
  };
}

function actionsOf(resolveInner: ResolveInner, name: string | undefined) {
  return new ExtensionRegistry<CompositeAction>('envoy.matching.action', 'action', {
    skip: extension(
      'envoy.filters.http.skip',
      'envoy.extensions.filters.common.matcher.action.v3.SkipFilter',
      () => ({ kind: 'skip' }),
    ),
    execute: extension(
      'composite-action',
      'envoy.extensions.filters.http.composite.v3.ExecuteFilterAction',
      (message: ExecuteFilterAction, scope) => resolveExecution(message, name, resolveInner, scope),
    ),
  });
}

/** A chain counts before a name, a name before a single filter, a dynamic one before a typed one. */
function resolveExecution(
  message: ExecuteFilterAction,
  name: string | undefined,
  resolveInner: ResolveInner,
  scope: Scope,
): ExecuteAction | undefined {
  refuseOtherFields(message, ACTION_FIELDS, scope);
  const { sample_percent: sample, filter_chain: chain, filter_chain_name: chainName } = message;
  const share = optional('share', sample && resolveRuntimeFraction(sample));
  if (chain !== undefined) {
    const { typed_config: messages = [] } = chain;
    const place = scope.at('filter_chain');
    if (messages.length === 0) {
      place.error('conflict', 'filter_chain must contain at least one filter.');
    }
    const filters = resolveEach(messages, name, resolveInner, place);
    return { kind: 'execute', isChain: true, filters, ...share };
  }
  if (chainName !== undefined) {
    return { kind: 'execute', isChain: true, filters: [], chainName, ...share };
  }
  const { typed_config: typed, dynamic_config: dynamic } = message;
  const filter =
    dynamic === undefined
      ? resolveInner(typed ?? {}, scope.at('typed_config'), name)
      : resolveDynamic(dynamic, name, resolveInner, scope.at('dynamic_config'));
  return filter && { kind: 'execute', isChain: false, filters: [filter], ...share };
}

/** Its settings come from elsewhere, under its own name; routes know it by that of the whole. */
function resolveDynamic(
  { name = '', config_discovery: discovery = {} }: DynamicConfig,
  ofWhole: string | undefined,
  resolveInner: ResolveInner,
  scope: Scope,
): HttpFilter | undefined {
  const place = scope.at('config_discovery');
  const filter = resolveDiscoveredFilter(
    name,
    discovery,
    {
      isUpstream: resolveInner.isUpstream,
      isKnownType: (url) => resolveInner.isKnownType(url, scope),
      resolveDefault: (config) =>
        resolveInner({ name, typed_config: config }, place.at('default_config'), ofWhole),
    },
    place,
  );
  return filter && { ...filter, name: ofWhole ?? name };
}
