/**
 * Filters of attempts that change while requests are under way: an attempt passes what is in force when
 * it begins, be it the first one, a retry, a hedge or a mirror.
 */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fileSource, moveIntoPlace, resource } from '../../support/peers/discovery-files.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { protocol } from '../../support/programs/http2-upstreams.ts';
import { type Sluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const MUTATION = `${TYPE}.header_mutation.v3.HeaderMutation`;
const LUA = `${TYPE}.lua.v3.Lua`;
const CODEC = {
  name: 'codec',
  typed_config: { '@type': `${TYPE}.upstream_codec.v3.UpstreamCodec` },
};
const HTTP1 = { explicit_http_config: { http_protocol_options: {} } };

const adds = (value: string): object => ({
  '@type': MUTATION,
  mutations: {
    request_mutations: [{ append: { header: { key: 'x-version', value } } }],
    response_mutations: [{ append: { header: { key: 'x-version', value } } }],
  },
});

describe('filters of attempts that change', () => {
  const scratch = makeScratch();
  const held: ServerResponse[] = [];
  let upstream: HttpUpstream;
  let sluice: Sluice;
  let port: number;
  let version = 0;

  /** What hosts got for this path, by the header of the filter. */
  const seen = (path: string): readonly (string | string[] | undefined)[] =>
    upstream.requests
      .filter((request) => request.path === path)
      .map(({ headers }) => headers['x-version']);

  function put(config: object): void {
    const extension = {
      '@type': 'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
      name: 'late',
      typed_config: config,
    };
    moveIntoPlace(scratch, 'late.json', { version: String(++version), resources: [extension] });
  }

  /** Settings of the filter by file, in force in all workers. */
  async function change(config: object): Promise<void> {
    const name = 'extension_config_discovery.upstream_http_filter.late.config_reload';
    const before = await sluice.stat(name);
    put(config);
    await sluice.waitForStat(name, (count) => count > before);
  }

  function putCluster(value: string): void {
    const options = protocol({
      ...HTTP1,
      http_filters: [{ name: 'own', typed_config: adds(value) }, CODEC],
    });
    const cluster = resource.cluster(staticCluster('changing', [upstream.port], options));
    moveIntoPlace(scratch, 'clusters.json', { version: String(++version), resources: [cluster] });
  }

  before(async () => {
    upstream = await startHttpUpstream((request, response) => {
      const tries = upstream.requests.filter(({ path }) => path === request.url).length;
      if (request.url?.startsWith('/held') === true && tries === 1) held.push(response);
      else response.end('hello');
    });
    const late = {
      name: 'late',
      config_discovery: {
        config_source: fileSource(scratch.file('late.json')),
        type_urls: [MUTATION, LUA],
      },
    };
    const live = protocol({ ...HTTP1, http_filters: [late, CODEC] });
    const routes = [
      {
        match: { path: '/held-retry' },
        route: { cluster: 'live', retry_policy: { retry_on: '5xx', num_retries: 1 } },
      },
      {
        match: { path: '/held-hedge' },
        route: {
          cluster: 'live',
          retry_policy: { retry_on: 'reset', num_retries: 1, per_try_timeout: '0.3s' },
          hedge_policy: { hedge_on_per_try_timeout: true },
        },
      },
      {
        match: { path: '/mirror' },
        route: { cluster: 'plain', request_mirror_policies: [{ cluster: 'live' }] },
      },
      { match: { prefix: '/changing' }, route: { cluster: 'changing' } },
      { match: { path: '/held-changing' }, route: { cluster: 'changing' } },
      { match: { prefix: '/' }, route: { cluster: 'live' } },
    ];
    put(adds('1'));
    putCluster('1');
    sluice = await startSluice({
      scratch,
      bootstrap: {
        ...bootstrap({
          listeners: [httpListener(routes, { hcm: { route_config: checksNoCluster(routes) } })],
          clusters: [
            staticCluster('live', [upstream.port], live),
            staticCluster('plain', [upstream.port]),
          ],
        }),
        node: { id: 'n', cluster: 'c' },
        dynamic_resources: { cds_config: fileSource(scratch.file('clusters.json')) },
      },
    });
    port = await sluice.listenerPort('web');
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });

  it('serve those under way as they began, and others as they are now', async () => {
    const first = fetchOnce({ port, path: '/held' });
    await waitUntil('it is held', () => held.length === 1);
    await change(adds('2'));
    const other = await fetchOnce({ port, path: '/other' });
    held.pop()?.end('late');
    assert.deepEqual(
      [(await first).headers['x-version'], other.headers['x-version'], seen('/other')],
      ['1', '2', ['2']],
    );
  });

  it('are on the page of the configuration', async () => {
    const { body } = await sluice.admin('/config_dump?resource=ecds_filters');
    assert.match(body, /"name": "late"[^]*HeaderMutation/);
  });

  it('may become a filter of another type, and what is wrong changes nothing', async () => {
    const script = 'function envoy_on_response(h) h:headers():add("x-version", "lua") end';
    await change({ '@type': LUA, default_source_code: { inline_string: script } });
    assert.equal((await fetchOnce({ port, path: '/lua' })).headers['x-version'], 'lua');
    put({ '@type': `${TYPE}.buffer.v3.Buffer`, max_request_bytes: 1 });
    const name = 'extension_config_discovery.upstream_http_filter.late.config_fail';
    await sluice.waitForStat(name, (count) => count === 1);
    assert.equal((await fetchOnce({ port, path: '/lua' })).headers['x-version'], 'lua');
  });

  it('change between an attempt and its retry', async () => {
    await change(adds('3'));
    const asked = fetchOnce({ port, path: '/held-retry' });
    await waitUntil('the first attempt', () => held.length === 1);
    await change(adds('4'));
    const response = held.pop();
    if (response !== undefined) response.statusCode = 503;
    response?.end();
    assert.equal((await asked).status, 200);
    assert.deepEqual(seen('/held-retry'), RETRIED);
  });

  it('change between an attempt and its hedge', async () => {
    const asked = fetchOnce({ port, path: '/held-hedge' });
    await waitUntil('the first attempt', () => held.length === 1);
    assert.equal((await asked).status, 200);
    held.pop()?.destroy();
    assert.equal(seen('/held-hedge').length, 2);
  });

  it('see mirrors', async () => {
    const answer = await fetchOnce({ port, path: '/mirror' });
    assert.equal(answer.headers['x-version'], undefined);
    await waitUntil('the mirror', () => seen('/mirror').length === 2);
    assert.deepEqual(new Set(seen('/mirror')), new Set([undefined, '4']));
  });

  it('come with a cluster that takes the place of one with requests', async () => {
    const first = fetchOnce({ port, path: '/held-changing' });
    await waitUntil('it is held', () => held.length === 1);
    const before = await sluice.stat('cluster_manager.cluster_modified');
    putCluster('2');
    await sluice.waitForStat('cluster_manager.cluster_modified', (count) => count > before);
    const other = await fetchOnce({ port, path: '/changing' });
    held.pop()?.end('late');
    assert.deepEqual([(await first).headers['x-version'], other.headers['x-version']], ['1', '2']);
  });
});

/** Routes to clusters that come later. */
function checksNoCluster(routes: readonly object[]): object {
  return {
    name: 'routes',
    validate_clusters: false,
    virtual_hosts: [{ name: 'all', domains: ['*'], routes }],
  };
}

/** Headers that an attempt has got stay for the next one. */
const RETRIED = ['3', '3, 4'];
