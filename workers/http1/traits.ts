/** Where HTTP/1 connections of clients count. */
import { HTTP1_CODEC } from '../../shared/stats/templates/codecs.ts';
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';

const { index } = HTTP_CONNECTION_MANAGER;

export const HTTP1_TRAITS: ProtocolTraits = {
  isMultiplexed: false,
  connectionsTotal: index.downstream_cx_http1_total,
  connectionsActive: index.downstream_cx_http1_active,
  requestsTotal: index.downstream_rq_http1_total,
  softDrain: index.downstream_cx_http1_soft_drain,
  shedsAt: 'http1_server_abort_dispatch',
  block: HTTP1_CODEC,
  scope: 'http1.',
  droppedHeaders: HTTP1_CODEC.index.dropped_headers_with_underscores,
  refusedUnderscores: HTTP1_CODEC.index.requests_rejected_with_underscores_in_headers,
  unsupportedMetadata: HTTP1_CODEC.index.metadata_not_supported_error,
};
