/** Scripts that choose the cluster of a request; each choice is Envoy's. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { errorsOf } from '../../unit/supervisor/resources/resolve-text.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.router.cluster_specifiers.lua.v3.LuaConfig';
const BY_HEADER = "return h:headers():get('X-To')";

function plugin(body: string, name = 'lua'): object {
  const inline_string = `function envoy_on_route(h) ${body} end`;
  const typed_config = { '@type': TYPE, source_code: { inline_string }, default_cluster: 'a' };
  return { extension: { name, typed_config } };
}

const inline = (prefix: string, body: string): object => ({
  match: { prefix },
  route: { inline_cluster_specifier_plugin: plugin(body) },
});

const CHOICES: readonly (readonly [
  body: string,
  to: string | undefined,
  status: number,
  by: string,
])[] = [
  [BY_HEADER, 'b', 200, 'b'],
  [BY_HEADER, undefined, 200, 'a'],
  [BY_HEADER, 'nobody', 503, ''],
  ["return h:headers():get(':path'):sub(1, 0)", 'b', 503, ''],
  ["error('x')", 'b', 200, 'a'],
  ['return 5', 'b', 503, ''],
  ['return {}', 'b', 200, 'a'],
  ["return h:headers():add('x', 'y')", 'b', 200, 'a'],
  ['while true do end', 'b', 200, 'a'],
  ["return ('b'):rep(2^30)", 'b', 200, 'a'],
];

describe('the cluster that a script chooses', () => {
  let sluice: Sluice;
  const upstreams: HttpUpstream[] = [];
  before(async () => {
    for (const name of ['a', 'b']) {
      upstreams.push(await startHttpUpstream((_, response) => response.end(name)));
    }
    const routes = CHOICES.map(([body], index) => inline(`/${index}-`, body));
    routes.push({ match: { prefix: '/named' }, route: { cluster_specifier_plugin: 'mine' } });
    const hosts = [{ name: 'all', domains: ['*'], routes }];
    const plugins = [plugin(BY_HEADER, 'mine')];
    const route_config = { virtual_hosts: hosts, cluster_specifier_plugins: plugins };
    const clusters = upstreams.map(({ port }, at) => staticCluster(at === 0 ? 'a' : 'b', [port]));
    sluice = await startSluice({
      bootstrap: bootstrap({ listeners: [httpListener([], { hcm: { route_config } })], clusters }),
      concurrency: 1,
    });
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    for (const upstream of upstreams) await upstream.close();
  });

  for (const [index, [body, to, status, by]] of CHOICES.entries()) {
    it(`is ${by || 'none'} for '${body}' and ${to ?? 'no header'}`, async () => {
      const headers = to === undefined ? {} : { 'x-to': to };
      const port = await sluice.listenerPort('web');
      const answer = await fetchOnce({ port, path: `/${index}-`, headers });
      assert.deepEqual([answer.status, answer.body], [status, by]);
    });
  }

  it('may be chosen by a plugin that the route configuration holds', async () => {
    const port = await sluice.listenerPort('web');
    const answer = await fetchOnce({ port, path: '/named', headers: { 'x-to': 'b' } });
    assert.equal(answer.body, 'b');
  });

  const REFUSED = [
    [inline('/', 'return h:getCluster("a")'), /getCluster.* not supported/],
    [inline('/', 'nonsense'), /script load error/],
    [
      { match: { prefix: '/' }, route: { cluster_specifier_plugin: 'other' } },
      /Unknown cluster specifier plugin name: other/,
    ],
  ] as const;
  for (const [route, expected] of REFUSED) {
    it(`is refused with ${expected.source}`, async () => {
      const listeners = [httpListener([route, ...GREETING])];
      const [error] = await errorsOf(bootstrap({ listeners }));
      assert.match(error?.message ?? '', expected);
    });
  }
});
