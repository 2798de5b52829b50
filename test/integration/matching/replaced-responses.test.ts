/** Filters that an action of composite finds elsewhere, and responses that another request replaces. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { type Sluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';

const API = 'type.googleapis.com';
const FILTERS = `${API}/envoy.extensions.filters.http`;

function typed(name: string, type: string, config: object = {}): object {
  return { name, typed_config: { '@type': type, ...config } };
}

const ROUTER = typed('envoy.filters.http.router', `${FILTERS}.router.v3.Router`);

function byHeader(outcomes: Readonly<Record<string, object>>): object {
  const input = typed('input', `${API}/envoy.type.matcher.v3.HttpRequestHeaderMatchInput`, {
    header_name: 'x-to',
  });
  const map = Object.fromEntries(
    Object.entries(outcomes).map(([value, action]) => [value, { action }]),
  );
  return { matcher_tree: { input, exact_match_map: { map } } };
}

function redirect(policy: object): object {
  const type = `${API}/envoy.extensions.http.custom_response.redirect_policy.v3.RedirectPolicy`;
  return typed('redirect', type, policy);
}

const added = (key: string, value: string): object => ({ header: { key, value } });

const REDIRECTS = {
  page: redirect({ uri: 'http://pages.example/sorry?a=1#top' }),
  marked: redirect({
    uri: 'http://pages.example/sorry',
    status_code: 299,
    request_headers_to_add: [added('x-why', '%REQ(x-to)% %REQ(:path)%')],
    response_headers_to_add: [added('x-was', '%RESPONSE_CODE%')],
  }),
  again: redirect({ uri: 'http://pages.example/broken' }),
  nowhere: redirect({ uri: 'http://nobody.example/' }),
  here: redirect({ redirect_action: { path_redirect: '/other', strip_query: true } }),
  direct: redirect({ uri: 'http://direct.example/' }),
};

describe('what stands in place of something else', () => {
  const scratch = makeScratch();
  let upstream: HttpUpstream;
  let sluice: Sluice;
  const ask = async (listener: string, to: string, more: object = {}): Promise<Answer> =>
    await fetchOnce({
      port: await sluice.listenerPort(listener),
      path: '/broken?q=1',
      headers: { host: 'h', 'x-to': to },
      ...more,
    });
  const seen = (): (string | undefined)[] => {
    const { method, path: asked, headers } = upstream.requests.at(-1) ?? assert.fail('no request');
    return [method, asked, headers.host];
  };

  before(async () => {
    upstream = await startHttpUpstream((request, response) => {
      response.statusCode = request.url?.startsWith('/broken') === true ? 503 : 200;
      response.end(String(request.headers['x-why'] ?? request.headers['x-found'] ?? 'body'));
    });
    const found = scratch.file('found.json');
    const change = { append: added('x-found', 'yes') };
    const mutate = {
      '@type': `${FILTERS}.header_mutation.v3.HeaderMutation`,
      mutations: { request_mutations: [change] },
    };
    const config = { '@type': `${API}/envoy.config.core.v3.TypedExtensionConfig` };
    writeFileSync(
      found,
      JSON.stringify({ resources: [{ ...config, name: 'found', typed_config: mutate }] }),
    );
    const dynamic = (name: string): object =>
      typed('run', `${FILTERS}.composite.v3.ExecuteFilterAction`, {
        dynamic_config: {
          name,
          config_discovery: {
            config_source: { path_config_source: { path: found } },
            type_urls: [mutate['@type']],
          },
        },
      });
    const composite = typed(
      'outer',
      `${API}/envoy.extensions.common.matching.v3.ExtensionWithMatcher`,
      {
        extension_config: typed('composite', `${FILTERS}.composite.v3.Composite`),
        xds_matcher: byHeader({ found: dynamic('found'), missing: dynamic('missing') }),
      },
    );
    const replaced = typed('replace', `${FILTERS}.custom_response.v3.CustomResponse`, {
      custom_response_matcher: byHeader(REDIRECTS),
    });
    const toUpstream = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
    const virtualHosts = [
      { name: 'h', domains: ['h'], routes: toUpstream },
      { name: 'pages', domains: ['pages.example'], routes: toUpstream },
      {
        name: 'direct',
        domains: ['direct.example'],
        routes: [
          {
            match: { prefix: '/' },
            direct_response: { status: 200, body: { inline_string: 'made here' } },
          },
        ],
      },
    ];
    const listener = (name: string, filter: object): object =>
      httpListener(toUpstream, {
        name,
        hcm: {
          stat_prefix: name,
          route_config: { virtual_hosts: virtualHosts },
          http_filters: [filter, ROUTER],
        },
      });
    sluice = await startSluice({
      bootstrap: {
        ...bootstrap({
          listeners: [listener('found', composite), listener('replaced', replaced)],
          clusters: [staticCluster('up', [upstream.port])],
        }),
        node: { id: 'n', cluster: 'c' },
      },
    });
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });

  it('runs a filter whose settings come from elsewhere, and refuses where there are none', async () => {
    assert.equal((await ask('found', 'found', { path: '/' })).body, 'yes');
    assert.equal((await ask('found', 'other', { path: '/' })).body, 'body');
    assert.equal((await ask('found', 'missing', { path: '/' })).status, 500);
  });

  it('sends the answer to another request with the status of the first', async () => {
    assert.deepEqual(
      [(await ask('replaced', 'page')).status, ...seen()],
      [503, 'GET', '/sorry?a=1', 'pages.example'],
    );
    await ask('replaced', 'here');
    assert.deepEqual(seen(), ['GET', '/other', 'h']);
    const direct = await ask('replaced', 'direct');
    assert.deepEqual([direct.status, direct.body], [503, 'made here']);
  });

  it('changes both requests and responses as configured', async () => {
    const { status, headers, body } = await ask('replaced', 'marked', { path: '/fine' });
    assert.deepEqual([status, headers['x-was'], body], [299, '200', 'marked /sorry']);
  });

  it('drops the body of the first request', async () => {
    const sent = await ask('replaced', 'page', { method: 'POST', body: 'x'.repeat(100_000) });
    assert.deepEqual([sent.status, ...seen()], [503, 'GET', '/sorry?a=1', 'pages.example']);
    assert.equal(upstream.requests.at(-1)?.headers['content-length'], undefined);
  });

  it('replaces once, and only where a route leads', async () => {
    const before = upstream.requests.length;
    assert.equal((await ask('replaced', 'again')).status, 503);
    assert.equal(upstream.requests.length, before + 2);
    assert.equal((await ask('replaced', 'nowhere')).status, 503);
    assert.deepEqual(seen(), ['GET', '/broken?q=1', 'h']);
    assert.equal(await sluice.stat('http.replaced.custom_response_redirect_no_route'), 1);
  });
});
