/** Filters that a tree of matchers decides about, and answers in place of others. */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const API = 'type.googleapis.com';
const FILTERS = `${API}/envoy.extensions.filters.http`;
const MATCHED = `${API}/envoy.extensions.common.matching.v3.ExtensionWithMatcher`;

function typed(name: string, type: string, config: object = {}): object {
  return { name, typed_config: { '@type': type, ...config } };
}

const ROUTER = typed('envoy.filters.http.router', `${FILTERS}.router.v3.Router`);
const SKIP = {
  action: typed('skip', `${API}/envoy.extensions.filters.common.matcher.action.v3.SkipFilter`),
};

function input(type: string, config: object = {}): object {
  return typed('input', `${API}/envoy.type.matcher.v3.${type}`, config);
}

function header(name: string): object {
  return input('HttpRequestHeaderMatchInput', { header_name: name });
}

function byHeader(name: string, outcomes: object): object {
  return { matcher_tree: { input: header(name), exact_match_map: { map: outcomes } } };
}

function byStatus(
  value: string,
  onMatch: object,
  type = 'HttpResponseStatusCodeMatchInput',
): object {
  const predicate = { single_predicate: { input: input(type), value_match: { exact: value } } };
  return { matcher_list: { matchers: [{ predicate, on_match: onMatch }] } };
}

function mutation(side: 'request' | 'response', key: string): object {
  const change = { append: { header: { key, value: 'yes' } } };
  return typed('mutate', `${FILTERS}.header_mutation.v3.HeaderMutation`, {
    mutations: { [`${side}_mutations`]: [change] },
  });
}

function matched(name: string, filter: object, tree: object): object {
  return typed(name, MATCHED, { extension_config: filter, xds_matcher: tree });
}

function execute(filter: object, more: object = {}): object {
  const type = `${FILTERS}.composite.v3.ExecuteFilterAction`;
  return { action: typed('run', type, { typed_config: filter, ...more }) };
}

const COMPOSITE = typed('composite', `${FILTERS}.composite.v3.Composite`);

async function startWith(filters: readonly object[], port: number, routes?: readonly object[]) {
  const all = routes ?? [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const hcm = { http_filters: [...filters, ROUTER] };
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(all, { hcm })],
      clusters: [staticCluster('up', [port])],
    }),
  });
  const web = await sluice.listenerPort('web');
  const ask = (headers: Readonly<Record<string, string>> = {}, path = '/') =>
    fetchOnce({ port: web, path, headers });
  return { sluice, ask };
}

describe('filters that a tree decides about', () => {
  it('are skipped where it says so, also by the response', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      if (request.url === '/404') response.statusCode = 404;
      response.end(String(request.headers['x-asked']));
    });
    const skipped = byHeader('x-skip', { now: SKIP });
    const late = byStatus('404', SKIP);
    const { sluice, ask } = await startWith(
      [
        matched('one', mutation('request', 'x-asked'), skipped),
        matched('two', mutation('response', 'x-answered'), late),
      ],
      upstream.port,
    );
    await using _ = sluice;
    assert.equal((await ask()).body, 'yes');
    assert.equal((await ask({ 'x-skip': 'now' })).body, 'undefined');
    assert.equal((await ask()).headers['x-answered'], 'yes');
    assert.equal((await ask({}, '/404')).headers['x-answered'], undefined);
  });

  it('give way to another tree where a route has one', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      response.end(String(request.headers['x-asked']));
    });
    const own = { '@type': `${MATCHED}PerRoute`, xds_matcher: byHeader('x-other', { now: SKIP }) };
    const routes = [
      {
        match: { prefix: '/own' },
        route: { cluster: 'up' },
        typed_per_filter_config: { one: own },
      },
      { match: { prefix: '/' }, route: { cluster: 'up' } },
    ];
    const filter = matched(
      'one',
      mutation('request', 'x-asked'),
      byHeader('x-skip', { now: SKIP }),
    );
    const { sluice, ask } = await startWith([filter], upstream.port, routes);
    await using _ = sluice;
    assert.equal((await ask({ 'x-skip': 'now' }, '/own')).body, 'yes');
    assert.equal((await ask({ 'x-other': 'now' }, '/own')).body, 'undefined');
    assert.equal((await ask({ 'x-other': 'now' })).body, 'yes');
  });

  it('run as composite, which counts what it runs', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      response.end(String(request.headers['x-asked']));
    });
    const abort = { http_status: 418, percentage: { numerator: 100 } };
    const never = { sample_percent: { default_value: { numerator: 0 } } };
    const tree = byHeader('x-kind', {
      mutate: execute(mutation('request', 'x-asked')),
      fault: execute(typed('f', `${FILTERS}.fault.v3.HTTPFault`, { abort })),
      never: execute(mutation('request', 'x-asked'), never),
    });
    const { sluice, ask } = await startWith([matched('c', COMPOSITE, tree)], upstream.port);
    await using _ = sluice;
    assert.equal((await ask()).body, 'undefined');
    assert.equal((await ask({ 'x-kind': 'mutate' })).body, 'yes');
    assert.equal((await ask({ 'x-kind': 'fault' })).status, 418);
    assert.equal((await ask({ 'x-kind': 'never' })).body, 'undefined');
    assert.equal(await sluice.stat('http.web.composite.filter_delegation_success'), 2);
  });
});

describe('custom_response', () => {
  const policy = (config: object): object => ({
    action: typed(
      'local',
      `${API}/envoy.extensions.http.custom_response.local_response_policy.v3.LocalResponsePolicy`,
      config,
    ),
  });

  function answers(tree: object): object {
    const type = `${FILTERS}.custom_response.v3.CustomResponse`;
    return typed('custom', type, { custom_response_matcher: tree });
  }

  it('replaces what the upstream and what the proxy itself said', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      response.statusCode = request.url === '/404' ? 404 : 200;
      response.end('x'.repeat(200_000));
    });
    const tree = byStatus(
      '404',
      policy({
        status_code: 499,
        body: { inline_string: 'nothing here' },
        response_headers_to_add: [{ header: { key: 'x-was', value: '%RESPONSE_CODE%' } }],
      }),
    );
    const routes = [
      {
        match: { prefix: '/direct' },
        direct_response: { status: 404, body: { inline_string: 'own' } },
      },
      { match: { prefix: '/' }, route: { cluster: 'up' } },
    ];
    const { sluice, ask } = await startWith([answers(tree)], upstream.port, routes);
    await using _ = sluice;
    for (const path of ['/404', '/direct', '/404']) {
      const answer = await ask({}, path);
      assert.deepEqual([answer.status, answer.body], [499, 'nothing here'], path);
      assert.equal(answer.headers['x-was'], '404');
    }
    assert.equal((await ask()).body.length, 200_000);
    assert.equal(await sluice.stat('cluster.up.upstream_rq_active'), 0);
  });

  it('tells answers of the proxy from those of a host, by an input and by an expression', async () => {
    await using upstream = await startHttpUpstream((_, response) => {
      response.statusCode = 404;
      response.end('of the host');
    });
    const single = (name: string, input: string, match: object): object => ({
      single_predicate: { input: typed(name, `${API}/${input}`, {}), ...match },
    });
    const isLocal = single('local', 'envoy.type.matcher.v3.HttpResponseLocalReplyMatchInput', {
      value_match: { exact: 'true' },
    });
    const code = { select_expr: { operand: { ident_expr: { name: 'response' } }, field: 'code' } };
    const equals404 = {
      call_expr: { function: '_==_', args: [code, { const_expr: { int64_value: 404 } }] },
    };
    const is404 = single('cel', 'xds.type.matcher.v3.HttpAttributesCelMatchInput', {
      custom_match: typed('cel', `${API}/xds.type.matcher.v3.CelMatcher`, {
        expr_match: { cel_expr_parsed: { expr: equals404 } },
      }),
    });
    const answer = policy({ body: { inline_string: 'replaced' } });
    const predicate = { and_matcher: { predicate: [isLocal, is404] } };
    const tree = { matcher_list: { matchers: [{ predicate, on_match: answer }] } };
    const routes = [
      { match: { prefix: '/404' }, direct_response: { status: 404 } },
      { match: { prefix: '/403' }, direct_response: { status: 403 } },
      { match: { prefix: '/' }, route: { cluster: 'up' } },
    ];
    const { sluice, ask } = await startWith([answers(tree)], upstream.port, routes);
    await using _ = sluice;
    const bodies = await Promise.all(
      ['/404', '/403', '/host'].map(async (path) => (await ask({}, path)).body),
    );
    assert.deepEqual(bodies, ['replaced', '', 'of the host']);
  });
});

describe('expressions of CEL', () => {
  const call = (name: string, ...args: readonly object[]): object => ({
    call_expr: { function: name, args },
  });
  const text = (value: string): object => ({ const_expr: { string_value: value } });
  const select = (operand: object, field: string): object => ({ select_expr: { operand, field } });
  const request = { ident_expr: { name: 'request' } };

  it('decide in RBAC and in matchers, and print in headers', async () => {
    await using upstream = await startHttpUpstream();
    const condition = call(
      '_==_',
      call('_[_]', select(request, 'headers'), text('x-a')),
      text('b'),
    );
    const any = [{ any: true }];
    const rules = {
      action: 'DENY',
      policies: { p: { permissions: any, principals: any, condition } },
    };
    const expression = typed('cel', `${API}/xds.type.matcher.v3.CelMatcher`, {
      expr_match: { cel_expr_string: 'request.url_path == "/skip"' },
    });
    const attributes = typed('in', `${API}/xds.type.matcher.v3.HttpAttributesCelMatchInput`);
    const predicate = { single_predicate: { input: attributes, custom_match: expression } };
    const tree = { matcher_list: { matchers: [{ predicate, on_match: SKIP }] } };
    const routes = [
      {
        match: { prefix: '/' },
        route: { cluster: 'up' },
        response_headers_to_add: [
          { header: { key: 'x-cel', value: '%CEL(request.path.matches("^/s") ? 5 % 3 : 0)%' } },
        ],
      },
    ];
    const { sluice, ask } = await startWith(
      [
        typed('rbac', `${FILTERS}.rbac.v3.RBAC`, { rules }),
        matched('one', mutation('response', 'x-answered'), tree),
      ],
      upstream.port,
      routes,
    );
    await using _ = sluice;
    assert.equal((await ask({ 'x-a': 'b' })).status, 403);
    assert.equal((await ask()).status, 200);
    assert.equal((await ask({ 'x-a': 'c' })).headers['x-answered'], 'yes');
    const skipped = await ask({}, '/skip');
    assert.equal(skipped.headers['x-answered'], undefined);
    assert.equal(skipped.headers['x-cel'], '2');
    assert.equal((await ask()).headers['x-cel'], '0');
  });
});
