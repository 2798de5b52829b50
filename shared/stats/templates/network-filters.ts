/** Statistics of listener filters and network filters. */
import { defineTemplate } from '../template.ts';
import { counter, gauge, histogram } from './spec.ts';

/** Prefix: `tcp.<stat_prefix>.` */
export const TCP_PROXY = defineTemplate('tcp_proxy', {
  downstream_cx_drain_close: counter('Connections closed by draining'),
  downstream_cx_no_route: counter('Connections without a matching route or cluster'),
  downstream_cx_overload_close: counter('Connections closed by overload'),
  downstream_cx_rx_bytes_buffered: gauge('Received bytes that wait in connections'),
  downstream_cx_rx_bytes_total: counter('Bytes received'),
  downstream_cx_total: counter('Connections'),
  downstream_cx_tx_bytes_buffered: gauge('Always 0: the runtime and the kernel keep what waits'),
  downstream_cx_tx_bytes_total: counter('Bytes sent'),
  downstream_flow_control_paused_reading_total: counter('Times reading from clients stopped'),
  downstream_flow_control_resumed_reading_total: counter('Times reading from clients resumed'),
  early_data_received_count_total: counter(
    'Never counted: connections to the upstream wait for no data',
  ),
  idle_timeout: counter('Connections closed for being idle'),
  max_downstream_connection_duration: counter('Connections closed for their age'),
  route_delayed_total: counter('Never counted: routes of TCP connections are not fetched'),
  upstream_flush_active: gauge('Upstream connections that still send after the client has gone'),
  upstream_flush_total: counter('Upstream connections that sent on after the client had gone'),
});

/** Prefix: `connection_limit.<stat_prefix>.` */
export const CONNECTION_LIMIT = defineTemplate('connection_limit', {
  active_connections: gauge('Open connections within the limit'),
  limited_connections: counter('Connections closed by the limit'),
});

/** Prefix: `local_rate_limit.<stat_prefix>.` */
export const NETWORK_LOCAL_RATE_LIMIT = defineTemplate('network_local_rate_limit', {
  rate_limited: counter('Connections closed by the limit'),
});

/** Prefix: `ext_authz.<stat_prefix>.` */
export const NETWORK_EXT_AUTHZ = defineTemplate('network_ext_authz', {
  active: gauge('Connections that are being checked'),
  cx_closed: counter('Connections closed'),
  denied: counter('Connections that a check denied'),
  disabled: counter('Times that the filter was switched off for a connection'),
  error: counter('Checks that failed'),
  failure_mode_allowed: counter('Connections let through because their check failed'),
  ok: counter('Connections that a check let through'),
  total: counter('Checks'),
});

/** Prefix: `ratelimit.<stat_prefix>.` */
export const NETWORK_RATE_LIMIT = defineTemplate('network_rate_limit', {
  active: gauge('Connections that a service is being asked about'),
  cx_closed: counter('Connections closed'),
  error: counter('Times that the service did not answer'),
  failure_mode_allowed: counter('Connections let through because the service did not answer'),
  ok: counter('Connections within their limit'),
  over_limit: counter('Connections beyond their limit'),
  total: counter('Times that the service was asked'),
});

/** Prefix: the network filter's `stat_prefix`, then `rbac.` */
export const NETWORK_RBAC = defineTemplate('network_rbac', {
  allowed: counter('Connections allowed'),
  denied: counter('Connections denied'),
});

/** Prefix: as above, then the `shadow_rules_stat_prefix`. */
export const NETWORK_RBAC_SHADOW = defineTemplate('network_rbac_shadow', {
  shadow_allowed: counter('Connections that the shadow rules would allow'),
  shadow_denied: counter('Connections that the shadow rules would deny'),
});

/** Prefix: `tls_inspector.` */
export const TLS_INSPECTOR = defineTemplate('tls_inspector', {
  alpn_found: counter('Handshakes that name application protocols'),
  alpn_not_found: counter('Handshakes that name no application protocol'),
  client_hello_too_large: counter('Connections closed: the first message is too large'),
  sni_found: counter('Handshakes that name a server'),
  sni_not_found: counter('Handshakes that name no server'),
  tls_found: counter('Connections with TLS'),
  tls_not_found: counter('Connections without TLS'),
  bytes_processed: histogram('Bytes read to decide', 'bytes'),
});

/** Prefix: `http_inspector.` */
export const HTTP_INSPECTOR = defineTemplate('http_inspector', {
  http10_found: counter('Connections with HTTP/1.0'),
  http11_found: counter('Connections with HTTP/1.1'),
  http2_found: counter('Connections with HTTP/2'),
  http_not_found: counter('Connections without HTTP'),
  read_error: counter('Never counted: neither by Envoy'),
});

/**
 * Prefix: `proxy_proto.`, or `proxy_proto.<stat_prefix>.` The filter's older counter of connections
 * closed for an invalid header has no prefix: it is defined by name,
 * `downstream_cx_proxy_proto_error`.
 */
export const PROXY_PROTOCOL = defineTemplate('proxy_protocol', {
  not_found_allowed: counter('Connections without the header, allowed'),
  not_found_disallowed: counter('Connections without the header, refused'),
  'versions.v1.disallowed': counter('Headers of version 1 refused by configuration'),
  'versions.v1.error': counter('Invalid headers of version 1'),
  'versions.v1.found': counter('Headers of version 1'),
  'versions.v2.disallowed': counter('Headers of version 2 refused by configuration'),
  'versions.v2.error': counter('Invalid headers of version 2'),
  'versions.v2.found': counter('Headers of version 2'),
});
