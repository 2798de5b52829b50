/** A real provider of OpenID Connect: sign-in of a real browser by oauth2, its tokens by jwt_authn. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { staticCluster } from '../../test/support/parts/bootstrap.ts';
import { makeScratch } from '../../test/support/scratch.ts';
import { waitUntil } from '../../test/support/wait.ts';
import { programFolder } from '../programs/go-programs.ts';
import {
  check,
  passed,
  runProgram,
  type Trial,
  trialOfAll,
  type TrialOutcome,
} from '../programs/trial.ts';
import { type Browser, startBrowser } from '../support/browser.ts';
import { type Between, httpFilter, startAsking } from './between.ts';
import { type RealService, startService } from './real-service.ts';

const VERSION = '9.13.3';
const PROVIDER_MAIN = join(import.meta.dirname, 'oidc-provider-main.js');
const CLIENT = { id: 'shop', secret: 'a-secret-of-the-shop' };
const USER = 'ada';
const ID_TOKEN = 'IdToken';
/** What oauth2 keeps in the browser and believes. */
const DECIDING_COOKIES = ['OauthHMAC', 'OauthExpires', 'BearerToken', ID_TOKEN];

export const tokenTrials: readonly Trial[] = [
  trialOfAll(['npm', 'chromium'], 'oidc-provider: sign-in of a browser, and its tokens', signsIn),
];

async function signsIn(): Promise<TrialOutcome> {
  const [providerPort, webPort] = [await freePort(), await freePort()];
  const issuer = `http://localhost:${providerPort}`;
  const site = `http://localhost:${webPort}`;
  await using _ = await startProvider(providerPort, site);
  using scratch = makeScratch();
  await using running = startBrowser(scratch.path);
  await using between = await startAsking({
    filters: [oauth2(issuer), jwtAuthn(issuer)],
    clusters: [staticCluster('provider', [providerPort])],
    listener: { address: { socket_address: { address: '127.0.0.1', port_value: webPort } } },
    secrets: secrets(),
  });
  const keysOnly = await between.ask({ headers: { authorization: 'Bearer nonsense' } });
  check(keysOnly.status === 302, `without a sign-in: ${keysOnly.status}`);
  await pass(running.browser, `${site}/basket?of=${USER}`);
  await hostIsTold(between);
  await forgedTokensAreRefused(running.browser, between, site);
  return passed(`${USER} signed in, the host is told who it is; a forged token is refused`);
}

async function startProvider(port: number, site: string): Promise<RealService> {
  const folder = programFolder(`oidc-provider-${VERSION}`);
  const module = join(folder, 'node_modules/oidc-provider/lib/index.js');
  if (!existsSync(module)) {
    mkdirSync(folder, { recursive: true });
    const args = ['install', '--prefix', folder, '--no-audit', '--no-fund'];
    await runProgram('npm', [...args, `oidc-provider@${VERSION}`]);
  }
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [`${site}/callback`],
    token_endpoint_auth_method: 'client_secret_post',
  };
  const settings = { clients: [client], cookies: { keys: ['a key of the trial'] } };
  const args = [PROVIDER_MAIN, module, String(port), JSON.stringify(settings)];
  return startService({ command: process.execPath, args, ports: [port] });
}

function secrets(): readonly object[] {
  const secret = (name: string, text: string): object => ({
    name,
    generic_secret: { secret: { inline_string: text } },
  });
  return [secret('token', CLIENT.secret), secret('hmac', 'a key for the cookies')];
}

function oauth2(issuer: string): object {
  const config = {
    token_endpoint: { cluster: 'provider', uri: `${issuer}/token`, timeout: '5s' },
    authorization_endpoint: `${issuer}/auth`,
    redirect_uri: 'http://%REQ(:authority)%/callback',
    redirect_path_matcher: { path: { exact: '/callback' } },
    signout_path: { path: { exact: '/signout' } },
    auth_scopes: ['openid'],
    forward_bearer_token: true,
    credentials: {
      client_id: CLIENT.id,
      token_secret: { name: 'token' },
      hmac_secret: { name: 'hmac' },
    },
  };
  return httpFilter('oauth2', 'OAuth2', { config });
}

function jwtAuthn(issuer: string): object {
  const http_uri = { uri: `${issuer}/jwks`, cluster: 'provider', timeout: '5s' };
  return httpFilter('jwt_authn', 'JwtAuthentication', {
    providers: {
      oidc: {
        issuer,
        audiences: [CLIENT.id],
        remote_jwks: { http_uri },
        from_cookies: [ID_TOKEN],
        claim_to_headers: [{ claim_name: 'sub', header_name: 'x-user' }],
      },
    },
    rules: [{ match: { prefix: '/' }, requires: { provider_name: 'oidc' } }],
  });
}

/** Signs in and agrees on the provider's own pages, and comes back to the page it wanted. */
async function pass(browser: Browser, url: string): Promise<void> {
  await browser.open(url);
  await seen(browser, 'the sign-in page', `document.querySelector('input[name=login]') !== null`);
  await browser.evaluate(
    `{ const form = document.querySelector('input[name=login]').form; form.login.value = '${USER}'; form.password.value = 'any'; form.submit(); }`,
  );
  await seen(browser, 'the question', `document.querySelector('button[autofocus]') !== null`);
  await browser.evaluate(`document.querySelector('button[autofocus]').form.submit()`);
  await seen(browser, 'the page', `location.href === ${JSON.stringify(url)}`);
}

async function seen(browser: Browser, what: string, expression: string): Promise<void> {
  try {
    await waitUntil(what, async () => (await browser.evaluate(expression)) === true);
  } catch (error) {
    const text = String(await browser.evaluate('location.href + " " + document.body?.innerText'));
    throw new Error(`${what} was not seen: ${text.slice(0, 400)}`, { cause: error });
  }
}

async function hostIsTold({ upstream }: Between): Promise<void> {
  const request = upstream.requests.find(({ path }) => path.startsWith('/basket'));
  check(request?.headers['x-user'] === USER, `x-user: ${String(request?.headers['x-user'])}`);
  check(/^Bearer \S+$/.test(request?.headers.authorization ?? ''), 'the access token is there');
}

/** The cookies of the browser with one letter of the signature changed: back to the sign-in. */
async function forgedTokensAreRefused(
  browser: Browser,
  between: Between,
  site: string,
): Promise<void> {
  const cookies = await browser.cookies(site);
  const header = (texts: readonly { name: string; value: string }[]): string =>
    texts.map(({ name, value }) => `${name}=${value}`).join('; ');
  const host = new URL(site).host;
  const again = await between.ask({ headers: { host, cookie: header(cookies) } });
  check(again.status === 200, `the browser's cookies elsewhere: ${again.status}`);
  for (const name of DECIDING_COOKIES) {
    check(
      cookies.some((cookie) => cookie.name === name),
      `the browser has the cookie ${name}`,
    );
    const changed = cookies.map((cookie) =>
      cookie.name === name ? { ...cookie, value: flipped(cookie.value) } : cookie,
    );
    const answer = await between.ask({ headers: { host, cookie: header(changed) } });
    check(answer.status === 302, `${name} changed: ${answer.status}`);
  }
}

function flipped(text: string): string {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
}
