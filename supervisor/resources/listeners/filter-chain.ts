/** Resolves envoy.config.listener.v3.FilterChain. */
import type { FilterChain as FilterChainMessage } from '../../../shared/api/generated/envoy/config/listener/v3/listener_components.ts';
import type { FilterChain } from '../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import { durationMs, optional } from '../values.ts';
import { resolveDownstreamSocket } from '../transport-sockets/transport-sockets.ts';
import { type ListenerScope, resolveChainMatch } from './filter-chain-match.ts';
import type { NetworkFilterResolver } from './network-filters.ts';

const FIELDS = knownFields<FilterChainMessage>(
  [
    'filter_chain_match',
    'filters',
    'transport_socket',
    'transport_socket_connect_timeout',
    'name',
    // Read by the listener.
    'use_proxy_proto',
  ],
  ['metadata'],
);

export function resolveFilterChains(
  messages: readonly FilterChainMessage[],
  filters: NetworkFilterResolver,
  { listener, address }: ListenerScope,
): readonly FilterChain[] {
  return messages.map((message, index) =>
    resolveFilterChain(message, filters, {
      listener: listener.at('filter_chains', index),
      address,
    }),
  );
}

export function resolveFilterChain(
  message: FilterChainMessage,
  filters: NetworkFilterResolver,
  { listener: scope, address }: ListenerScope,
): FilterChain {
  refuseOtherFields(message, FIELDS, scope);
  const { name = '', transport_socket_connect_timeout: timeout } = message;
  const place = { listener: scope.at('filter_chain_match'), address };
  return {
    name,
    ...optional('match', resolveChainMatch(message.filter_chain_match, name, place)),
    ...optional('handshakeTimeoutMs', timeout === undefined ? undefined : durationMs(timeout)),
    networkFilters: filters.resolve(message.filters, scope.at('filters')),
    ...resolveDownstreamSocket(message.transport_socket, scope.at('transport_socket')),
  };
}
