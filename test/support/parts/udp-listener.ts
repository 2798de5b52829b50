/** A listener of datagrams with a proxy of these fields. */
export function udpListener(port: number, proxy: object, fields: object = {}): object {
  return {
    name: 'udp',
    address: { socket_address: { protocol: 'UDP', address: '127.0.0.1', port_value: port } },
    listener_filters: [
      {
        name: 'envoy.filters.udp_listener.udp_proxy',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.udp.udp_proxy.v3.UdpProxyConfig',
          stat_prefix: 's',
          ...proxy,
        },
      },
    ],
    ...fields,
  };
}
