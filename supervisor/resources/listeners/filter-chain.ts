/** Resolves envoy.config.listener.v3.FilterChain. */
import type {
  FilterChain as FilterChainMessage,
  FilterChainMatch,
} from '../../../shared/api/generated/envoy/config/listener/v3/listener_components.ts';
import type { FilterChain } from '../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveDownstreamSocket } from '../transport-sockets.ts';
import type { NetworkFilterResolver } from './network-filters.ts';

const FIELDS = knownFields<FilterChainMessage>(
  ['filter_chain_match', 'filters', 'transport_socket', 'name'],
  // The time for a handshake, which plain bytes do not have.
  ['metadata', 'transport_socket_connect_timeout'],
);

export function resolveFilterChains(
  messages: readonly FilterChainMessage[],
  filters: NetworkFilterResolver,
  { listener }: ListenerScope,
): readonly FilterChain[] {
  return messages.map((message, index) =>
    resolveFilterChain(message, filters, listener.at('filter_chains', index)),
  );
}

/** Without a match a chain takes every connection, so a second one is its double. */
export function refuseDoubles(
  messages: readonly FilterChainMessage[],
  { listener, address }: ListenerScope,
): void {
  let first: string | undefined;
  for (const [index, { name = '', filter_chain_match: match }] of messages.entries()) {
    if (!isEmpty(match)) continue;
    if (first !== undefined) {
      listener
        .at('filter_chains', index)
        .error(
          'duplicate',
          `error adding listener '${address}': filter chain '${name}' has the same matching rules defined as '${first}'. duplicate matcher is: {}`,
        );
    }
    first ??= name;
  }
}

export interface ListenerScope {
  readonly listener: Scope;
  /** As the reference names the listener in messages. */
  readonly address: string;
}

export function resolveFilterChain(
  message: FilterChainMessage,
  filters: NetworkFilterResolver,
  scope: Scope,
): FilterChain {
  refuseOtherFields(message, FIELDS, scope);
  if (!isEmpty(message.filter_chain_match)) {
    scope.at('filter_chain_match').unsupported('choosing a filter chain by a match is');
  }
  return {
    name: message.name ?? '',
    networkFilters: filters.resolve(message.filters, scope.at('filters')),
    ...optional(
      'tls',
      resolveDownstreamSocket(message.transport_socket, scope.at('transport_socket')),
    ),
  };
}

function isEmpty(match: FilterChainMatch | undefined): boolean {
  return match === undefined || Object.keys(match).length === 0;
}
