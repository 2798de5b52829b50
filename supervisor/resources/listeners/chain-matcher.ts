/** Resolves a listener's filter_chain_matcher, which names the chain of a connection. */
import type { Matcher } from '../../../shared/api/generated/xds/type/matcher/v3/matcher.ts';
import type { FilterChain } from '../../../shared/resources/listener.ts';
import type { MatcherTree } from '../../../shared/resources/routes/matcher-tree.ts';
import { extension, ExtensionRegistry } from '../extensions.ts';
import { CONNECTION_INPUTS } from '../matchers/match-inputs.ts';
import { resolveMatcherTree } from '../matchers/matcher-tree.ts';
import type { Scope } from '../scope.ts';
import type { ListenerScope } from './filter-chain-match.ts';

const ACTIONS = new ExtensionRegistry<string>('envoy.matching.action', 'filter chain action', [
  extension(
    'filter-chain-name',
    'google.protobuf.StringValue',
    ({ value = '' }: { readonly value?: string }) => value,
  ),
]);

/** A name that no chain has is accepted, as in Envoy: its connections are closed. */
export function resolveChainMatcher(
  message: Matcher,
  scope: Scope,
): MatcherTree<string> | undefined {
  const rules = {
    inputs: CONNECTION_INPUTS,
    resolveAction: (action: object, place: Scope) => ACTIONS.resolve(action, place),
    checkInput: () => undefined,
  };
  return resolveMatcherTree(message, rules, scope.at('filter_chain_matcher'));
}

/** Chains are told apart by their names then. */
export function checkChainNames(
  chains: readonly FilterChain[],
  { listener, address }: ListenerScope,
): void {
  const adding = `error adding listener '${address}'`;
  const seen = new Set<string>();
  for (const [index, { name }] of chains.entries()) {
    const place = listener.at('filter_chains', index);
    if (name === '') {
      place.error('conflict', `${adding}: "name" field is required when using a listener matcher`);
    } else if (seen.has(name)) {
      place
        .at('name')
        .error('duplicate', `${adding}: "name" field is duplicated with value '${name}'`);
    }
    seen.add(name);
  }
}
