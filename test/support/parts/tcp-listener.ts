/** Listeners whose chains are plain network filters, and the TCP proxy among them. */
const TYPE = 'type.googleapis.com/envoy.extensions.filters.network';

/** One network filter: `name` is the last part of Envoy's, `type` the message behind it. */
export function networkFilter(name: string, type: string, config: object = {}): object {
  return {
    name: `envoy.filters.network.${name}`,
    typed_config: { '@type': `${TYPE}.${type}`, ...config },
  };
}

/**
 * To the cluster `up` unless told; statistics are below `tcp.<stat_prefix>.`, `tcp` unless told.
 */
export function tcpProxyFilter(config: object = {}): object {
  const target = 'weighted_clusters' in config ? {} : { cluster: 'up' };
  return networkFilter('tcp_proxy', 'tcp_proxy.v3.TcpProxy', {
    stat_prefix: 'tcp',
    ...target,
    ...config,
  });
}

/** A listener on a free port with one chain of these filters. */
export function filterListener(filters: readonly object[], fields: object = {}): object {
  return {
    name: 'tcp',
    address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
    filter_chains: [{ filters }],
    ...fields,
  };
}

/** Writes each connection's line to `path` in this format. */
export function fileLog(path: string, format: string): object {
  return {
    name: 'envoy.access_loggers.file',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog',
      path,
      log_format: { text_format_source: { inline_string: `${format}\n` } },
    },
  };
}
