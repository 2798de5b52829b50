import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FilterSkips } from '../../../../supervisor/resolved/filter-skips.ts';
import { bootstrap, httpListener, staticCluster } from '../../../support/parts/bootstrap.ts';
import { NO_OVERRIDES, resolveConfig } from './resolve-text.ts';

const PREFIX = 'type.googleapis.com';
const HTTP = `${PREFIX}/envoy.extensions.filters.http`;
const WASM = 'envoy.extensions.filters.http.wasm.v3.Wasm';
const NETWORK_WASM = 'envoy.extensions.filters.network.wasm.v3.Wasm';
const ORIGINAL_SRC = 'envoy.extensions.filters.listener.original_src.v3.OriginalSrc';

/** Of any type, as one that only another build has. */
function filter(name: string, type: string, value: object = {}): object {
  const url = `${PREFIX}/${type}`;
  const struct = { '@type': `${PREFIX}/xds.type.v3.TypedStruct`, type_url: url, value };
  return { name, typed_config: struct };
}

const ROUTER = filter(
  'envoy.filters.http.router',
  'envoy.extensions.filters.http.router.v3.Router',
);
const CODEC = filter('codec', 'envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec');

function http(filters: readonly object[], route: object = {}, more: object = {}): object {
  const routes = [{ match: { prefix: '/' }, direct_response: { status: 200 }, ...route }];
  const listener = httpListener(routes, { hcm: { http_filters: filters } });
  return bootstrap({ listeners: [{ ...listener, ...more }] });
}

function network(filters: readonly object[]): object {
  const echo = filter('echo', 'envoy.extensions.filters.network.echo.v3.Echo');
  const { address } = httpListener([]) as { address: object };
  const chains = [{ filters: [...filters, echo] }];
  return bootstrap({ listeners: [{ name: 'web', address, filter_chains: chains }] });
}

function upstream(filters: readonly object[]): object {
  const options = {
    '@type': `${PREFIX}/envoy.extensions.upstreams.http.v3.HttpProtocolOptions`,
    explicit_http_config: { http_protocol_options: {} },
    http_filters: [...filters, CODEC],
  };
  const extra = {
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': options,
    },
  };
  return bootstrap({ clusters: [staticCluster('up', [1], extra)] });
}

function discovered(name: string, type: string): object {
  const ads = { ads: {}, resource_api_version: 'V3' };
  return { name, config_discovery: { config_source: ads, type_urls: [`${PREFIX}/${type}`] } };
}

/** The rules of what is said of a configuration. */
async function rulesOf(file: object, listed: readonly string[] | undefined): Promise<string> {
  const outcome = await resolveConfig(file, {
    ...NO_OVERRIDES,
    filterSkips: new FilterSkips(listed),
  });
  const { problems } = outcome.kind === 'invalid' ? outcome : outcome.resolution;
  return problems.map(({ rule }) => rule).join(' ');
}

const settings = { '@type': `${PREFIX}/${WASM}` };
const perRoute = { typed_per_filter_config: { mine: settings } };
const mongo = filter('mongo', 'envoy.extensions.filters.network.mongo_proxy.v3.MongoProxy', {
  stat_prefix: 'm',
});

const CASES: readonly (readonly [
  what: string,
  file: object,
  listed: readonly string[] | undefined,
  rules: string,
])[] = [
  [
    'what only observes',
    http([filter('istio.stats', 'stats.PluginConfig'), ROUTER]),
    [],
    'skipped',
  ],
  ['the same without the option', network([mongo]), undefined, 'unsupported'],
  ['a network filter that only observes', network([mongo]), [], 'skipped'],
  ['what may do anything', http([filter('mine', WASM), ROUTER]), [], 'unsupported'],
  ['the same by its name', http([filter('mine', WASM), ROUTER]), ['mine'], 'skipped'],
  ['the same by its type', http([filter('mine', WASM), ROUTER]), [WASM], 'skipped'],
  ['settings of routes', http([filter('mine', WASM), ROUTER], perRoute), [WASM], 'skipped skipped'],
  ['a network filter', network([filter('mine', NETWORK_WASM)]), [NETWORK_WASM], 'skipped'],
  [
    'a listener filter',
    http([ROUTER], {}, { listener_filters: [filter('source', ORIGINAL_SRC)] }),
    ['source'],
    'skipped',
  ],
  ['a filter of a cluster', upstream([filter('mine', WASM)]), ['mine'], 'skipped'],
  ['settings from elsewhere', http([discovered('mine', WASM), ROUTER]), ['mine'], 'skipped'],
  ['what ends a chain', http([filter('mine', WASM)]), ['mine'], 'unsupported'],
  [
    'a type of access',
    http([filter('mine', 'acme.ext_authz.Config'), ROUTER]),
    ['mine'],
    'any.unknown_type',
  ],
  ['a name of access', http([filter('my-auth', WASM), ROUTER]), [WASM], 'unsupported'],
  [
    'a filter that there is, with a mistake',
    http([
      { name: 'mine', typed_config: { '@type': `${HTTP}.fault.v3.HTTPFault`, abort: {} } },
      ROUTER,
    ]),
    ['mine'],
    'validate.oneof.required',
  ],
];

describe('filters that --unsupported-filters leaves out', () => {
  for (const [what, file, listed, rules] of CASES) {
    it(what, async () => assert.equal(await rulesOf(file, listed), rules));
  }

  it('are told once and counted each time, before anybody listens too', () => {
    const skips = new FilterSkips([]);
    const counts: number[] = [];
    assert.deepEqual([skips.note('one'), skips.note('one')], [true, false]);
    skips.countInto((count) => counts.push(count));
    assert.equal(skips.note('two'), true);
    assert.deepEqual(counts, [2, 1]);
  });
});
