/** Filters between the router and a host: every attempt passes those of its cluster or router. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { protocol } from '../../support/programs/http2-upstreams.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const filter = (name: string, type: string, config: object = {}): object => ({
  name,
  typed_config: { '@type': `${TYPE}.${type}`, ...config },
});
const CODEC = filter('codec', 'upstream_codec.v3.UpstreamCodec');
const lua = (script: string): object =>
  filter('lua', 'lua.v3.Lua', { default_source_code: { inline_string: script } });
const adds = (key: string, value: string): object => ({ append: { header: { key, value } } });
const mutation = (key: string, value: string, name = 'mutation'): object =>
  filter(name, 'header_mutation.v3.HeaderMutation', {
    mutations: { request_mutations: [adds(key, value)], response_mutations: [adds(key, value)] },
  });
const DENIES = filter('rbac', 'rbac.v3.RBAC', {
  rules: {
    action: 'DENY',
    policies: {
      p: {
        permissions: [{ header: { name: 'x-deny', present_match: true } }],
        principals: [{ any: true }],
      },
    },
  },
});

/** Answers 503 to the first request of each path, and where asked holds its answer open. */
const SEEN = new Set<string>();
const answer: Parameters<typeof startHttpUpstream>[0] = (request, response) => {
  const { url = '' } = request;
  if (url === '/held') {
    response.writeHead(200);
    response.write('the beginning of a body that never ends');
    return;
  }
  response.statusCode = url === '/attempts' && !SEEN.has(url) ? 503 : 200;
  SEEN.add(url);
  request.resume().on('end', () => response.end('from the host'));
};

const BODIES = `
  function envoy_on_request(handle)
    handle:body():setBytes("changed")
    handle:headers():replace("content-length", "7")
  end
  function envoy_on_response(handle)
    handle:body():setBytes("other")
    handle:headers():replace("content-length", "5")
  end`;
const ANSWERS = 'function envoy_on_request(h) h:respond({[":status"] = "503"}, "own") end';
const HOLDS = 'function envoy_on_response(h) h:body() end';

/** The filters of a cluster each, whose requests have its name as their path. */
const CLUSTERS: Readonly<Record<string, readonly object[] | undefined>> = {
  attempts: [mutation('x-attempt', '%UPSTREAM_REQUEST_ATTEMPT_COUNT%')],
  bodies: [mutation('x-host', '%UPSTREAM_HOST%'), lua(BODIES)],
  answers: [lua(ANSWERS)],
  denies: [DENIES],
  plain: undefined,
  own: [mutation('x-by', 'cluster')],
  told: [mutation('x-by', 'cluster')],
  off: [mutation('x-by', 'cluster')],
  held: [lua(HOLDS)],
};
const PER_ROUTE: Readonly<Record<string, object | undefined>> = {
  told: {
    '@type': `${TYPE}.header_mutation.v3.HeaderMutationPerRoute`,
    mutations: { request_mutations: [adds('x-route', 'yes')] },
  },
  off: { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true },
};

const ROUTES = Object.keys(CLUSTERS).map((cluster) => {
  const own = PER_ROUTE[cluster];
  return {
    match: { path: `/${cluster}` },
    route: { cluster, retry_policy: { retry_on: '5xx', num_retries: 2 } },
    ...(own === undefined ? {} : { typed_per_filter_config: { mutation: own } }),
  };
});
const ROUTER = filter('router', 'router.v3.Router', {
  upstream_http_filters: [mutation('x-by', 'router'), DENIES, CODEC],
});

function clusters(port: number): readonly object[] {
  return Object.entries(CLUSTERS).map(([name, filters]) => {
    const http1 = { explicit_http_config: { http_protocol_options: {} } };
    const options = filters && protocol({ ...http1, http_filters: [...filters, CODEC] });
    return staticCluster(name, [port], options);
  });
}

// All as seen from Envoy 1.40.0.
describe('filters of attempts', () => {
  let host: HttpUpstream;
  let sluice: Sluice;
  let port: number;
  const ask = (path: string, more: object = {}): ReturnType<typeof fetchOnce> =>
    fetchOnce({ port, path: `/${path}`, ...more });
  const seenAt = (path: string): readonly HttpUpstream['requests'][number]['headers'][] =>
    host.requests.filter((request) => request.path === `/${path}`).map(({ headers }) => headers);

  before(async () => {
    host = await startHttpUpstream(answer);
    const hcm = { http_filters: [mutation('x-listener', 'yes', 'of-listener'), ROUTER] };
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener(ROUTES, { hcm })],
        clusters: clusters(host.port),
      }),
    });
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await host.close();
  });

  it('see each attempt, whose request keeps what earlier ones made of it', async () => {
    const { status, headers } = await ask('attempts');
    assert.equal(status, 200);
    const attempts = seenAt('attempts').map((each) => each['x-attempt']);
    assert.deepEqual(attempts, ['1', '1, 2']);
    assert.equal(headers['x-attempt'], '2');
  });

  it('know the host, and change bodies in both directions', async () => {
    const { body } = await ask('bodies', { method: 'POST', body: 'as the client wrote it' });
    assert.equal(body, 'other');
    assert.equal(host.requests.find(({ path }) => path === '/bodies')?.body, 'changed');
    assert.equal(seenAt('bodies')[0]?.['x-host'], `127.0.0.1:${host.port}`);
    assert.equal(await sluice.stat('cluster.bodies.lua.executions'), 2);
  });

  it('answer clients themselves: no retry follows, and filters of the listener see it', async () => {
    for (const more of [{}, { method: 'POST', body: 'b' }]) {
      const { status, body, headers } = await ask('answers', more);
      assert.deepEqual([status, body, headers['x-listener']], [503, 'own', 'yes']);
    }
    assert.equal(seenAt('answers').length, 0);
    const stats = await sluice.stats('filter=cluster.answers.upstream_rq_');
    assert.match(stats, /upstream_rq_retry: 0\n/);
    assert.match(stats, /upstream_rq_active: 0\n/);
    assert.match(stats, /upstream_rq_pending_active: 0\n/);
    assert.doesNotMatch(stats, /upstream_rq_503/);
  });

  it('count by their cluster, or by the connection manager of their router', async () => {
    for (const [path, prefix] of [
      ['denies', 'cluster.denies'],
      ['plain', 'http.web'],
    ] as const) {
      assert.equal(await sluice.stat(`${prefix}.rbac.denied`), 0);
      const denied = await ask(path, { headers: { 'x-deny': 'yes' } });
      assert.deepEqual([denied.status, denied.body], [403, 'RBAC: access denied']);
      assert.equal((await ask(path)).status, 200);
      assert.equal(await sluice.stat(`${prefix}.rbac.denied`), 1);
      assert.equal(await sluice.stat(`${prefix}.rbac.allowed`), 1);
    }
  });

  it('of a cluster take the place of those of the router', async () => {
    for (const path of ['own', 'plain']) await ask(path);
    const by = ['own', 'plain'].map((path) => seenAt(path).at(-1)?.['x-by']);
    assert.deepEqual(by, ['cluster', 'router']);
  });

  it('are told more by routes, and switched on and off by them', async () => {
    for (const path of ['told', 'off']) await ask(path);
    const [told, off] = ['told', 'off'].map((path) => seenAt(path)[0]);
    assert.deepEqual([told?.['x-by'], told?.['x-route']], ['cluster', 'yes']);
    assert.equal(off?.['x-by'], undefined);
  });

  it('let go of what they hold when the client leaves', async () => {
    const leaving = fetchOnce({ port, path: '/held' }, 300).catch(() => undefined);
    await waitUntil('the request at its host', () => seenAt('held').length === 1);
    await leaving;
    await sluice.waitForStat('cluster.held.upstream_rq_active', (value) => value === 0);
    await sluice.waitForStat('http.web.downstream_rq_active', (value) => value === 0);
  });
});
