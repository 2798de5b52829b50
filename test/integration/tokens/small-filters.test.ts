/** Filters that know clients by keys and passwords, and the one that gives requests a credential. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const HTTP = `${TYPE}.filters.http`;
const SECRET = 'planted-7d1f0c';

function generic(credential: object, settings: object = {}): object {
  return {
    name: 'inject',
    typed_config: {
      '@type': `${HTTP}.credential_injector.v3.CredentialInjector`,
      credential: {
        name: 'generic',
        typed_config: {
          '@type': `${TYPE}.http.injected_credentials.generic.v3.Generic`,
          credential,
        },
      },
      ...settings,
    },
  };
}

const API_KEYS = {
  name: 'envoy.filters.http.api_key_auth',
  typed_config: {
    '@type': `${HTTP}.api_key_auth.v3.ApiKeyAuth`,
    credentials: [{ key: SECRET, client: 'alice' }],
    key_sources: [{ header: 'x-key' }, { query: 'key' }, { cookie: 'key' }],
    forwarding: { header: 'x-client', hide_credentials: true },
  },
};

async function start(upPort: number, filter: object, secrets: readonly object[] = []) {
  const router = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const made = bootstrap({
    listeners: [httpListener(routes, { hcm: { http_filters: [filter, router] } })],
    clusters: [staticCluster('up', [upPort])],
  });
  const { static_resources: resources } = made as { static_resources: object };
  const sluice = await startSluice({
    bootstrap: { ...made, static_resources: { ...resources, secrets } },
  });
  return { sluice, port: await sluice.listenerPort('web') };
}

async function assertSecretless(sluice: Sluice): Promise<void> {
  for (const path of ['/config_dump', '/config_dump?include_eds', '/stats', '/clusters']) {
    const { body } = await sluice.admin(path);
    assert.ok(!body.includes(SECRET), path);
    assert.ok(!body.includes(Buffer.from(SECRET).toString('base64')), path);
  }
  assert.ok(!sluice.stderr().includes(SECRET) && !sluice.stdout().includes(SECRET));
}

describe('small filters for credentials', () => {
  it('api_key_auth takes a key from each place, hides it, and never shows it', async () => {
    await using up = await startHttpUpstream();
    const { sluice, port } = await start(up.port, API_KEYS);
    await using _ = sluice;
    const good = [
      { headers: { 'x-key': SECRET, 'x-client': 'root' } },
      { path: `/?a=1&key=${SECRET}` },
      { headers: { cookie: `a=1; key=${SECRET}; b=2` } },
    ];
    for (const ask of good) assert.equal((await fetchOnce({ port, ...ask })).status, 200);
    for (const seen of up.requests) {
      assert.ok(!JSON.stringify([seen.path, seen.rawHeaders]).includes(SECRET));
      assert.equal(seen.rawHeaders[seen.rawHeaders.indexOf('x-client') + 1], 'alice');
    }
    for (const key of ['', 'x', `${SECRET} `.slice(1), '__proto__', 'constructor']) {
      const refused = await fetchOnce({ port, headers: { 'x-key': key } });
      assert.deepEqual([refused.status, refused.body], [401, 'Client authentication failed.'], key);
    }
    await assertSecretless(sluice);
  });

  it('credential_injector gives a secret of the bootstrap, and keeps what a client has', async () => {
    await using up = await startHttpUpstream();
    const secret = { name: 'cred', generic_secret: { secret: { inline_string: SECRET } } };
    const { sluice, port } = await start(up.port, generic({ name: 'cred' }), [secret]);
    await using _ = sluice;
    await fetchOnce({ port });
    await fetchOnce({ port, headers: { authorization: 'mine' } });
    const sent = up.requests.map(({ rawHeaders }) => {
      return rawHeaders[rawHeaders.findIndex((name) => /^authorization$/i.test(name)) + 1];
    });
    assert.deepEqual(sent, [SECRET, 'mine']);
    await assertSecretless(sluice);
  });

  it('credential_injector follows a secret that a watched file replaces', async () => {
    await using up = await startHttpUpstream();
    using scratch = makeScratch();
    const path = join(scratch.path, 'sds.json');
    const write = (to: string, value: string): void => {
      const secret = { inline_string: value };
      const resource = {
        '@type': `${TYPE}.transport_sockets.tls.v3.Secret`,
        name: 'cred',
        generic_secret: { secret },
      };
      writeFileSync(to, JSON.stringify({ resources: [resource] }));
    };
    write(path, 'first');
    const sds = { name: 'cred', sds_config: { path_config_source: { path } } };
    const { sluice, port } = await start(up.port, generic(sds));
    await using _ = sluice;
    const sentNow = async (): Promise<string | undefined> => {
      await fetchOnce({ port });
      const { rawHeaders } = up.requests.at(-1) ?? { rawHeaders: [] };
      return rawHeaders[rawHeaders.findIndex((name) => /^authorization$/i.test(name)) + 1];
    };
    await waitUntil('the first secret', async () => (await sentNow()) === 'first');
    write(`${path}.new`, 'second');
    await rename(`${path}.new`, path);
    await waitUntil('the second secret', async () => (await sentNow()) === 'second');
  });
});
