/** Resolves filters that a tree of matchers decides about: ExtensionWithMatcher and composite. */
import type {
  ExtensionWithMatcher,
  ExtensionWithMatcherPerRoute,
} from '../../../../../shared/api/generated/envoy/extensions/common/matching/v3/extension_matcher.ts';
import type {
  Composite,
  CompositePerRoute as CompositePerRouteMessage,
  ExecuteFilterAction,
  FilterChainConfiguration,
} from '../../../../../shared/api/generated/envoy/extensions/filters/http/composite/v3/composite.ts';
import type { Matcher } from '../../../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type { OfKind } from '../../../../../shared/resources/by-kind.ts';
import type {
  CompositeAction,
  CompositeFilterSettings,
  CompositeMatcher,
  CompositePerRoute,
  MatchMoment,
} from '../../../../../shared/resources/filters/http/matching/composite.ts';
import type { HttpFilter } from '../../../../../shared/resources/filters/http-filters.ts';
import { memberOf } from '../../../../../shared/text/dictionary.ts';
import { typeNameOf } from '../../../../config/type-name.ts';
import { extension, ExtensionRegistry, type ExtensionMessage } from '../../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../../fields.ts';
import { resolveRuntimeFraction } from '../../../matchers/fraction.ts';
import { resolveMatcherTree } from '../../../matchers/matcher-tree.ts';
import type { Scope } from '../../../scope.ts';
import { optional } from '../../../values.ts';
import { httpFilter, perRoute } from '../../http-filter-row.ts';

/** Resolves a filter inside of another; the list of all filters knows how. */
type ResolveInner = (message: ExtensionMessage, scope: Scope) => HttpFilter | undefined;
type Chains = Readonly<NonNullable<Composite['named_filter_chains']>>;

const MATCHED_TYPE = 'envoy.extensions.common.matching.v3.ExtensionWithMatcher';
const COMPOSITE_TYPE = 'envoy.extensions.filters.http.composite.v3.Composite';
const COMPOSITE_FIELDS = knownFields<Composite>(['named_filter_chains', 'matcher']);
const MATCHED_FIELDS = knownFields<ExtensionWithMatcher>(['extension_config', 'xds_matcher']);
const ACTION_FIELDS = knownFields<ExecuteFilterAction>([
  'typed_config',
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
      const { matcher, named_filter_chains: chains = {} } = message;
      const tree = matcher && makeRule(matcher, chains, scope.at('matcher'));
      return { kind: 'composite', name, options: { ...optional('matcher', tree) } };
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
      const filter = resolveInner({ ...inner, name }, scope.at('extension_config'));
      if (filter === undefined) return undefined;
      const isComposite = filter.kind === 'composite' && filter.options.filter === undefined;
      const chains = isComposite ? chainsOf(inner) : {};
      const tree = matcher && makeRule(matcher, chains, scope.at('xds_matcher'));
      const options = { ...optional('matcher', tree), ...(isComposite ? {} : { filter }) };
      return { kind: 'composite', name, options };
    },
    perRoute(`${MATCHED_TYPE}PerRoute`, (message: ExtensionWithMatcherPerRoute, scope: Scope) =>
      ofRoute(message.xds_matcher, scope.at('xds_matcher'), makeRule),
    ),
  );
}

function chainsOf({ typed_config: config }: ExtensionMessage): Chains {
  return (config as Composite | undefined)?.named_filter_chains ?? {};
}

type TreeResolver = (
  message: Matcher,
  chains: Chains,
  scope: Scope,
) => CompositeMatcher | undefined;

function ofRoute(
  message: Matcher | undefined,
  scope: Scope,
  makeRule: TreeResolver,
): CompositePerRoute {
  const matcher = message && makeRule(message, {}, scope);
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
  return (message, chains, scope) => {
    let moment: MatchMoment = 'request';
    const actions = actionsOf(resolveInner, chains);
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

function actionsOf(resolveInner: ResolveInner, chains: Chains) {
  return new ExtensionRegistry<CompositeAction>('envoy.matching.action', 'action', {
    skip: extension(
      'envoy.filters.http.skip',
      'envoy.extensions.filters.common.matcher.action.v3.SkipFilter',
      () => ({ kind: 'skip' }),
    ),
    execute: extension(
      'composite-action',
      'envoy.extensions.filters.http.composite.v3.ExecuteFilterAction',
      (message: ExecuteFilterAction, scope) =>
        resolveExecution(message, chains, resolveInner, scope),
    ),
  });
}

function resolveExecution(
  message: ExecuteFilterAction,
  chains: Chains,
  resolveInner: ResolveInner,
  scope: Scope,
): OfKind<CompositeAction, 'execute'> | undefined {
  refuseOtherFields(message, ACTION_FIELDS, scope);
  const { sample_percent: sample, filter_chain_name: name } = message;
  const chain = name === undefined ? message.filter_chain : chainNamed(chains, name);
  if (name !== undefined && chain === undefined) {
    scope.at('filter_chain_name').error('reference', `filter chain '${name}' is not defined`);
    return undefined;
  }
  const inner = chain === undefined ? message.typed_config : onlyFilter(chain, scope);
  if (inner === undefined) {
    if (chain === undefined) scope.error('conflict', 'Error: composite action without a filter');
    return undefined;
  }
  const place = chain === undefined ? scope.at('typed_config') : scope.at('filter_chain');
  const filter = resolveInner(inner, place);
  const share = sample && resolveRuntimeFraction(sample);
  return filter && { kind: 'execute', filter, ...optional('share', share) };
}

function onlyFilter(chain: FilterChainConfiguration, scope: Scope): ExtensionMessage | undefined {
  const [first, ...rest] = chain.typed_config ?? [];
  if (rest.length > 0) scope.at('filter_chain').unsupported('a chain of more than one filter is');
  if (first === undefined) scope.at('filter_chain').error('conflict', 'filter chain is empty');
  return first;
}

function chainNamed(chains: Chains, name: string): FilterChainConfiguration | undefined {
  return memberOf(chains, name) as FilterChainConfiguration | undefined;
}
