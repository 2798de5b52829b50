import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type * as listeners from '../../../../shared/resources/listener.ts';
import {
  CLUSTER_ROUTE_DEFAULTS,
  LISTENER_DEFAULTS,
  MANAGER_DEFAULTS,
} from '../../../../workers/warm-up/default-resources.ts';
import { prefix, route } from '../../../support/parts/routes.ts';
import { resolved, base, withManager } from './resolved.ts';

function managerOf({ filterChains }: listeners.ListenerResource): listeners.HttpConnectionManager {
  const filter = filterChains[0]!.networkFilters.at(-1);
  assert.ok(filter?.kind === 'http_connection_manager');
  return filter;
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
