/** Statistics of the HTTP codecs, which exist once the codec has been used. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram } from './spec.ts';

/** Prefix: `http1.` for downstream connections, `cluster.<name>.http1.` for upstream ones. */
export const HTTP1_CODEC = defineTemplate('http1_codec', {
  dropped_headers_with_underscores: counter('Headers dropped for an underscore in their name'),
  metadata_not_supported_error: counter('Metadata dropped: HTTP/1 cannot carry it'),
  requests_rejected_with_underscores_in_headers: counter(
    'Requests refused for an underscore in a header name',
  ),
  response_flood: counter('Connections closed: too many answers waited to be sent'),
});

/** Prefix: `http2.` for downstream connections, `cluster.<name>.http2.` for upstream ones. */
export const HTTP2_CODEC = defineTemplate('http2_codec', {
  cookies_total_bytes_too_large: counter('Requests refused: their cookies are too large'),
  deferred_stream_close: gauge('Streams that close once their data is sent'),
  dropped_headers_with_underscores: counter('Headers dropped for an underscore in their name'),
  goaway_sent: counter('GOAWAY frames sent'),
  header_list_size_too_large: counter('Streams refused: their header list is too large'),
  header_overflow: counter('Streams reset: their headers are too large'),
  headers_cb_no_stream: counter('Header frames for a stream that does not exist'),
  inbound_empty_frames_flood: counter('Connections closed for empty frames in a row'),
  inbound_priority_frames_flood: counter('Connections closed for too many PRIORITY frames'),
  inbound_window_update_frames_flood: counter(
    'Connections closed for too many WINDOW_UPDATE frames',
  ),
  keepalive_timeout: counter('Connections closed: a ping was not answered'),
  metadata_empty_frames: counter('Empty METADATA frames'),
  nghttp2_downstream_connections: counter('Downstream connections on the first codec library'),
  nghttp2_upstream_connections: counter('Upstream connections on the first codec library'),
  oghttp2_downstream_connections: counter('Downstream connections on the second codec library'),
  oghttp2_upstream_connections: counter('Upstream connections on the second codec library'),
  outbound_control_flood: counter('Connections closed: too many control frames waited'),
  outbound_control_frames_active: gauge('Control frames that wait to be sent'),
  outbound_flood: counter('Connections closed: too many frames waited'),
  outbound_frames_active: gauge('Frames that wait to be sent'),
  pending_send_bytes: gauge('Bytes that wait to be sent'),
  requests_rejected_with_underscores_in_headers: counter(
    'Requests refused for an underscore in a header name',
  ),
  rx_messaging_error: counter('Invalid messages'),
  rx_reset: counter('RST_STREAM frames received'),
  stream_refused_errors: counter('Streams refused by the peer'),
  streams_active: gauge('Open streams'),
  trailers: counter('Messages with trailers'),
  tx_flush_timeout: counter('Streams reset: no window to send in came in time'),
  tx_reset: counter('RST_STREAM frames sent'),
  cookie_count: histogram('Cookies per request'),
  cookie_size: histogram('Sizes of cookies', 'bytes'),
  header_count: histogram('Headers per message'),
  header_list_size: histogram('Sizes of header lists', 'bytes'),
});
