/** credential_injector with tokens of a token server: when it asks, what it sends, what it survives. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const STATS = 'http.web.credential_injector.oauth2';

interface TokenServer extends AsyncDisposable {
  readonly port: number;
  readonly forms: string[];
}

/** One answer after the other, the last for ever. Undefined: none at all. */
async function startTokens(answers: readonly (string | undefined)[]): Promise<TokenServer> {
  const forms: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const answer = answers[Math.min(forms.length, answers.length - 1)];
      forms.push(Buffer.concat(pieces).toString());
      if (answer !== undefined) response.end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port, forms, [Symbol.asyncDispose]: close };
}

async function start(upPort: number, idpPort: number, settings: object = {}): Promise<Sluice> {
  const credential = {
    name: 'envoy.http.injected_credentials.oauth2',
    typed_config: {
      '@type': `${TYPE}.http.injected_credentials.oauth2.v3.OAuth2`,
      token_endpoint: { cluster: 'idp', uri: 'http://idp.test/token', timeout: '0.3s' },
      scopes: ['a', 'b'],
      token_fetch_retry_interval: '1s',
      client_credentials: { client_id: 'my client', client_secret: { name: 'secret' } },
      endpoint_params: [{ name: 'audience', value: 'http://x?y' }],
      ...settings,
    },
  };
  const injector = {
    '@type': `${TYPE}.filters.http.credential_injector.v3.CredentialInjector`,
    credential,
  };
  const filters = [
    { name: 'envoy.filters.http.credential_injector', typed_config: injector },
    { name: 'router', typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const document = bootstrap({
    listeners: [httpListener(routes, { hcm: { stat_prefix: 'web', http_filters: filters } })],
    clusters: [staticCluster('up', [upPort]), staticCluster('idp', [idpPort])],
  }) as { static_resources: object };
  const secrets = [
    { name: 'secret', generic_secret: { secret: { inline_string: 'top secret&' } } },
  ];
  return startSluice({
    bootstrap: { ...document, static_resources: { ...document.static_resources, secrets } },
    concurrency: 1,
  });
}

const token = (name: string, seconds: number): string =>
  JSON.stringify({ access_token: name, expires_in: seconds });

describe('credential_injector with tokens', () => {
  it('has a token before its listener opens, and sends what Envoy sends', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens([token('first', 3600)]);
    await using sluice = await start(up.port, idp.port);
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.equal(up.requests[0]?.headers['authorization'], 'Bearer first');
    assert.deepEqual(idp.forms, [
      'grant_type=client_credentials&client_id=my%20client&client_secret=top%20secret%26' +
        '&scope=a%20b&audience=http%3A%2F%2Fx%3Fy',
    ]);
    assert.equal(await sluice.stat(`${STATS}.token_fetched`), 1);
  });

  it('fetches another one after half of its time', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens([token('first', 1), token('second', 3600)]);
    await using sluice = await start(up.port, idp.port);
    const port = await sluice.listenerPort('web');
    await sluice.waitForStat(`${STATS}.token_fetched`, (count) => count === 2);
    await fetchOnce({ port });
    assert.equal(up.requests[0]?.headers['authorization'], 'Bearer second');
  });

  it('refuses requests while a token server gives nothing usable, and asks again', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens(['{"access_token":7}', undefined, token('late', 3600)]);
    await using sluice = await start(up.port, idp.port);
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 401);
    assert.equal(await sluice.stat(`${STATS}.token_fetch_failed_on_bad_token`), 1);
    await sluice.waitForStat(`${STATS}.token_fetched`, (count) => count === 1);
    assert.equal((await fetchOnce({ port })).status, 200);
    assert.equal(await sluice.stat(`${STATS}.token_fetch_failed_on_bad_response_code`), 1);
  });

  it('opens its listener although the token server never answers', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens([undefined]);
    const endpoint = { cluster: 'idp', uri: 'http://idp.test/token', timeout: '60s' };
    await using sluice = await start(up.port, idp.port, { token_endpoint: endpoint });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port })).status, 401);
  });
});
