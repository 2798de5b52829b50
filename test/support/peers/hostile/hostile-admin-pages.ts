/**
 * Requests that ask the admin interface for as much work as they can, and a server with much to
 * show.
 */
import { ADMIN } from '../../programs/sluice.ts';

export interface HostilePage {
  readonly method: 'GET' | 'POST' | 'HEAD';
  readonly target: string;
  readonly body?: string;
}

/** One cluster in so many is large, has a long name or statistics of each host. */
const LARGE_EVERY = 5000;
const LARGE_HOSTS = 20_000;

/**
 * Clusters of one host each, and among them a few with many; listeners with routes; runtime values.
 */
export function adminBootstrap(clusters: number, largeHosts = LARGE_HOSTS): object {
  return {
    admin: ADMIN,
    layered_runtime: {
      layers: [
        { name: 'static', static_layer: runtimeValues(clusters) },
        { name: 'admin', admin_layer: {} },
      ],
    },
    stats_config: { stats_tags: HOSTILE_TAGS },
    stats_sinks: [
      {
        name: 'envoy.stat_sinks.hystrix',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.config.metrics.v3.HystrixSink',
          num_buckets: '10',
        },
      },
    ],
    static_resources: {
      listeners: [listener(clusters)],
      clusters: Array.from({ length: clusters }, (_, index) => cluster(index, largeHosts)),
    },
  };
}

function runtimeValues(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key.${index}`, index]));
}

function cluster(index: number, largeHosts: number): object {
  const hosts = index % LARGE_EVERY === 1 ? largeHosts : 1;
  const name =
    index % LARGE_EVERY === 2 ? `long_${'ab'.repeat(1000)}_${index}` : `service_${index}`;
  return {
    name,
    type: 'STATIC',
    ...(index % LARGE_EVERY === 1 ? { track_cluster_stats: { per_endpoint_stats: true } } : {}),
    load_assignment: {
      cluster_name: name,
      endpoints: [
        {
          lb_endpoints: Array.from({ length: hosts }, (_, host) => ({
            endpoint: {
              address: {
                socket_address: {
                  address: `127.${1 + (index % 100)}.${host >> 8}.${host & 255}`,
                  port_value: 10_000,
                },
              },
            },
          })),
        },
      ],
    },
  };
}

function listener(routes: number): object {
  return {
    name: 'web',
    address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
    filter_chains: [
      {
        filters: [
          {
            name: 'envoy.filters.network.http_connection_manager',
            typed_config: {
              '@type':
                'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
              stat_prefix: 'web',
              route_config: {
                name: 'local',
                virtual_hosts: [
                  {
                    name: 'all',
                    domains: ['*'],
                    routes: Array.from({ length: routes }, (_, index) => ({
                      match: { path: `/route/${index}` },
                      direct_response: { status: 200, body: { inline_string: 'x' } },
                    })),
                  },
                ],
              },
              http_filters: [
                {
                  name: 'envoy.filters.http.router',
                  typed_config: {
                    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
                  },
                },
              ],
            },
          },
        ],
      },
    ],
  };
}

/** Patterns that cost backtracking engines, or automata, much. */
const HOSTILE_PATTERNS: readonly string[] = [
  '.*.*.*.*zz',
  '.*(a|b).*c',
  '(.*)(.*)(.*)(.*)(.*)x{3}y',
  '((a*)*)*$z',
  '(?:x?){100}zz',
  '[a-q][^u-z]{13}x',
  '.*a.{20}b.{20}zz',
  `(${Array.from({ length: 300 }, (_, n) => `service_${n * 7}x`).join('|')})`,
  '\\bzz\\b.*\\bup',
  '((a|b)*)*_zz',
  '((ab)+)+zz',
  '(?:(?:(?:a|b)*b)*a)*zz',
];

/** A tag of every statistic by an expression that takes for ever: it runs with a limit. */
const HOSTILE_TAGS = [
  { tag_name: 'first', regex: '.*(a|b).*(c)' },
  { tag_name: 'second', regex: '^(?=cluster)(.*)(.*)((ab)+)+zz' },
  { tag_name: 'third', regex: '(a*)*\\1zz' },
];

export function hostilePages(clusters: number): readonly HostilePage[] {
  const get = (target: string): HostilePage => ({ method: 'GET', target });
  const post = (target: string, body = ''): HostilePage => ({ method: 'POST', target, body });
  const encoded = HOSTILE_PATTERNS.map(encodeURIComponent);
  const [all = '', other = ''] = encoded;
  return [
    ...encoded.map((pattern) => get(`/stats?filter=${pattern}`)),
    ...['json', 'html', 'prometheus'].map((format) => get(`/stats?format=${format}&filter=${all}`)),
    get(`/stats?format=json&histogram_buckets=detailed&filter=${other}`),
    get('/stats'),
    get('/stats?gzip'),
    get('/stats?usedonly&hidden=only'),
    get('/stats?format=json&hidden=include'),
    get('/stats?format=html'),
    get('/stats/prometheus'),
    get('/stats/prometheus?help&text_readouts&histogram_buckets=summary'),
    get('/stats/prometheus?openmetrics'),
    get('/stats/prometheus?format=openmetrics'),
    get('/stats/prometheus?prom_protobuf'),
    get('/stats?since=now'),
    get('/stats?since=now&format=json'),
    get('/stats/recentlookups'),
    get('/clusters'),
    get('/clusters?format=json'),
    ...encoded.map((pattern) => get(`/clusters?filter=${pattern}`)),
    get('/config_dump'),
    get('/config_dump?include_eds'),
    get('/config_dump?resource=static_clusters'),
    get('/config_dump?resource=static_clusters&mask=cluster.name'),
    get('/config_dump?mask=bootstrap'),
    get('/config_dump?mask=bootstrap.static_resources,static_clusters'),
    ...encoded.map((pattern) => get(`/config_dump?name_regex=${pattern}&include_eds`)),
    get(`/config_dump?mask=${'bootstrap.node,'.repeat(3000)}x`),
    get('/certs'),
    get('/listeners'),
    get('/listeners?format=json'),
    get('/runtime'),
    get('/init_dump'),
    get('/init_dump?mask=listener'),
    get('/memory'),
    get('/memory/tcmalloc'),
    get('/server_info'),
    get('/contention'),
    get('/help'),
    get('/'),
    get('/drain_status'),
    get('/filters'),
    get('/config_history?format=json'),
    get('/config_dump?format=yaml'),
    get('/config_dump?format=bootstrap'),
    get('/connections?format=json&sort=bytes'),
    get('/explain?url=http://a.test/&header=x-a:b'),
    get('/hystrix_event_stream'),
    get('/heap_dump'),
    get('/peak_heap_dump'),
    get(`/nosuch?${'a=b&'.repeat(12_000)}`),
    get(`/${'../'.repeat(18_000)}`),
    { method: 'HEAD', target: `/stats?filter=${all}` },
    post('/reset_counters'),
    post('/logging', 'level=info'),
    post(`/logging?paths=${'http:info,'.repeat(5000)}`),
    post(`/logging`, '%41=%42&'.repeat(100_000)),
    post(`/runtime_modify`, runtimeForm(clusters)),
    post('/tap', '['.repeat(500_000)),
    post('/stats', `filter=${'(a|b)'.repeat(2000)}`),
    post('/stats', `filter=${'a?'.repeat(5000)}`),
    post('/clusters', `filter=${'['.repeat(100_000)}`),
    post('/config_dump', `name_regex=${'(a*)'.repeat(20_000)}`),
  ];
}

function runtimeForm(count: number): string {
  return Array.from({ length: count }, (_, index) => `key.${index}=${index + 1}`).join('&');
}
