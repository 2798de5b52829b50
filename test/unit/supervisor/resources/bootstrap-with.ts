import { baseBootstrap } from './base-bootstrap.ts';

/** Bootstraps with one thing that this build may not do. */

interface Base {
  static_resources: {
    listeners: {
      [field: string]: unknown;
      filter_chains: {
        [field: string]: unknown;
        filters: { name?: string; typed_config: object }[];
      }[];
    }[];
    clusters: object[];
  };
}

export function bootstrapWith(
  part: 'listener' | 'chain' | 'manager' | 'cluster' | 'bootstrap',
  fields: object,
): object {
  const bootstrap = baseBootstrap() as Base;
  const listener = bootstrap.static_resources.listeners[0]!;
  const parts = {
    listener,
    chain: listener.filter_chains[0]!,
    manager: listener.filter_chains[0]!.filters[0]!.typed_config,
    cluster: bootstrap.static_resources.clusters[0]!,
    bootstrap,
  };
  Object.assign(parts[part], fields);
  return bootstrap;
}

export const CHECK = {
  name: 'first',
  timeout: '1s',
  interval: '1s',
  unhealthy_threshold: 1,
  healthy_threshold: 1,
  tcp_health_check: {},
};

export const ROUND_ROBIN = policy('round_robin', 'RoundRobin');

export const PICK_FIRST = policy('pick_first', 'PickFirst', {});

function policy(name: string, type: string, fields: object = {}): object {
  const url = `type.googleapis.com/envoy.extensions.load_balancing_policies.${name}.v3.${type}`;
  return { typed_extension_config: { name, typed_config: { '@type': url, ...fields } } };
}

export const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router',
  },
};

export function ownRateLimits(fields: object): object {
  return {
    name: 'envoy.filters.http.local_ratelimit',
    typed_config: {
      '@type':
        'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit',
      stat_prefix: 'l',
      token_bucket: { max_tokens: 1, fill_interval: '1s' },
      rate_limits: [{ actions: [{ remote_address: {} }], ...fields }],
    },
  };
}

export function tunnel(fields: object): object {
  return {
    name: 'envoy.filters.network.tcp_proxy',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
      stat_prefix: 't',
      cluster: 'c',
      tunneling_config: { hostname: 'h:1', ...fields },
    },
  };
}
