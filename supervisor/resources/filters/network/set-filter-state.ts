/** Resolves the network filter set_filter_state. */
import type { Config } from '../../../../shared/api/generated/envoy/extensions/filters/network/set_filter_state/v3/set_filter_state.ts';
import type { OfKind } from '../../../../shared/resources/by-kind.ts';
import type { NetworkFilter } from '../../../../shared/resources/listener.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { resolveFilterStateValues } from '../common/filter-state-values.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<Config>([
  'on_new_connection',
  'on_downstream_tls_handshake',
  'on_downstream_data',
]);

export const SET_FILTER_STATE_NETWORK_FILTER = networkFilter(
  'envoy.filters.network.set_filter_state',
  'envoy.extensions.filters.network.set_filter_state.v3.Config',
  false,
  resolveFilterState,
);

function resolveFilterState(
  message: Config,
  scope: Scope,
): OfKind<NetworkFilter, 'set_filter_state'> {
  refuseOtherFields(message, FIELDS, scope);
  const valuesOf = (field: keyof Config): ReturnType<typeof resolveFilterStateValues> =>
    resolveFilterStateValues(message[field], scope.at(field));
  return {
    kind: 'set_filter_state',
    onNewConnection: valuesOf('on_new_connection'),
    onTlsHandshake: valuesOf('on_downstream_tls_handshake'),
    onFirstBytes: valuesOf('on_downstream_data'),
  };
}
