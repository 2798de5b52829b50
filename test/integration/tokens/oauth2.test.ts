/** oauth2 in the whole program: a browser of a few lines, and a token server that obeys the test. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const TOKENS = { access_token: 'the-access', id_token: 'the-id', expires_in: 3600 };
const LONG_MS = 300;

interface TokenServer extends AsyncDisposable {
  readonly port: number;
  readonly forms: URLSearchParams[];
  answer: (request: IncomingMessage) => {
    readonly status?: number;
    readonly body: string | Buffer;
  };
  /** Nothing is answered. */
  isStuck: boolean;
}

async function startTokens(): Promise<TokenServer> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      made.forms.push(new URLSearchParams(Buffer.concat(pieces).toString()));
      if (made.isStuck) return;
      const { status = 200, body } = made.answer(request);
      response.writeHead(status).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made: TokenServer = {
    port: (server.address() as AddressInfo).port,
    forms: [],
    answer: () => ({ body: JSON.stringify(TOKENS) }),
    isStuck: false,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return made;
}

interface Parties {
  readonly sluice: Sluice;
  readonly browser: Browser;
}

async function start(upPort: number, idpPort: number, settings: object = {}): Promise<Parties> {
  const config = {
    token_endpoint: { cluster: 'idp', uri: 'http://idp.test/token', timeout: '0.5s' },
    authorization_endpoint: 'http://idp.test/authorize',
    redirect_uri: 'http://%REQ(:authority)%/callback',
    redirect_path_matcher: { path: { exact: '/callback' } },
    signout_path: { path: { exact: '/signout' } },
    forward_bearer_token: true,
    credentials: {
      client_id: 'me',
      token_secret: { name: 'token' },
      hmac_secret: { name: 'hmac' },
    },
    ...settings,
  };
  const filters = [
    {
      name: 'envoy.filters.http.oauth2',
      typed_config: { '@type': `${TYPE}.oauth2.v3.OAuth2`, config },
    },
    { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const document = bootstrap({
    listeners: [httpListener(routes, { hcm: { http_filters: filters } })],
    clusters: [staticCluster('up', [upPort]), staticCluster('idp', [idpPort])],
  }) as { static_resources: object };
  const secret = (name: string, text: string): object => ({
    name,
    generic_secret: { secret: { inline_string: text } },
  });
  const secrets = [secret('token', 'client-secret-text'), secret('hmac', 'hmac-secret-text')];
  const sluice = await startSluice({
    bootstrap: { ...document, static_resources: { ...document.static_resources, secrets } },
  });
  return { sluice, browser: new Browser(await sluice.listenerPort('web')) };
}

/** Follows nothing by itself; keeps cookies. */
class Browser {
  readonly cookies = new Map<string, string>();
  readonly #port: number;

  constructor(port: number) {
    this.#port = port;
  }

  async get(
    path: string,
    headers: Record<string, string> = {},
    more: { method?: string; body?: string } = {},
  ): ReturnType<typeof fetchOnce> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetchOnce({
      port: this.#port,
      path,
      ...more,
      headers: { host: 'app.test', ...(cookie === '' ? {} : { cookie }), ...headers },
    });
    const given = answer.headers['set-cookie'] ?? [];
    for (const text of Array.isArray(given) ? given : [given]) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === 'deleted') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Asks for a page, and comes back from the authorization server with this code. */
  async logIn(path = '/page', code = 'the-code'): ReturnType<typeof fetchOnce> {
    const sent = await this.get(path);
    assert.equal(sent.status, 302);
    const state = new URL(String(sent.headers['location'])).searchParams.get('state') ?? '';
    return this.get(`/callback?code=${code}&state=${state}`);
  }
}

describe('oauth2', () => {
  it('logs a user in, gives upstream the token in clear, and signs out', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port);
    await using _ = sluice;
    const back = await browser.logIn('/page?a=1');
    assert.equal(back.status, 302);
    assert.equal(back.headers['location'], 'http://app.test/page?a=1');
    assert.equal(idp.forms[0]?.get('grant_type'), 'authorization_code');
    assert.equal(idp.forms[0]?.get('client_secret'), 'client-secret-text');
    assert.ok(!browser.cookies.get('BearerToken')?.includes('the-access'));
    const page = await browser.get('/page');
    assert.equal(page.status, 200);
    const seen = up.requests.at(-1)?.headers;
    assert.equal(seen?.['authorization'], 'Bearer the-access');
    assert.equal(seen['cookie'], 'BearerToken=the-access; IdToken=the-id');
    await browser.get('/signout');
    assert.equal((await browser.get('/page')).status, 302);
  });

  it('takes back no changed cookie and no other host', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port, { use_refresh_token: false });
    await using _ = sluice;
    await browser.logIn();
    assert.equal((await browser.get('/page', { host: 'other.test' })).status, 302);
    for (const [name, value] of browser.cookies) {
      const first = value.startsWith('A') ? 'B' : 'A';
      browser.cookies.set(name, first + value.slice(1));
      assert.equal((await browser.get('/page')).status, 302, name);
      for (const flow of browser.cookies.keys()) {
        if (/^(?:OauthNonce|CodeVerifier)/.test(flow)) browser.cookies.delete(flow);
      }
      browser.cookies.set(name, value);
    }
    assert.equal((await browser.get('/page')).status, 200);
  });

  it('does not take a code that another browser was sent for', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port);
    await using _ = sluice;
    const sent = await browser.get('/page');
    const state = new URL(String(sent.headers['location'])).searchParams.get('state') ?? '';
    browser.cookies.clear();
    const path = `/callback?code=the-code&state=${state}`;
    assert.equal((await browser.get(path)).status, 401);
    await browser.get('/page');
    assert.equal((await browser.get(path)).status, 401);
    assert.deepEqual(idp.forms, []);
  });

  it('refreshes tokens within a request, its body too', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port);
    await using _ = sluice;
    browser.cookies.set('RefreshToken', 'unsealed');
    const page = await browser.get('/page', {}, { method: 'POST', body: 'what was posted' });
    assert.equal(page.status, 200);
    assert.equal(up.requests.at(-1)?.body, 'what was posted');
    assert.equal(idp.forms[0]?.get('grant_type'), 'refresh_token');
    assert.equal(idp.forms[0]?.get('refresh_token'), 'unsealed');
    assert.ok(browser.cookies.has('OauthHMAC'));
    assert.equal((await browser.get('/page')).status, 200);
    assert.equal(idp.forms.length, 1);
  });

  it('refuses what broken token servers answer', { timeout: 60_000 }, async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port);
    await using _ = sluice;
    const bodies = ['', '{', '[]', '{"access_token":1}', '{}', Buffer.alloc(2 * 1024 * 1024, 97)];
    for (const body of bodies) {
      idp.answer = () => ({ body });
      assert.equal((await browser.logIn()).status, 401, String(body.slice(0, 20)));
    }
    idp.answer = () => ({ status: 500, body: JSON.stringify(TOKENS) });
    assert.equal((await browser.logIn()).status, 401);
    idp.isStuck = true;
    const from = performance.now();
    assert.equal((await browser.logIn()).status, 401);
    assert.ok(performance.now() - from >= LONG_MS);
    idp.isStuck = false;
    idp.answer = () => ({ body: JSON.stringify(TOKENS) });
    assert.equal((await browser.logIn()).status, 302);
    assert.equal((await browser.get('/page')).status, 200);
  });

  it('cuts long tokens into cookies and puts them together', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port, { token_cookie_chunking: {} });
    await using _ = sluice;
    const access = 'x'.repeat(6000);
    idp.answer = () => ({ body: JSON.stringify({ access_token: access, expires_in: 60 }) });
    await browser.logIn();
    assert.equal(browser.cookies.get('BearerToken_chunks'), '2');
    assert.equal((await browser.get('/page')).status, 200);
    assert.equal(up.requests.at(-1)?.headers['authorization'], `Bearer ${access}`);
    idp.answer = () => ({
      body: JSON.stringify({ access_token: access.repeat(10), expires_in: 60 }),
    });
    browser.cookies.clear();
    assert.equal((await browser.logIn()).status, 503);
  });

  it('shows secrets and tokens in no dump and no log', async () => {
    await using up = await startHttpUpstream();
    await using idp = await startTokens();
    const { sluice, browser } = await start(up.port, idp.port);
    await using _ = sluice;
    await browser.logIn();
    await browser.get('/page');
    idp.answer = () => ({ body: JSON.stringify({ ...TOKENS, expires_in: 0 }) });
    browser.cookies.clear();
    await browser.logIn();
    const dump = await fetchOnce({ port: sluice.adminPort, path: '/config_dump' });
    const shown = String(dump.body) + sluice.stderr();
    for (const secret of ['client-secret-text', 'hmac-secret-text', 'the-access', 'the-id']) {
      assert.ok(!shown.includes(secret), secret);
    }
  });
});
