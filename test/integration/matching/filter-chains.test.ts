/** Several filters in the place of one: the chains of composite, and filter_chain. */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const API = 'type.googleapis.com';
const FILTERS = `${API}/envoy.extensions.filters.http`;
const CHAIN = `${FILTERS}.filter_chain.v3.FilterChainConfig`;
const COMPOSITE = `${FILTERS}.composite.v3.Composite`;

function typed(name: string, type: string, config: object = {}): object {
  return { name, typed_config: { '@type': type, ...config } };
}

const ROUTER = typed('envoy.filters.http.router', `${FILTERS}.router.v3.Router`);

function appended(value: string): object {
  const header = { key: 'x-passed', value };
  return { append: { header, append_action: 'APPEND_IF_EXISTS_OR_ADD' } };
}

/** Writes its name into requests and responses. */
function mark(value: string): object {
  const mutations = {
    request_mutations: [appended(value)],
    response_mutations: [appended(value)],
  };
  return typed('mark', `${FILTERS}.header_mutation.v3.HeaderMutation`, { mutations });
}

const FAULT = typed('fault', `${FILTERS}.fault.v3.HTTPFault`, {
  abort: { http_status: 418, percentage: { numerator: 100 } },
});
const BUFFER = typed('buffer', `${FILTERS}.buffer.v3.Buffer`, { max_request_bytes: 10 });

function execute(config: object): object {
  return { action: typed('run', `${FILTERS}.composite.v3.ExecuteFilterAction`, config) };
}

function byKind(outcomes: object): object {
  const input = typed('kind', `${API}/envoy.type.matcher.v3.HttpRequestHeaderMatchInput`, {
    header_name: 'x-kind',
  });
  return { matcher_tree: { input, exact_match_map: { map: outcomes } } };
}

function composite(outcomes: object, more: object = {}): object {
  return typed('composite', COMPOSITE, { matcher: byKind(outcomes), ...more });
}

function chain(...filters: readonly object[]): object {
  return { typed_config: filters };
}

function filterChain(...filters: readonly object[]): object {
  return typed('chain', CHAIN, { default_filter_chain: { filters } });
}

async function startWith(filters: readonly object[], perFilter: object = {}) {
  const upstream = await startHttpUpstream((request, response) => {
    request.resume().on('end', () => response.end(String(request.headers['x-passed'])));
  });
  const routes = [
    { match: { prefix: '/own' }, route: { cluster: 'up' }, typed_per_filter_config: perFilter },
    { match: { prefix: '/' }, route: { cluster: 'up' } },
  ];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [...filters, ROUTER] } })],
      clusters: [staticCluster('up', [upstream.port])],
    }),
  });
  const port = await sluice.listenerPort('web');
  return {
    stat: (name: string) => sluice.stat(`http.web.${name}`),
    ask: (kind: string, path = '/') => fetchOnce({ port, path, headers: { 'x-kind': kind } }),
    post: (kind: string, body: string) =>
      fetchOnce({ port, method: 'POST', path: '/', headers: { 'x-kind': kind }, body }),
    async [Symbol.asyncDispose]() {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('chains of composite', () => {
  it('run in order, responses in reverse, and each of their filters may stop a request', async () => {
    const outcomes = {
      two: execute({ filter_chain: chain(mark('1'), mark('2')) }),
      fault: execute({ filter_chain: chain(mark('1'), FAULT, mark('2')) }),
      large: execute({ filter_chain: chain(mark('1'), mark('2'), BUFFER) }),
    };
    await using server = await startWith([mark('0'), composite(outcomes), mark('9')]);
    const two = await server.ask('two');
    assert.equal(two.body, '0, 1, 2, 9');
    assert.equal(two.headers['x-passed'], '9, 2, 1, 0');
    assert.equal((await server.ask('none')).body, '0, 9');
    const fault = await server.ask('fault');
    assert.deepEqual([fault.status, fault.headers['x-passed']], [418, '9, 2, 1, 0']);
    assert.equal((await server.post('large', 'x'.repeat(50))).status, 413);
    assert.equal((await server.post('large', 'small')).body, '0, 1, 2, 9');
    assert.equal(await server.stat('composite.filter_delegation_success'), 4);
  });

  it('are named, by routes too, and stand within each other', async () => {
    const named = { n: chain(mark('n1'), mark('n2')) };
    const nested = composite({ nested: execute({ filter_chain: chain(mark('a'), mark('b')) }) });
    const outcomes = {
      named: execute({ filter_chain_name: 'n' }),
      unknown: execute({ filter_chain_name: 'toString' }),
      nested: execute({ filter_chain: chain(mark('1'), nested, mark('2')) }),
      within: execute({ filter_chain: chain(filterChain(mark('1'), mark('2')), mark('3')) }),
      alone: execute({ typed_config: filterChain(mark('1'), mark('2')) }),
    };
    const own = byKind({
      named: execute({ filter_chain_name: 'n' }),
      long: execute({ filter_chain: chain(...Array.from('abcdefgh', mark)) }),
    });
    const perRoute = { composite: { '@type': `${COMPOSITE}PerRoute`, matcher: own } };
    const filter = composite(outcomes, { named_filter_chains: named });
    await using server = await startWith([filter], perRoute);
    const bodyOf = async (kind: string, path?: string) => (await server.ask(kind, path)).body;
    assert.equal(await bodyOf('named'), 'n1, n2');
    assert.equal(await bodyOf('unknown'), 'undefined');
    assert.equal(await bodyOf('nested'), '1, a, b, 2');
    assert.equal(await bodyOf('within'), '1, 2, 3');
    assert.equal(await bodyOf('named', '/own'), 'n1, n2');
    assert.equal(await bodyOf('long', '/own'), 'a, b, c, d, e, f, g, h');
    assert.equal(await server.stat('composite.filter_delegation_error'), 0);
    // As in Envoy: several filters have to be given as a chain.
    assert.equal(await bodyOf('alone'), 'undefined');
    assert.equal(await server.stat('composite.filter_delegation_error'), 1);
    assert.equal(await server.stat('composite.filter_delegation_success'), 6);
  });
});

describe('filter_chain', () => {
  it('runs the filters of its route, else its own', async () => {
    const own = { '@type': `${CHAIN}PerRoute`, filter_chain: { filters: [mark('a'), mark('b')] } };
    const filters = [mark('0'), filterChain(mark('1'), mark('2'), BUFFER), mark('9')];
    await using server = await startWith(filters, { chain: own });
    const answer = await server.ask('any');
    assert.equal(answer.body, '0, 1, 2, 9');
    assert.equal(answer.headers['x-passed'], '9, 2, 1, 0');
    assert.equal((await server.ask('any', '/own')).body, '0, a, b, 9');
    assert.equal((await server.post('any', 'x'.repeat(50))).status, 413);
    assert.equal(await server.stat('filter_chain.pass_through'), 0);
  });

  it('counts requests that have none, and gives way where a route switches it off', async () => {
    const off = { '@type': `${API}/envoy.config.route.v3.FilterConfig`, disabled: true };
    const filters = [typed('empty', CHAIN), filterChain(mark('1'))];
    await using server = await startWith(filters, { chain: off });
    assert.equal((await server.ask('any')).body, '1');
    assert.equal((await server.ask('any', '/own')).body, 'undefined');
    assert.equal(await server.stat('filter_chain.pass_through'), 2);
  });
});
