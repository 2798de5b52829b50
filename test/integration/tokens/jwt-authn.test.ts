/** jwt_authn in the whole program: tokens made here, keys from the configuration or a server. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { bearer, jwks, makeSigner, type Signer } from '../../support/parts/tokens.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const GOOD = { iss: 'issuer', sub: 'alice', aud: 'us', exp: 4_102_444_800 };

interface Settings {
  readonly provider: object;
  readonly requires?: object;
  readonly clusters?: readonly object[];
}

async function start(
  upPort: number,
  { provider, requires = { provider_name: 'p' }, clusters = [] }: Settings,
  args: readonly string[] = [],
): Promise<{ readonly sluice: Sluice; readonly port: number }> {
  const filter = {
    name: 'envoy.filters.http.jwt_authn',
    typed_config: {
      '@type': `${TYPE}.jwt_authn.v3.JwtAuthentication`,
      providers: { p: { issuer: 'issuer', ...provider } },
      rules: [{ match: { prefix: '/' }, requires }],
    },
  };
  const router = { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } };
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [filter, router] } })],
      clusters: [staticCluster('up', [upPort]), ...clusters],
    }),
    args,
  });
  return { sluice, port: await sluice.listenerPort('web') };
}

interface KeyServer extends AsyncDisposable {
  readonly port: number;
  asked(): number;
}

async function startKeys(bodyOf: (asked: number) => string): Promise<KeyServer> {
  let asked = 0;
  const server = createServer((_, response) => void response.end(bodyOf(++asked)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, asked: () => asked, [Symbol.asyncDispose]: close };
}

function remote(settings: object = {}): object {
  return {
    remote_jwks: {
      http_uri: { uri: 'http://keys.test/jwks', cluster: 'keys', timeout: '1s' },
      ...settings,
    },
  };
}

const local = (signers: readonly Signer[]): object => ({
  local_jwks: { inline_string: jwks(signers) },
});

describe('jwt_authn', () => {
  it('lets good tokens of every algorithm pass and refuses those of another key', async () => {
    await using up = await startHttpUpstream();
    const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384'];
    const all = [...algorithms, 'ES512', 'HS256', 'HS384', 'HS512', 'EdDSA'];
    const signers = all.map((alg) => makeSigner(alg, { kid: alg }));
    const { sluice, port } = await start(up.port, { provider: local(signers) });
    await using _ = sluice;
    for (const signer of signers) {
      const good = await fetchOnce({ port, headers: bearer(signer.sign(GOOD)) });
      assert.equal(good.status, 200, signer.alg);
      const other = makeSigner(signer.alg, { kid: signer.kid });
      const bad = await fetchOnce({ port, headers: bearer(other.sign(GOOD)) });
      assert.deepEqual([bad.status, bad.body], [401, 'Jwt verification fails'], signer.alg);
    }
  });

  it('verifies a token that it remembers against the time and the audience again', async () => {
    await using up = await startHttpUpstream();
    const signer = makeSigner('RS256');
    const { sluice, port } = await start(up.port, {
      provider: { ...local([signer]), audiences: ['us'], jwt_cache_config: {} },
      requires: {
        requires_any: {
          requirements: [
            { provider_and_audiences: { provider_name: 'p', audiences: ['them'] } },
            { provider_name: 'p' },
          ],
        },
      },
    });
    await using _ = sluice;
    const headers = bearer(signer.sign(GOOD));
    for (const status of [200, 200])
      assert.equal((await fetchOnce({ port, headers })).status, status);
    const wrong = bearer(signer.sign({ ...GOOD, aud: 'nobody' }));
    const refused = await fetchOnce({ port, headers: wrong });
    assert.deepEqual([refused.status, refused.body], [403, 'Audiences in Jwt are not allowed']);
    assert.match(await sluice.stats('filter=jwt_authn'), /jwt_cache_hit: 2$/m);
  });

  it('never takes a public key for a secret', async () => {
    await using up = await startHttpUpstream();
    const rsa = makeSigner('RS256');
    const { sluice, port } = await start(up.port, { provider: local([rsa]) });
    await using _ = sluice;
    for (const secret of [rsa.publicPem, jwks([rsa]), rsa.publicPem.trim()]) {
      const forged = makeSigner('HS256', { secret: Buffer.from(secret) }).sign(GOOD);
      assert.equal((await fetchOnce({ port, headers: bearer(forged) })).status, 401);
    }
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;
    assert.equal((await fetchOnce({ port, headers: bearer(none) })).status, 401);
  });

  it('fetches keys when a token wants them, once for all that wait', async () => {
    await using up = await startHttpUpstream();
    const signer = makeSigner('ES256');
    await using keys = await startKeys(() => jwks([signer]));
    const clusters = [staticCluster('keys', [keys.port])];
    const { sluice, port } = await start(up.port, { provider: remote(), clusters });
    await using _ = sluice;
    const headers = bearer(signer.sign(GOOD));
    const answers = await Promise.all([1, 2, 3, 4].map(() => fetchOnce({ port, headers })));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal(keys.asked(), 1);
  });

  it('has keys before its listener opens where they are fetched ahead', async () => {
    await using up = await startHttpUpstream();
    const signer = makeSigner('EdDSA');
    await using keys = await startKeys(() => jwks([signer]));
    const provider = remote({ async_fetch: {}, cache_duration: '600s' });
    const clusters = [staticCluster('keys', [keys.port])];
    const { sluice, port } = await start(up.port, { provider, clusters });
    await using _ = sluice;
    assert.equal(keys.asked(), 1);
    const good = await fetchOnce({ port, headers: bearer(signer.sign(GOOD)) });
    assert.equal(good.status, 200);
    assert.equal(keys.asked(), 1);
  });

  it('refuses while the server of keys answers badly, and goes on when it is well', async () => {
    await using up = await startHttpUpstream();
    const signer = makeSigner('RS256');
    const huge = 'x'.repeat(3 * 1024 * 1024);
    const bodies = ['<html>', '{"keys":[]}', huge, jwks([signer])];
    await using keys = await startKeys((asked) => bodies[asked - 1] ?? '');
    const clusters = [staticCluster('keys', [keys.port])];
    const { sluice, port } = await start(up.port, { provider: remote(), clusters });
    await using _ = sluice;
    const headers = bearer(signer.sign(GOOD));
    for (const status of [401, 401, 401, 200]) {
      assert.equal((await fetchOnce({ port, headers })).status, status);
    }
    assert.match(
      await sluice.stats('filter=jwt_authn'),
      /jwks_fetch_failed: 3\n.*jwks_fetch_success: 1$/m,
    );
  });

  it('writes no token anywhere, at any level of the log', async () => {
    await using up = await startHttpUpstream();
    const signer = makeSigner('RS256');
    const { sluice, port } = await start(up.port, { provider: local([signer]) }, ['-l', 'trace']);
    await using _ = sluice;
    const good = signer.sign(GOOD);
    const bad = makeSigner('RS256').sign({ ...GOOD, sub: 'mallory' });
    for (const token of [good, bad, `${good}x`]) {
      await fetchOnce({ port, headers: bearer(token) });
      await fetchOnce({ port, path: `/?access_token=${token}` });
    }
    const pages = ['/config_dump', '/stats', '/clusters', '/listeners', '/server_info'];
    const shown = await Promise.all(pages.map(async (page) => (await sluice.admin(page)).body));
    const all = [...shown, sluice.stderr(), sluice.stdout()].join('\n');
    for (const token of [good, bad]) {
      for (const part of token.split('.').slice(1)) assert.ok(!all.includes(part));
    }
  });
});
