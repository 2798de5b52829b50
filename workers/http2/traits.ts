/** Where HTTP/2 connections of clients count. */
import { HTTP2_CODEC } from '../../shared/stats/templates/codecs.ts';
import { HTTP_CONNECTION_MANAGER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { ProtocolTraits } from '../stream/protocol-traits.ts';

const { index } = HTTP_CONNECTION_MANAGER;

export const HTTP2_TRAITS: ProtocolTraits = {
  isMultiplexed: true,
  connectionsTotal: index.downstream_cx_http2_total,
  connectionsActive: index.downstream_cx_http2_active,
  requestsTotal: index.downstream_rq_http2_total,
  endsAt: 'http2_server_go_away_and_close_on_dispatch',
  asksToLeaveAt: 'http2_server_go_away_on_dispatch',
  block: HTTP2_CODEC,
  scope: 'http2.',
  droppedHeaders: HTTP2_CODEC.index.dropped_headers_with_underscores,
  refusedUnderscores: HTTP2_CODEC.index.requests_rejected_with_underscores_in_headers,
};
