/** Settings of Istio's network filter metadata_exchange, of listeners and of clusters. */
import { defineTemplate } from '../../../stats/template.ts';
import { counter } from '../../../stats/templates/spec.ts';
import { declareKind } from '../declare-filter.ts';

/** Prefix: `metadata_exchange.` */
export const METADATA_EXCHANGE = defineTemplate('metadata_exchange', {
  alpn_protocol_found: counter('Connections whose ends agreed to exchange metadata'),
  alpn_protocol_not_found: counter('Connections whose ends did not'),
  header_not_found: counter('Peers whose metadata could not be read'),
  initial_header_not_found: counter('Reads of a peer without the beginning of its metadata'),
  metadata_added: counter('Connections whose peer was told of this workload'),
});

export interface MetadataExchangeOptions {
  /** What ALPN has to agree on. */
  readonly protocol: string;
  /** Labels that are told beside those of the service. */
  readonly additionalLabels: readonly string[];
}

export interface MetadataExchange extends MetadataExchangeOptions {
  readonly kind: 'metadata_exchange';
}

export const METADATA_EXCHANGE_DECLARATION = declareKind<MetadataExchange>(METADATA_EXCHANGE);
