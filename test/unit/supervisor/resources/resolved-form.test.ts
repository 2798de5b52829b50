import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type * as listeners from '../../../../shared/resources/listener.ts';
import type { ResolvedBootstrap } from '../../../../supervisor/resolved/resolved-bootstrap.ts';
import {
  CLUSTER_ROUTE_DEFAULTS,
  LISTENER_DEFAULTS,
  MANAGER_DEFAULTS,
} from '../../../../workers/warm-up/default-resources.ts';
import { prefix, route } from '../../../support/parts/routes.ts';
import { baseBootstrap } from './base-bootstrap.ts';
import { resolveConfig } from './resolve-text.ts';

async function resolved(bootstrap: object): Promise<ResolvedBootstrap> {
  const outcome = await resolveConfig(bootstrap);
  assert.equal(outcome.kind, 'resolved', JSON.stringify(outcome));
  const { bootstrap: result, problems } = outcome.kind === 'resolved' ? outcome.resolution : {};
  assert.ok(result, JSON.stringify(problems));
  return result;
}

function managerOf({ filterChains }: listeners.ListenerResource): listeners.HttpConnectionManager {
  const filter = filterChains[0]!.networkFilters.at(-1);
  assert.ok(filter?.kind === 'http_connection_manager');
  return filter;
}

interface Base {
  static_resources: {
    listeners: {
      [field: string]: unknown;
      filter_chains: { filters: { typed_config: { [field: string]: unknown } }[] }[];
    }[];
    clusters: { [field: string]: unknown }[];
  };
}

function base(): Base {
  return baseBootstrap() as Base;
}

function withManager(fields: object): Base {
  const bootstrap = base();
  Object.assign(
    bootstrap.static_resources.listeners[0]!.filter_chains[0]!.filters[0]!.typed_config,
    fields,
  );
  return bootstrap;
}

function withCluster(fields: object): Base {
  const bootstrap = base();
  Object.assign(bootstrap.static_resources.clusters[0]!, fields);
  return bootstrap;
}

describe('a resolved listener', () => {
  it("has the API's defaults", async () => {
    const [listener] = (await resolved(base())).listeners;
    assert.deepEqual(
      { ...listener, resource: { ...listener?.resource, filterChains: [] } },
      {
        resource: {
          ...LISTENER_DEFAULTS,
          name: 'l',
          statName: '127.0.0.1_0',
          addresses: [{ kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 }],
          filterChains: [],
        },
        addresses: [
          {
            address: { kind: 'ip', family: 'v4', address: '127.0.0.1', port: 0 },
            ipv4Compat: false,
            mode: 0,
          },
        ],
        reusePort: true,
        inlineRoutes: [
          {
            virtual_hosts: [
              {
                name: 'v',
                domains: ['*'],
                routes: [{ match: { prefix: '/' }, route: { cluster: 'c' } }],
              },
            ],
          },
        ],
        inlineScopes: [],
        namedRoutes: [],
        namedScopes: [],
        namedFilters: [],
        secrets: [],
        backlog: undefined,
      },
    );
  });

  it('gets a name of its own when it has none', async () => {
    const bootstrap = base();
    delete bootstrap.static_resources.listeners[0]!['name'];
    const [listener] = (await resolved(bootstrap)).listeners;
    assert.match(listener?.resource.name ?? '', /^[0-9a-f-]{36}$/);
  });
});

describe('a resolved connection manager', () => {
  it("has the API's defaults", async () => {
    const [listener] = (await resolved(base())).listeners;
    const { routes, ...rest } = managerOf(listener!.resource);
    assert.equal(routes.kind, 'inline');
    assert.deepEqual(rest, { ...MANAGER_DEFAULTS, statPrefix: 'x' });
  });

  it("takes HTTP/1's own option for invalid messages before the general one", async () => {
    const bootstrap = withManager({
      stream_error_on_invalid_http_message: true,
      http_protocol_options: { override_stream_error_on_invalid_http_message: false },
    });
    const [listener] = (await resolved(bootstrap)).listeners;
    const manager = managerOf(listener!.resource);
    assert.equal(manager.streamErrorOnInvalidHttpMessage, false);
  });
});

describe('a resolved route', () => {
  const routes = async (route: object): Promise<unknown> => {
    const bootstrap = withManager({
      route_config: { virtual_hosts: [{ name: 'v', domains: ['A.Example'], routes: [route] }] },
    });
    const [listener] = (await resolved(bootstrap)).listeners;
    const manager = managerOf(listener!.resource);
    assert.equal(manager.routes.kind, 'inline');
    const [host] = manager.routes.kind === 'inline' ? manager.routes.config.virtualHosts : [];
    assert.deepEqual(host?.domains, ['a.example']);
    return host?.routes[0];
  };

  it("has the API's defaults", async () => {
    const cluster = { kind: 'cluster', name: 'c' } as const;
    assert.deepEqual(
      await routes({ match: { prefix: '/' }, route: { cluster: 'c' } }),
      route(prefix('/'), { ...CLUSTER_ROUTE_DEFAULTS, cluster }),
    );
  });

  it('has texts as bytes, header names in lower case and old formats in their new form', async () => {
    const route = (await routes({
      match: {
        path: '/é',
        headers: [{ name: 'Host', string_match: { prefix: 'É', ignore_case: true } }],
      },
      route: { cluster: 'c' },
      request_headers_to_add: [
        { header: { key: 'X-A', value: '%UPSTREAM_METADATA(["a", "b"])%' }, append: false },
      ],
      response_headers_to_remove: ['X-B'],
    })) as { [field: string]: unknown };
    assert.deepEqual(route['match'], {
      path: { kind: 'path', value: '/Ã©' },
      caseSensitive: true,
      headers: [
        {
          name: ':authority',
          invert: false,
          treatMissingAsEmpty: false,
          match: {
            kind: 'string',
            matcher: { kind: 'prefix', value: 'Ã\u0089', ignoreCase: true },
          },
        },
      ],
      queryParameters: [],
      grpcOnly: false,
    });
    assert.deepEqual(route['requestHeaders'], {
      add: [
        {
          name: 'x-a',
          format: '%UPSTREAM_METADATA(a:b)%',
          appendAction: 'OVERWRITE_IF_EXISTS_OR_ADD',
          keepEmptyValue: false,
        },
      ],
      remove: [],
    });
    assert.deepEqual(route['responseHeaders'], { add: [], remove: ['x-b'] });
  });

  it('sums the weights of its clusters', async () => {
    const route = (await routes({
      match: { prefix: '/' },
      route: {
        weighted_clusters: {
          clusters: [
            { name: 'c', weight: 3 },
            { name: 'c', weight: 4 },
          ],
          runtime_key_prefix: 'p',
        },
      },
    })) as { action: { cluster: { totalWeight: number; clusters: { runtimeKey: string }[] } } };
    assert.equal(route.action.cluster.totalWeight, 7);
    assert.equal(route.action.cluster.clusters[0]?.runtimeKey, 'p.c');
  });
});

describe('a resolved cluster', () => {
  it('says how often its connections over HTTP/2 ask whether the host is there', async () => {
    const bootstrap = base();
    const keepAlive = { interval: '30s', timeout: '5s' };
    bootstrap.static_resources.clusters.push({
      name: 'control',
      connect_timeout: '1s',
      load_assignment: { cluster_name: 'control' },
      http2_protocol_options: { connection_keepalive: keepAlive },
    });
    const grpc = [{ envoy_grpc: { cluster_name: 'control' } }];
    const ads = { api_type: 'GRPC', transport_api_version: 'V3', grpc_services: grpc };
    const { clusters } = await resolved({
      ...bootstrap,
      node: { id: 'me', cluster: 'mine' },
      dynamic_resources: { ads_config: ads },
    });
    const asked = { intervalMs: 30_000, timeoutMs: 5000, jitterPercent: 15, idleIntervalMs: 0 };
    assert.deepEqual(clusters.at(-1)!.resource.upstreamHttp.http2?.keepAlive, asked);
  });

  it("has the API's defaults", async () => {
    const [cluster] = (await resolved(base())).clusters;
    const limit = 1024;
    const connections = { maxConnections: limit, maxPendingRequests: limit };
    const thresholds = { ...connections, maxRequests: limit, maxRetries: 3 };
    assert.deepEqual(cluster?.resource, {
      name: 'c',
      statName: 'c',
      connectTimeoutMs: 5_000,
      lbPolicy: { kind: 'round_robin' },
      healthyPanicThreshold: 50,
      perConnectionBufferLimitBytes: 1_048_576,
      circuitBreakers: { DEFAULT: thresholds, HIGH: thresholds },
      upstreamHttp: {
        protocol: 'HTTP1',
        idleTimeoutMs: 3_600_000,
        maxStreamDurationMs: 0,
        maxResponseHeadersKb: 80,
        maxHeadersCount: 100,
      },
      tcpIdleTimeoutMs: 600_000,
      closeConnectionsOnHostHealthFailure: false,
      ignoreNewHostsUntilFirstHealthCheck: false,
      trackClusterStats: { timeoutBudgets: false, requestResponseSizes: false },
    });
    assert.deepEqual(cluster?.hosts, {
      cluster: 'c',
      overprovisioningFactor: 140,
      hosts: [
        {
          id: '127.0.0.1:1',
          address: { kind: 'ip', address: '127.0.0.1', port: 1 },
          hostname: '',
          weight: 1,
          priority: 0,
          health: 'healthy',
          region: '',
          zone: '',
          subZone: '',
          canary: false,
        },
      ],
    });
  });

  it('takes the first thresholds of each priority', async () => {
    const bootstrap = withCluster({
      circuit_breakers: {
        thresholds: [
          { priority: 'HIGH', max_requests: 1 },
          { max_connections: 2, track_remaining: true },
          { max_connections: 3 },
        ],
      },
    });
    const [cluster] = (await resolved(bootstrap)).clusters;
    assert.equal(cluster?.resource.circuitBreakers.HIGH.maxRequests, 1);
    assert.equal(cluster?.resource.circuitBreakers.DEFAULT.maxConnections, 2);
    assert.equal(cluster?.resource.circuitBreakers.DEFAULT.trackRemaining, true);
  });

  it('takes the typed HTTP options before the older fields', async () => {
    const name = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
    const bootstrap = withCluster({
      common_http_protocol_options: { idle_timeout: '1s' },
      typed_extension_protocol_options: {
        [name]: {
          '@type': `type.googleapis.com/${name}`,
          common_http_protocol_options: { idle_timeout: '2s', max_requests_per_connection: 5 },
          use_downstream_protocol_config: {},
        },
      },
    });
    const [cluster] = (await resolved(bootstrap)).clusters;
    assert.equal(cluster?.resource.upstreamHttp.idleTimeoutMs, 2_000);
    assert.equal(cluster?.resource.upstreamHttp.protocol, 'DOWNSTREAM');
    assert.equal(cluster?.resource.maxRequestsPerConnection, 5);
  });
});

describe('a resolved bootstrap', () => {
  it('raises the limit on regular expressions by a static runtime layer', async () => {
    const bootstrap = {
      ...withManager({
        route_config: {
          virtual_hosts: [
            {
              name: 'v',
              domains: ['*'],
              routes: [
                { match: { safe_regex: { regex: 'a'.repeat(200) } }, route: { cluster: 'c' } },
              ],
            },
          ],
        },
      }),
      layered_runtime: {
        layers: [{ name: 'a', static_layer: { re2: { max_program_size: { error_level: 500 } } } }],
      },
    };
    assert.equal((await resolved(bootstrap)).listeners.length, 1);
  });
});
