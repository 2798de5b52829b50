/** The bootstrap that `sluice reverse-proxy` runs: one listener, one cluster, safe at an edge. */
import { isIP } from '../../../shared/addresses/ip-text.ts';
import type { ListenAddress, ReverseProxyArguments, Target } from './reverse-proxy-arguments.ts';

const API = 'type.googleapis.com/envoy.extensions.';
const SYSTEM_AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt';

export function reverseProxyBootstrap(words: ReverseProxyArguments): object {
  return {
    admin: { address: socketAddress(words.admin) },
    static_resources: { listeners: [listener(words)], clusters: [cluster(words)] },
  };
}

function listener(words: ReverseProxyArguments): object {
  const { tls } = words;
  return {
    name: 'reverse_proxy',
    address: socketAddress(words.from),
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: connectionManager(words),
          },
        ],
        ...(tls === undefined ? {} : { transport_socket: downstreamTls(tls) }),
      },
    ],
  };
}

function connectionManager({ isLogging }: ReverseProxyArguments): object {
  return {
    '@type': `${API}filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'reverse_proxy',
    // The client's own address counts, and what it claims in headers does not.
    use_remote_address: true,
    upgrade_configs: [{ upgrade_type: 'websocket' }],
    route_config: {
      name: 'all',
      virtual_hosts: [
        {
          name: 'all',
          domains: ['*'],
          routes: [{ match: { prefix: '/' }, route: { cluster: 'target', timeout: '0s' } }],
        },
      ],
    },
    ...(isLogging ? { access_log: [accessLog()] } : {}),
    http_filters: [
      {
        name: 'envoy.filters.http.router',
        typed_config: { '@type': `${API}filters.http.router.v3.Router` },
      },
    ],
  };
}

function accessLog(): object {
  return {
    name: 'envoy.access_loggers.stdout',
    typed_config: { '@type': `${API}access_loggers.stream.v3.StdoutAccessLog` },
  };
}

function downstreamTls(tls: { readonly certificate: string; readonly key: string }): object {
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `${API}transport_sockets.tls.v3.DownstreamTlsContext`,
      common_tls_context: {
        alpn_protocols: ['h2', 'http/1.1'],
        tls_certificates: [
          {
            certificate_chain: { filename: tls.certificate },
            private_key: { filename: tls.key },
          },
        ],
      },
    },
  };
}

function cluster({ targets, isInsecure }: ReverseProxyArguments): object {
  const first = targets[0];
  const isByName = targets.some((target) => target.kind === 'tcp' && isIP(target.host) === 0);
  const isTls = first?.kind === 'tcp' && first.isTls;
  return {
    name: 'target',
    type: isByName ? 'STRICT_DNS' : 'STATIC',
    load_assignment: {
      cluster_name: 'target',
      endpoints: [
        {
          lb_endpoints: targets.map((target) => ({ endpoint: { address: targetAddress(target) } })),
        },
      ],
    },
    ...(isTls ? { transport_socket: upstreamTls(first.host, isInsecure) } : {}),
  };
}

function upstreamTls(host: string, isInsecure: boolean): object {
  const validation = {
    validation_context: {
      trusted_ca: { filename: SYSTEM_AUTHORITIES },
      match_typed_subject_alt_names: [
        { san_type: isIP(host) === 0 ? 'DNS' : 'IP_ADDRESS', matcher: { exact: host } },
      ],
    },
  };
  return {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': `${API}transport_sockets.tls.v3.UpstreamTlsContext`,
      ...(isIP(host) === 0 ? { sni: host } : {}),
      ...(isInsecure ? {} : { common_tls_context: validation }),
    },
  };
}

function targetAddress(target: Target): object {
  return target.kind === 'unix' ? { pipe: { path: target.path } } : socketAddress(target);
}

function socketAddress({ host, port }: ListenAddress): object {
  return {
    socket_address: {
      address: host,
      port_value: port,
      // Both families.
      ...(host === '::' ? { ipv4_compat: true } : {}),
    },
  };
}
