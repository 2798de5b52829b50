/**
 * What statistics are called where a configuration names them: each kind of prefix, by each shape
 * that a prefix may have. The number in a value says in the recorded names where it came from.
 */
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import type { ConformanceCase, Question } from '../case.ts';

const PREFIXES: readonly string[] = [
  'plain0',
  'dot1.',
  'under2_',
  'dots3..',
  'in.side4',
  'col:on5',
  'url://6',
  '.before7',
  'sp ace8',
  'both9_.',
  'rbac.policy.x10',
  '11.digit',
  '12digit',
];

const TYPE = 'type.googleapis.com/envoy.extensions';
const BUCKET = { max_tokens: 1, tokens_per_fill: 1, fill_interval: '3600s' };
const HTTP2 = {
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': `${TYPE}.upstreams.http.v3.HttpProtocolOptions`,
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};
const ANYBODY = { permissions: [{ any: true }], principals: [{ any: true }] };
const RULES = { policies: { everyone: ANYBODY } };
const ODD_RULES = { policies: { 'every one.a:b': ANYBODY } };

function filter(name: string, type: string, fields: object = {}): object {
  return { name, typed_config: { '@type': `${TYPE}.${type}`, ...fields } };
}

/**
 * Only what has a name of its own differs between a server that answers and one that has just
 * started.
 */
function http(prefix: string, index: number): object {
  const rbac = {
    rules: RULES,
    rules_stat_prefix: prefix,
    shadow_rules: RULES,
    shadow_rules_stat_prefix: `shadow${prefix}`,
    track_per_rule_stats: true,
  };
  const library = filter(prefix, 'compression.gzip.compressor.v3.Gzip');
  const unpacking = filter(prefix, 'compression.gzip.decompressor.v3.Gzip');
  const limit = {
    stat_prefix: prefix,
    token_bucket: BUCKET,
    filter_enabled: { default_value: { numerator: 100 } },
  };
  const filters = [
    filter('rbac', 'filters.http.rbac.v3.RBAC', rbac),
    filter('limit', 'filters.http.local_ratelimit.v3.LocalRateLimit', limit),
    filter('compressor', 'filters.http.compressor.v3.Compressor', { compressor_library: library }),
    filter('decompressor', 'filters.http.decompressor.v3.Decompressor', {
      decompressor_library: unpacking,
    }),
    filter('router', 'filters.http.router.v3.Router'),
  ];
  return filtered(`http ${index}`, `web${index}`, filters, {
    listener: { stat_prefix: prefix },
    virtualHost: {
      name: prefix,
      virtual_clusters: [
        { name: prefix, headers: [{ name: ':path', string_match: { prefix: '/' } }] },
      ],
    },
    routeStatPrefix: prefix,
  });
}

/** The filters that count below the connection manager's own prefix. */
function manager(prefix: string, index: number): object {
  const filters = [
    filter('rbac', 'filters.http.rbac.v3.RBAC', { rules: ODD_RULES, track_per_rule_stats: true }),
    filter('fault', 'filters.http.fault.v3.HTTPFault'),
    filter('cors', 'filters.http.cors.v3.Cors'),
    filter('csrf', 'filters.http.csrf.v3.CsrfPolicy', {
      filter_enabled: { default_value: { numerator: 100 } },
    }),
    filter('tap', 'filters.http.tap.v3.Tap', {
      common_config: { admin_config: { config_id: `t${index}` } },
    }),
    filter('auth', 'filters.http.basic_auth.v3.BasicAuth', {
      users: { inline_string: 'user:{SHA}5yfRRkrhJDbomacm2lsvEdg4GyY=' },
    }),
    filter('metadata', 'filters.http.set_metadata.v3.Config', {
      metadata: [{ metadata_namespace: 'n', value: { key: 'value' } }],
    }),
    filter('health', 'filters.http.health_check.v3.HealthCheck', {
      pass_through_mode: false,
      headers: [{ name: ':path', string_match: { exact: '/health' } }],
    }),
    forward(prefix),
    filter('router', 'filters.http.router.v3.Router'),
  ];
  return filtered(`manager ${index}`, prefix, filters, {});
}

interface Extra {
  readonly listener?: object;
  readonly virtualHost?: object;
  readonly routeStatPrefix?: string;
}

function filtered(
  name: string,
  statPrefix: string,
  filters: readonly object[],
  { listener = {}, virtualHost = {}, routeStatPrefix }: Extra,
): object {
  const route = {
    match: { prefix: '/' },
    ...(routeStatPrefix === undefined
      ? { direct_response: { status: 200 } }
      : { stat_prefix: routeStatPrefix, route: { cluster: 'up' } }),
  };
  return httpListener([], {
    name,
    statPrefix,
    listener,
    hcm: {
      http_filters: filters,
      route_config: {
        virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route], ...virtualHost }],
      },
    },
  });
}

/** Network and listener filters. */
function tcp(prefix: string, index: number): object {
  const network = 'filters.network';
  const address = { socket_address: { address: '127.0.0.1', port_value: 0 } };
  return {
    name: `tcp ${index}`,
    address,
    stat_prefix: `tcp${index}`,
    listener_filters: [
      filter('proxy', 'filters.listener.proxy_protocol.v3.ProxyProtocol', {
        stat_prefix: prefix,
        allow_requests_without_proxy_protocol: true,
      }),
    ],
    filter_chains: [
      {
        filters: [
          filter('rbac', `${network}.rbac.v3.RBAC`, {
            stat_prefix: prefix,
            rules: RULES,
            shadow_rules: RULES,
            shadow_rules_stat_prefix: `shadow${prefix}`,
          }),
          filter('limit', `${network}.connection_limit.v3.ConnectionLimit`, {
            stat_prefix: prefix,
            max_connections: 9,
          }),
          filter('rate', `${network}.local_ratelimit.v3.LocalRateLimit`, {
            stat_prefix: prefix,
            token_bucket: BUCKET,
          }),
          filter('tcp', `${network}.tcp_proxy.v3.TcpProxy`, { stat_prefix: prefix, cluster: 'up' }),
        ],
      },
    ],
  };
}

/** What is asked for by name; the answer never comes, since nobody listens there. */
const NOBODY = {
  resource_api_version: 'V3',
  initial_fetch_timeout: '0.02s',
  api_config_source: {
    api_type: 'GRPC',
    transport_api_version: 'V3',
    grpc_services: [{ envoy_grpc: { cluster_name: 'nobody' } }],
  },
};

function named(prefix: string, index: number): object {
  const secret = { name: prefix, sds_config: NOBODY };
  return {
    name: `named ${index}`,
    address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
    stat_prefix: `named${index}`,
    filter_chains: [
      {
        transport_socket: filter('tls', 'transport_sockets.tls.v3.DownstreamTlsContext', {
          common_tls_context: { tls_certificate_sds_secret_configs: [secret] },
        }),
        filters: [
          filter('manager', 'filters.network.http_connection_manager.v3.HttpConnectionManager', {
            stat_prefix: prefix,
            rds: { route_config_name: prefix, config_source: NOBODY },
            http_filters: [
              {
                name: prefix,
                config_discovery: {
                  config_source: NOBODY,
                  type_urls: [`${TYPE}.filters.http.buffer.v3.Buffer`],
                },
              },
              filter('router', 'filters.http.router.v3.Router'),
            ],
          }),
        ],
      },
    ],
  };
}

/** A cache of names belongs to the filter that asks and to the cluster that it asks for. */
function cacheOf(prefix: string): object {
  return { dns_cache_config: { name: prefix, dns_lookup_family: 'V4_ONLY' } };
}

function forward(prefix: string): object {
  return filter('forward', 'filters.http.dynamic_forward_proxy.v3.FilterConfig', cacheOf(prefix));
}

function namedHosts(prefix: string, index: number): object {
  const type = 'clusters.dynamic_forward_proxy.v3.ClusterConfig';
  return {
    name: `asked${index}`,
    lb_policy: 'CLUSTER_PROVIDED',
    cluster_type: filter('envoy.clusters.dynamic_forward_proxy', type, cacheOf(prefix)),
  };
}

function monitor(prefix: string): object {
  return filter(prefix, 'resource_monitors.fixed_heap.v3.FixedHeapConfig', {
    max_heap_size_bytes: 1_099_511_627_776,
  });
}

function cluster(prefix: string, index: number, port: number): object {
  const matches = [
    {
      name: prefix,
      match: {},
      transport_socket: filter('raw', 'transport_sockets.raw_buffer.v3.RawBuffer'),
    },
  ];
  return staticCluster(index % 2 === 0 ? prefix : `other${index}`, [port], {
    ...(index % 2 === 0 ? {} : { alt_stat_name: prefix }),
    transport_socket_matches: matches,
  });
}

/** One statistic of each kind; what else there is has the same prefix. */
const KINDS = [
  'allowed|denied|shadow_allowed|shadow_denied|http_local_rate_limit\\.enabled|rate_limited',
  'downstream_cx_no_route|downstream_cx_protocol_error|active_connections|not_found_disallowed',
  'no_route|downstream_rq_http1_total|downstream_rq_3xx|downstream_rq_completed|downstream_cx_overflow',
  'compressor_library\\.zlib_errors|not_compressed|not_decompressed|upstream_rq_total',
  'aborts_injected|origin_valid|request_valid|rq_tapped|overwrite_denied|update_rejected|config_fail|key_rotation_failed|cache_load|failed_updates|request_total|degraded',
  'v1\\.error|upstream_cx_overflow|lb_healthy_panic|total_match_count|upstream_rq_retry|random_sampling',
].join('|');

const requests: readonly Question[] = PREFIXES.flatMap((_, index) =>
  ['http', 'manager'].map((kind): Question => ({
    kind: 'http',
    label: `${kind} ${index}`,
    listener: `${kind} ${index}`,
  })),
);

export const statPrefixes: ConformanceCase = {
  name: 'stat-prefixes',
  title: 'Names of statistics by every shape of a configured prefix',
  bootstrap: (upstreamPort) =>
    bootstrap(
      {
        listeners: PREFIXES.flatMap((prefix, index) => [
          http(prefix, index),
          manager(prefix, index),
          tcp(prefix, index),
          named(prefix, index),
        ]),
        clusters: [
          staticCluster('up', [upstreamPort]),
          staticCluster('nobody', [1], HTTP2),
          ...PREFIXES.map((prefix, index) => cluster(prefix, index, upstreamPort)),
          ...PREFIXES.map(namedHosts),
        ],
      },
      {
        node: { id: 'node', cluster: 'cluster' },
        overload_manager: { resource_monitors: PREFIXES.map(monitor) },
      },
    ),
  questions: [
    ...requests,
    {
      kind: 'admin',
      label: 'names',
      path: `/stats?filter=\\.(${KINDS})$`,
      sorted: true,
      ignore: /admin/,
    },
    {
      kind: 'admin',
      label: 'families and tags',
      path: `/stats/prometheus?filter=\\.(${KINDS})$`,
      sorted: true,
      ignore: /^#|^$|admin/,
    },
  ],
};
