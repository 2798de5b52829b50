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
  response_flood: counter('Never counted: no request is read while answers wait'),
});

/** Prefix: `http2.` for downstream connections, `cluster.<name>.http2.` for upstream ones. */
export const HTTP2_CODEC = defineTemplate('http2_codec', {
  cookies_total_bytes_too_large: counter('Never counted: cookies are limited with the headers'),
  deferred_stream_close: gauge('Always 0: what came is passed on at once, no close waits for it'),
  dropped_headers_with_underscores: counter('Headers dropped for an underscore in their name'),
  goaway_sent: counter('GOAWAY frames sent'),
  header_list_size_too_large: counter('Streams refused: their header list is too large'),
  header_overflow: counter('Streams reset: their headers are too large'),
  headers_cb_no_stream: counter('Never counted: no stream loses its user before its headers'),
  inbound_empty_frames_flood: counter('Connections closed for empty frames in a row'),
  inbound_priority_frames_flood: counter('Connections closed for too many PRIORITY frames'),
  inbound_window_update_frames_flood: counter(
    'Connections closed for too many WINDOW_UPDATE frames',
  ),
  keepalive_timeout: counter('Connections closed: a ping was not answered'),
  metadata_empty_frames: counter('Empty METADATA frames'),
  nghttp2_downstream_connections: counter('Downstream connections on the first codec library'),
  nghttp2_upstream_connections: counter('Upstream connections on the first codec library'),
  oghttp2_downstream_connections: counter('Never counted: there is no second codec library'),
  oghttp2_upstream_connections: counter('Never counted: there is no second codec library'),
  outbound_control_flood: counter('Connections closed: too many control frames waited'),
  outbound_control_frames_active: gauge(
    'SETTINGS, PING and RST_STREAM frames that wait to be read',
  ),
  outbound_flood: counter('Connections closed: too many frames waited'),
  outbound_frames_active: gauge('Frames that wait for the peer to read'),
  pending_send_bytes: gauge('Bytes of DATA that wait for a window or for the peer to read'),
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
  cookie_count: histogram('Never recorded: it would cost time for each request'),
  cookie_size: histogram('Never recorded: it would cost time for each request', 'bytes'),
  header_count: histogram('Never recorded: it would cost time for each request'),
  header_list_size: histogram('Never recorded: it would cost time for each request', 'bytes'),
});
