/** Istio's metadata_exchange towards clients: see net/mesh/metadata-exchange.ts. */
import type { MetadataExchange } from '../../../shared/resources/filters/network/metadata-exchange.ts';
import { FilterState } from '../../net/filter-state.ts';
import { MetadataExchangeOf, MetadataExchanges } from '../../net/mesh/metadata-exchange.ts';
import { keepPeer } from '../../net/mesh/peer-state.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';

const NOT_FOUND_KEY = 'peer_not_found';

export function makeMetadataExchangeGate(
  filter: MetadataExchange,
  { node, stats }: NetworkFilterContext,
): NetworkGate {
  const shared = new MetadataExchanges(filter, node, stats);
  return {
    exchange({ connection }, write) {
      const state = (connection.filterState ??= new FilterState());
      const alpn = connection.tls?.alpn;
      // Until the peer's message has been read.
      state.keep(NOT_FOUND_KEY, 'true', false);
      return new MetadataExchangeOf(shared, alpn, write, (workload) => {
        state.delete(NOT_FOUND_KEY);
        keepPeer(state, 'downstream', workload);
      });
    },
    release: () => shared.release(),
  };
}
