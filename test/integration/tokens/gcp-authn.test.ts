/** gcp_authn through the whole program; what requests get is what Envoy gives them. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream, type HttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { errorsOf } from '../../unit/supervisor/resources/resolve-text.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const NAME = 'envoy.filters.http.gcp_authn';
const HOUR_S = 3600;
const SOON_S = 20;

function tokenFor(audience: string): string {
  const seconds = audience.includes('soon') ? SOON_S : HOUR_S;
  const exp = Math.floor(Date.now() / 1000) + seconds;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ exp, aud: audience })}.c2ln`;
}

const AUDIENCES = ['http://good', 'http://plain', 'http://refused', 'http://soon', 'a b'];

const filter = (settings: object): object => ({
  '@type': `${TYPE}.gcp_authn.v3.GcpAuthnFilterConfig`,
  cluster: 'metadata',
  timeout: '1s',
  ...settings,
});

const LISTENERS = {
  plain: {},
  kept: { cache_config: { cache_size: 1 } },
  named: { token_header: { name: 'X-Tok', value_prefix: 'T ' } },
  existing: { token_header: { name: 'authorization', preserve_existing: {} } },
  access: { audience: { access_token: { scopes: ['a', 'b'] } } },
};

function bootstrapWith(upPort: number, metadataPort: number): object {
  const routes = ['0', '1', '2', '3', '4', 'none'].map((name) => ({
    match: { prefix: `/${name}` },
    route: { cluster: `to-${name}` },
  }));
  const clusters = AUDIENCES.map((url, index) => {
    const audience = { '@type': `${TYPE}.gcp_authn.v3.Audience`, url };
    const metadata = { typed_filter_metadata: { [NAME]: audience } };
    return staticCluster(`to-${index}`, [upPort], { metadata });
  });
  const listeners = Object.entries(LISTENERS).map(([name, settings]) => {
    const http_filters = [
      { name: NAME, typed_config: filter(settings) },
      { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
    ];
    return httpListener(routes, { name, statPrefix: name, hcm: { http_filters } });
  });
  const others = [staticCluster('to-none', [upPort]), staticCluster('metadata', [metadataPort])];
  return bootstrap({ listeners, clusters: [...clusters, ...others] });
}

describe("tokens of Google's metadata server", () => {
  let upstream: HttpUpstream;
  let metadata: HttpUpstream;
  let sluice: Sluice;
  before(async () => {
    upstream = await startHttpUpstream();
    metadata = await startHttpUpstream((request, response) => {
      const { searchParams, pathname } = new URL(`http://x${request.url}`);
      const audience = searchParams.get('audience') ?? '';
      if (audience === 'http://refused') response.statusCode = 404;
      if (pathname.endsWith('/token')) return void response.end('{"access_token":"at"}');
      response.end(audience === 'http://plain' ? 'no token' : tokenFor(audience));
    });
    const config = bootstrapWith(upstream.port, metadata.port);
    sluice = await startSluice({ bootstrap: config, concurrency: 1 });
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await Promise.all([upstream.close(), metadata.close()]);
  });

  async function ask(listener: string, path: string): Promise<IncomingHttpHeaders> {
    const port = await sluice.listenerPort(listener);
    await fetchOnce({
      port,
      path,
      method: 'POST',
      body: 'hello',
      headers: { authorization: 'mine' },
    });
    const seen = upstream.requests.at(-1);
    assert.equal(seen?.body, 'hello');
    return seen?.headers ?? {};
  }
  const stat = (name: string): Promise<number> => sluice.stat(`http.${name}`);

  it('go with requests for the service that the cluster names', async () => {
    assert.match((await ask('plain', '/0')).authorization ?? '', /^Bearer ey/);
    const [asked] = metadata.requests;
    assert.equal(
      asked?.path,
      '/computeMetadata/v1/instance/service-accounts/default/identity?audience=http://good',
    );
    assert.equal(asked?.headers['metadata-flavor'], 'Google');
    assert.equal(asked?.headers.host, 'metadata.google.internal');
    assert.equal(await stat('plain.gcp_authn.token_fetch_success'), 1);
  });

  for (const path of ['/1', '/2', '/4']) {
    it(`are missing where the server gives none for ${path}: the request goes on`, async () => {
      const failed = await stat('plain.gcp_authn.token_fetch_failed');
      assert.equal((await ask('plain', path)).authorization, 'mine');
      assert.equal(await stat('plain.gcp_authn.token_fetch_failed'), failed + 1);
    });
  }

  it('are missing where the cluster names no service', async () => {
    assert.equal((await ask('plain', '/none')).authorization, 'mine');
    assert.equal(await stat('plain.gcp_authn.retrieve_audience_failed'), 1);
  });

  it('are remembered while they hold, as many as there is room for', async () => {
    for (const path of ['/0', '/0', '/3', '/3', '/0']) await ask('kept', path);
    assert.equal(await stat('kept.gcp_authn.token_cache_hit'), 2);
    assert.equal(await stat('kept.gcp_authn.token_cache_miss'), 3);
  });

  it('travel in the header that is configured', async () => {
    const headers = await ask('named', '/0');
    assert.match(String(headers['x-tok']), /^T ey/);
    assert.equal(headers.authorization, 'mine');
  });

  it('are not asked for where a request has one of its own', async () => {
    assert.equal((await ask('existing', '/0')).authorization, 'mine');
    assert.equal(await stat('existing.gcp_authn.token_fetch_success'), 0);
  });

  it("are access tokens for Google's services, too", async () => {
    assert.equal((await ask('access', '/none')).authorization, 'Bearer at');
    assert.match(metadata.requests.at(-1)?.path ?? '', /\/default\/token\?scopes=a,b$/);
  });

  it('that are bound to certificates are refused by name', async () => {
    const settings = filter({ audience: { bound_jwt: { url: 'x' } } });
    const http_filters = [{ name: NAME, typed_config: settings }];
    const errors = await errorsOf(
      bootstrap({ listeners: [httpListener([], { hcm: { http_filters } })] }),
    );
    assert.ok(errors.some(({ message }) => /bound_jwt.*not supported/.test(message)));
  });
});
