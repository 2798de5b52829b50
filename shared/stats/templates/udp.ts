/** Statistics of listeners of datagrams and of their proxy. */
import { defineTemplate } from '../template.ts';
import { counter, gauge } from './spec.ts';

/** Prefix: `listener.<stat_prefix or address with ':' as '_'>.udp.` */
export const UDP_LISTENER = defineTemplate('udp_listener', {
  downstream_rx_datagram_dropped: counter('Datagrams dropped for their length'),
});

/** Prefix: `udp.<stat_prefix>.` */
export const UDP_PROXY = defineTemplate('udp_proxy', {
  downstream_sess_active: gauge('Sessions'),
  downstream_sess_no_route: counter('Datagrams without a matching route or cluster'),
  downstream_sess_rx_bytes: counter('Bytes received from clients'),
  downstream_sess_rx_datagrams: counter('Datagrams received from clients'),
  downstream_sess_rx_errors: counter('Errors of receiving from clients'),
  downstream_sess_total: counter('Sessions begun'),
  downstream_sess_tx_bytes: counter('Bytes sent to clients'),
  downstream_sess_tx_datagrams: counter('Datagrams sent to clients'),
  downstream_sess_tx_errors: counter('Datagrams that could not be sent to clients'),
  idle_timeout: counter('Sessions ended for being idle'),
  session_filter_config_missing: counter('Never counted: session filters are not fetched'),
});

/** Prefix: `cluster.<name>.udp.`, of clusters that sessions went to. */
export const UDP_CLUSTER = defineTemplate('udp_cluster', {
  sess_rx_datagrams: counter('Datagrams received from hosts'),
  sess_rx_datagrams_dropped: counter('Datagrams of hosts dropped for their length'),
  sess_rx_errors: counter('Errors of receiving from hosts'),
  sess_tunnel_buffer_overflow: counter('Datagrams dropped because too many waited for a tunnel'),
  sess_tunnel_failure: counter('Tunnels that no attempt could open'),
  sess_tunnel_success: counter('Tunnels opened'),
  sess_tx_datagrams: counter('Datagrams sent to hosts'),
  sess_tx_errors: counter('Datagrams that could not be sent to hosts'),
});
