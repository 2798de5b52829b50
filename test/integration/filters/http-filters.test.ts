import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const ROUTER = {
  name: 'envoy.filters.http.router',
  typed_config: { '@type': `${TYPE}.router.v3.Router` },
};
const ALWAYS = { default_value: { numerator: 100 } };

interface Filter {
  readonly name: string;
  readonly type: string;
  readonly config: object;
  /** Off but where a route turns it on. */
  readonly disabled?: true;
}

async function startWith(
  filter: Filter,
  port: number,
  route: object = {},
  concurrency = 1,
): Promise<{ sluice: Sluice; port: number }> {
  const own = {
    name: filter.name,
    ...(filter.disabled === true ? { disabled: true } : {}),
    typed_config: { '@type': `${TYPE}.${filter.type}`, ...filter.config },
  };
  const routes = [
    { match: { prefix: '/special' }, route: { cluster: 'up' }, ...route },
    { match: { prefix: '/' }, route: { cluster: 'up' } },
  ];
  const sluice = await startSluice({
    concurrency,
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [own, ROUTER] } })],
      clusters: [staticCluster('up', [port])],
    }),
  });
  return { sluice, port: await sluice.listenerPort('web') };
}

describe('HTTP filters', () => {
  it('go without settings of a route that are optional and not known', async () => {
    await using upstream = await startHttpUpstream();
    const config = { '@type': `${TYPE}.wasm.v3.Wasm` };
    const optional = {
      '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig',
      is_optional: true,
      config,
    };
    const filter = { name: 'cors', type: 'cors.v3.Cors', config: {} };
    const policy = { typed_per_filter_config: { other: optional } };
    const { sluice, port } = await startWith(filter, upstream.port, policy);
    await using _ = sluice;
    assert.equal((await fetchOnce({ port, path: '/special' })).status, 200);
  });

  it('are used where they are optional and known, as TypedStruct too, and so are settings of routes', async () => {
    const struct = (type: string, value: object): object => ({
      '@type': 'type.googleapis.com/xds.type.v3.TypedStruct',
      type_url: `${TYPE}.${type}`,
      value,
    });
    const abort = (http_status: number): object =>
      struct('fault.v3.HTTPFault', { abort: { http_status, percentage: { numerator: 100 } } });
    const fault = { name: 'fault', is_optional: true, typed_config: abort(418) };
    const missing = { name: 'gone', is_optional: true, typed_config: struct('gone.v3.Gone', {}) };
    const special = { typed_per_filter_config: { fault: abort(429) } };
    const answer = { direct_response: { status: 200 } };
    const routes = [
      { match: { prefix: '/special' }, ...answer, ...special },
      { match: { prefix: '/' }, ...answer },
    ];
    const hcm = { http_filters: [fault, missing, ROUTER] };
    await using sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener(routes, { hcm })] }),
    });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 418);
    assert.equal((await fetchOnce({ port, path: '/special' })).status, 429);
  });

  it('cors answers preflights and marks answers for allowed origins only', async () => {
    await using upstream = await startHttpUpstream();
    const filter = { name: 'cors', type: 'cors.v3.Cors', config: {} };
    const policy = {
      typed_per_filter_config: {
        cors: {
          '@type': `${TYPE}.cors.v3.CorsPolicy`,
          allow_origin_string_match: [{ exact: 'http://good.test' }],
          allow_methods: 'GET',
        },
      },
    };
    const { sluice, port } = await startWith(filter, upstream.port, policy);
    await using _ = sluice;
    const ask = (origin: string, method = 'GET'): ReturnType<typeof fetchOnce> =>
      fetchOnce({
        port,
        path: '/special',
        method,
        headers: { origin, 'access-control-request-method': 'GET' },
      });
    const preflight = await ask('http://good.test', 'OPTIONS');
    assert.equal(preflight.headers['access-control-allow-methods'], 'GET');
    assert.equal(upstream.requests.length, 0);
    assert.equal(
      (await ask('http://good.test')).headers['access-control-allow-origin'],
      'http://good.test',
    );
    assert.equal((await ask('http://bad.test')).headers['access-control-allow-origin'], undefined);
    assert.equal(await sluice.stat('http.web.cors.origin_invalid'), 1);
  });

  it('fault aborts before the upstream is asked, and counts', async () => {
    await using upstream = await startHttpUpstream();
    const abort = { http_status: 418, percentage: { numerator: 100 } };
    const filter = { name: 'fault', type: 'fault.v3.HTTPFault', config: { abort } };
    const { sluice, port } = await startWith(filter, upstream.port);
    await using _ = sluice;
    const answer = await fetchOnce({ port });
    assert.deepEqual([answer.status, answer.body], [418, 'fault filter abort']);
    assert.equal(upstream.requests.length, 0);
    assert.equal(await sluice.stat('http.web.fault.aborts_injected'), 1);
    assert.equal(await sluice.stat('http.web.fault.active_faults'), 0);
  });

  it('fault aborts with words of its own', async () => {
    await using upstream = await startHttpUpstream();
    const abort = { http_status: 429, percentage: { numerator: 100 }, response_body: 'később' };
    const filter = { name: 'fault', type: 'fault.v3.HTTPFault', config: { abort } };
    const { sluice, port } = await startWith(filter, upstream.port);
    await using _ = sluice;
    const answer = await fetchOnce({ port });
    assert.deepEqual([answer.status, answer.body], [429, 'később']);
  });

  it('a client that leaves during a delay frees its fault', async () => {
    await using upstream = await startHttpUpstream();
    const delay = { fixed_delay: '600s', percentage: { numerator: 100 } };
    const filter = { name: 'fault', type: 'fault.v3.HTTPFault', config: { delay } };
    const { sluice, port } = await startWith(filter, upstream.port);
    await using _ = sluice;
    const client = await openRaw(port);
    client.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
    await sluice.waitForStat('http.web.fault.delays_injected', (count) => count === 1);
    client.destroy();
    await sluice.waitForStat('http.web.fault.active_faults', (count) => count === 0);
  });

  it('local_ratelimit refuses what is beyond the one bucket of all workers', async () => {
    await using upstream = await startHttpUpstream();
    const filter = {
      name: 'limit',
      type: 'local_ratelimit.v3.LocalRateLimit',
      config: {
        stat_prefix: 'rl',
        token_bucket: { max_tokens: 4, fill_interval: '600s' },
        filter_enabled: ALWAYS,
        filter_enforced: ALWAYS,
      },
    };
    const { sluice, port } = await startWith(filter, upstream.port, {}, 2);
    await using _ = sluice;
    const statuses = [];
    for (let i = 0; i < 16; i++) statuses.push((await fetchOnce({ port })).status);
    const expected = [...Array<number>(4).fill(200), ...Array<number>(12).fill(429)];
    assert.deepEqual(statuses, expected);
    assert.equal(await sluice.stat('rl.http_local_rate_limit.enforced'), 12);
  });

  it('rbac denies by policy, and a route may switch the filter off', async () => {
    await using upstream = await startHttpUpstream();
    const policies = { all: { permissions: [{ any: true }], principals: [{ any: true }] } };
    const filter = {
      name: 'rbac',
      type: 'rbac.v3.RBAC',
      config: { rules: { action: 'DENY', policies } },
    };
    const off = {
      typed_per_filter_config: {
        rbac: { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true },
      },
    };
    const { sluice, port } = await startWith(filter, upstream.port, off);
    await using _ = sluice;
    const denied = await fetchOnce({ port });
    assert.deepEqual([denied.status, denied.body], [403, 'RBAC: access denied']);
    assert.equal((await fetchOnce({ port, path: '/special' })).status, 200);
    assert.equal(await sluice.stat('http.web.rbac.denied'), 1);
  });

  it('rbac that is off by default is on where a route has an empty configuration', async () => {
    await using upstream = await startHttpUpstream();
    const policies = { all: { permissions: [{ any: true }], principals: [{ any: true }] } };
    const config = { rules: { action: 'DENY', policies } };
    const type = 'type.googleapis.com/envoy.config.route.v3.FilterConfig';
    const on = { typed_per_filter_config: { rbac: { '@type': type, config: {} } } };
    const filter = { name: 'rbac', type: 'rbac.v3.RBAC', config, disabled: true } as const;
    const { sluice, port } = await startWith(filter, upstream.port, on);
    await using _ = sluice;
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.equal((await fetchOnce({ port, path: '/special' })).status, 403);
  });

  it('buffer gives a length to a chunked request, and refuses a large one', async () => {
    await using upstream = await startHttpUpstream();
    const filter = { name: 'buffer', type: 'buffer.v3.Buffer', config: { max_request_bytes: 10 } };
    const { sluice, port } = await startWith(filter, upstream.port);
    await using _ = sluice;
    const post = (body: string): ReturnType<typeof fetchOnce> =>
      fetchOnce({ port, method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } });
    assert.equal((await post('0123456789')).status, 200);
    assert.equal(upstream.requests[0]?.headers['content-length'], '10');
    assert.equal((await post('0123456789a')).status, 413);
    assert.equal(upstream.requests.length, 1);
  });

  it('health_check answers by itself, fails on request, and is not counted as traffic', async () => {
    await using upstream = await startHttpUpstream();
    const headers = [{ name: ':path', string_match: { exact: '/hc' } }];
    const filter = {
      name: 'hc',
      type: 'health_check.v3.HealthCheck',
      config: { pass_through_mode: false, headers },
    };
    const { sluice, port } = await startWith(filter, upstream.port);
    await using _ = sluice;
    assert.equal((await fetchOnce({ port, path: '/hc' })).status, 200);
    assert.equal((await sluice.admin({ path: '/healthcheck/fail', method: 'POST' })).status, 200);
    await sluice.settled();
    const failed = await fetchOnce({ port, path: '/hc' });
    assert.equal(failed.status, 503);
    assert.equal(failed.headers['x-envoy-immediate-health-check-fail'], 'true');
    assert.equal((await fetchOnce({ port, path: '/x' })).headers.connection, 'close');
    await sluice.admin({ path: '/healthcheck/ok', method: 'POST' });
    await sluice.settled();
    assert.equal((await fetchOnce({ port, path: '/hc' })).status, 200);
    assert.equal(upstream.requests.length, 1);
    assert.equal(await sluice.stat('http.web.downstream_rq_completed'), 1);
    assert.equal(await sluice.stat('http.web.health_check.failed'), 1);
  });

  it('header_mutation changes both directions', async () => {
    await using upstream = await startHttpUpstream();
    const filter = {
      name: 'mutate',
      type: 'header_mutation.v3.HeaderMutation',
      config: {
        mutations: {
          request_mutations: [
            { remove: 'x-secret' },
            { append: { header: { key: 'x-added', value: '%REQ(:METHOD)%' } } },
          ],
          response_mutations: [{ append: { header: { key: 'x-out', value: 'yes' } } }],
        },
      },
    };
    const { sluice, port } = await startWith(filter, upstream.port);
    await using _ = sluice;
    const answer = await fetchOnce({ port, headers: { 'x-secret': 's' } });
    assert.equal(answer.headers['x-out'], 'yes');
    assert.equal(upstream.requests[0]?.headers['x-secret'], undefined);
    assert.equal(upstream.requests[0]?.headers['x-added'], 'GET');
  });
});
