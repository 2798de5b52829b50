/** Resolves Istio's envoy.tcp.metadataexchange.config.MetadataExchange, of listeners and of clusters. */
import type { MetadataExchange as Message } from '../../../../shared/api/generated/envoy/tcp/metadataexchange/config/metadata_exchange.ts';
import type {
  MetadataExchange,
  MetadataExchangeOptions,
} from '../../../../shared/resources/filters/network/metadata-exchange.ts';
import { extension } from '../../extensions.ts';
import { knownFields, refuseOtherFields } from '../../fields.ts';
import type { Scope } from '../../scope.ts';
import { networkFilter } from '../network-filter-row.ts';

const NAME = 'envoy.filters.network.metadata_exchange';
const TYPE = 'envoy.tcp.metadataexchange.config.MetadataExchange';
// With `enable_discovery` a service of workloads is asked besides, which no bootstrap can name here.
const FIELDS = knownFields<Message>(['protocol', 'enable_discovery', 'additional_labels']);

export const METADATA_EXCHANGE_FILTER = networkFilter(
  NAME,
  TYPE,
  false,
  (message: Message, scope): MetadataExchange => ({
    kind: 'metadata_exchange',
    ...resolveOptions(message, scope),
  }),
);

export const UPSTREAM_METADATA_EXCHANGE = extension(NAME, TYPE, resolveOptions);

function resolveOptions(message: Message, scope: Scope): MetadataExchangeOptions {
  refuseOtherFields(message, FIELDS, scope);
  const { protocol = '' } = message;
  if (protocol === '') scope.at('protocol').error('conflict', 'metadata_exchange needs a protocol');
  return { protocol, additionalLabels: message.additional_labels ?? [] };
}
