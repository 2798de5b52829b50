/** Resolves the network filter direct_response. */
import type { Config } from '../../../../shared/api/generated/envoy/extensions/filters/network/direct_response/v3/config.ts';
import type { NetworkFilter } from '../../../../shared/resources/listener.ts';
import type { OfKind } from '../../../../shared/resources/by-kind.ts';
import { readDataSource } from '../../data-source.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { networkFilter } from '../network-filter-row.ts';

const FIELDS = knownFields<Config>(['response']);

export const DIRECT_RESPONSE_FILTER = networkFilter(
  'envoy.filters.network.direct_response',
  'envoy.extensions.filters.network.direct_response.v3.Config',
  true,
  resolveDirectResponse,
);

function resolveDirectResponse(
  message: Config,
  scope: Scope,
): OfKind<NetworkFilter, 'direct_response'> {
  refuseOtherFields(message, FIELDS, scope);
  const { response } = message;
  const bytes = response && readDataSource(response, scope.at('response'));
  return { kind: 'direct_response', response: bytes?.toString('latin1') ?? '' };
}
