/** The network filter set_filter_state: keeps facts of a connection as it goes on. */
import type { SetFilterState } from '../../../shared/resources/filters/network/set-filter-state.ts';
import { FilterStateWriter } from '../common/filter-state-writer.ts';
import type { NetworkGate } from '../network-gate.ts';

export function makeFilterStateGate(filter: SetFilterState): NetworkGate {
  const writer = new FilterStateWriter();
  const onConnection = writer.compile(filter.onNewConnection);
  const onTlsHandshake = writer.compile(filter.onTlsHandshake);
  const onFirstBytes = writer.compile(filter.onFirstBytes);
  return {
    onConnection(info) {
      writer.keep(onConnection, info);
      return true;
    },
    onFirstBytes(info) {
      if (info.connection.tls !== undefined) writer.keep(onTlsHandshake, info);
      writer.keep(onFirstBytes, info);
      return true;
    },
    release: () => undefined,
  };
}
