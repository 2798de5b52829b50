/** Limits that Envoy keeps over a whole process, each behind a listener of its own. */
import { httpListener, staticCluster } from '../parts/bootstrap.ts';
import { filterListener, networkFilter, tcpProxyFilter } from '../parts/tcp-listener.ts';

const EXTENSIONS = 'type.googleapis.com/envoy.extensions';
const HTTP = `${EXTENSIONS}.filters.http`;
const ROUTER = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };

/** What passes at once, or ever. */
export const LIMIT = 5;
const BUCKET = { max_tokens: LIMIT, tokens_per_fill: 1, fill_interval: '3600s' };
const ALWAYS = { default_value: { numerator: 100 } };

export interface WorkerLimit {
  readonly name: string;
  readonly listener: object;
  /** Of its own where it is the cluster that is limited. */
  readonly cluster?: (port: number) => object;
  /**
   * Where those that pass stay, so that their number at one moment is limited: at the host, or in the
   * filter; undefined: what is limited is their number in a time.
   */
  readonly heldAt?: 'host' | 'filter';
  /** What is beyond the limit waits, and is not refused. */
  readonly waits?: true;
}

const routesTo = (cluster: string, fields: object = {}): readonly object[] => [
  { match: { prefix: '/' }, route: { cluster, timeout: '0s', ...fields } },
];

function filtered(name: string, message: string, config: object, route: object = {}): object {
  const filter = { name, typed_config: { '@type': `${HTTP}.${message}`, ...config } };
  return httpListener(routesTo('up', route), {
    name,
    statPrefix: name,
    hcm: { http_filters: [filter, ROUTER] },
  });
}

function local(name: string, config: object): object {
  const limits = [
    { actions: [{ request_headers: { header_name: 'x-who', descriptor_key: 'who' } }] },
  ];
  const settings = {
    stat_prefix: name,
    token_bucket: BUCKET,
    filter_enabled: ALWAYS,
    filter_enforced: ALWAYS,
    ...config,
  };
  return filtered(name, 'local_ratelimit.v3.LocalRateLimit', settings, { rate_limits: limits });
}

const descriptors = (value: object): object => ({
  token_bucket: { ...BUCKET, max_tokens: 1000 },
  descriptors: [{ entries: [{ key: 'who', ...value }], token_bucket: BUCKET }],
});

function network(name: string, type: string, config: object): object {
  const filter = networkFilter(name, type, { stat_prefix: name, ...config });
  return filterListener([filter, tcpProxyFilter()], { name });
}

function breaker(name: string, threshold: object, kind = 'thresholds'): WorkerLimit {
  const circuit_breakers = { [kind]: [threshold] };
  return {
    name,
    listener: httpListener(routesTo(name), { name, statPrefix: name }),
    cluster: (port) => staticCluster(name, [port], { circuit_breakers }),
    heldAt: 'host',
  };
}

const GRADIENT = {
  sample_aggregate_percentile: { value: 50 },
  concurrency_limit_params: { concurrency_update_interval: '0.1s' },
  min_rtt_calc_params: { interval: '60s', request_count: 50, min_concurrency: LIMIT },
};

export const WORKER_LIMITS: readonly WorkerLimit[] = [
  { name: 'local', listener: local('local', {}) },
  {
    name: 'local-descriptor',
    listener: local('local-descriptor', descriptors({ value: 'me' })),
  },
  { name: 'local-any', listener: local('local-any', descriptors({})) },
  {
    name: 'local_ratelimit',
    listener: network('local_ratelimit', 'local_ratelimit.v3.LocalRateLimit', {
      token_bucket: BUCKET,
    }),
  },
  {
    name: 'connection_limit',
    listener: network('connection_limit', 'connection_limit.v3.ConnectionLimit', {
      max_connections: LIMIT,
    }),
    heldAt: 'host',
  },
  {
    name: 'faults',
    listener: filtered('faults', 'fault.v3.HTTPFault', {
      max_active_faults: LIMIT,
      delay: { fixed_delay: '600s', percentage: { numerator: 100 } },
    }),
    heldAt: 'filter',
  },
  {
    name: 'gradient',
    listener: filtered('gradient', 'adaptive_concurrency.v3.AdaptiveConcurrency', {
      gradient_controller_config: GRADIENT,
      enabled: { default_value: true, runtime_key: 'gradient' },
    }),
    heldAt: 'host',
  },
  breaker('requests', { max_requests: LIMIT }),
  { ...breaker('connections', { max_connections: LIMIT }), waits: true },
  {
    ...breaker('host-connections', { max_connections: LIMIT }, 'per_host_thresholds'),
    waits: true,
  },
];
