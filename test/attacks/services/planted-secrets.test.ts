/**
 * A secret stands in each place that may have one, of the configuration and of the traffic, and every
 * text that the server gives is searched for all of them, as they are and in base64.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { bearer, makeSigner } from '../../support/parts/tokens.ts';
import { fileSource, moveIntoPlace } from '../../support/peers/discovery-files.ts';
import { type Answer, type Ask, fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, type Sluice, startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import {
  CONFIG_YAML,
  plantedBootstrap,
  REFUSED_LISTENER,
} from '../../support/secrets/planted-config.ts';
import { HTTP_LISTENERS } from '../../support/secrets/planted-managers.ts';
import { DUMPED, HIDDEN, PASSWORD, planted } from '../../support/secrets/planted-names.ts';
import {
  changed,
  CHANGES,
  makeSecrets,
  makeToken,
  serve,
} from '../../support/secrets/planted-traffic.ts';
import { waitUntil } from '../../support/wait.ts';

describe('secrets that are planted everywhere', () => {
  const scratch = makeScratch();
  const certificate = makeAuthority(scratch.path).issue('web', 'DNS:web.test');
  const token = makeToken();
  const secrets = makeSecrets(certificate, token);
  const logPath = scratch.file('access.log');
  let up: HttpUpstream;
  let sluice: Sluice;
  let configuration: object;

  /** Those of the text, but for places that may be there. */
  function found(text: string, allowed: readonly string[] = []): readonly string[] {
    return [...secrets]
      .filter(([place]) => !allowed.includes(place))
      .filter(([, forms]) => forms.some((form) => text.includes(form)))
      .map(([place]) => place);
  }

  async function ask(name: string, more: Partial<Ask> = {}): Promise<Answer> {
    const headers = {
      host: 'app.test',
      cookie: `session=${planted('client-cookie')}`,
      'proxy-authorization': `Basic ${Buffer.from(`a:${planted('proxy-credential')}`).toString('base64')}`,
      'x-amz-security-token': planted('mesh-token'),
      ...more.headers,
    };
    return await fetchOnce({ port: await sluice.listenerPort(name), ...more, headers });
  }

  async function logIn(): Promise<void> {
    const sent = await ask('login');
    const state = new URL(String(sent.headers['location'])).searchParams.get('state') ?? '';
    const cookie = (sent.headers['set-cookie'] ?? []).map((text) => text.split(';')[0]).join('; ');
    const path = `/callback?code=the-code&state=${encodeURIComponent(state)}`;
    const back = await ask('login', { path, headers: { cookie } });
    assert.equal(back.status, 302);
    const kept = (back.headers['set-cookie'] ?? []).map((text) => text.split(';')[0]).join('; ');
    assert.equal((await ask('login', { headers: { cookie: kept } })).status, 200);
  }

  before(async () => {
    up = await startHttpUpstream(serve);
    const { jwk } = makeSigner('RS256');
    const parties = { upPort: up.port, logPath, certificate, publicKey: jwk };
    moveIntoPlace(scratch, 'listeners.json', { version: '1', resources: [] });
    configuration = {
      ...plantedBootstrap(parties),
      dynamic_resources: { lds_config: fileSource(scratch.file('listeners.json')) },
    };
    sluice = await startSluice({
      scratch,
      bootstrap: configuration,
      args: ['-l', 'trace', '--config-yaml', CONFIG_YAML],
    });
  });
  after(async () => {
    await sluice[Symbol.asyncDispose]();
    await up[Symbol.asyncDispose]();
    scratch[Symbol.dispose]();
  });

  it('do their work', async () => {
    const statuses = new Map<string, number>();
    const credentials: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      basic: { authorization: `Basic ${Buffer.from(`me:${PASSWORD}`).toString('base64')}` },
      key: { 'x-api-key': planted('api-key') },
      tokens: bearer(token),
      injector: {},
    };
    const wrong: Readonly<Record<string, Readonly<Record<string, string>>>> = {
      basic: { authorization: `Basic ${Buffer.from(`me:${planted('wrong')}`).toString('base64')}` },
      key: { 'x-api-key': planted('wrong') },
      tokens: bearer(
        `${token.slice(0, -40)}${Buffer.from(planted('wrong')).toString('base64url')}`,
      ),
    };
    for (const [name, headers] of Object.entries(wrong)) {
      assert.equal((await ask(name, { headers })).status, 401, name);
    }
    for (const name of HTTP_LISTENERS.filter((each) => each !== 'login')) {
      const headers = credentials[name] ?? bearer(planted('client-bearer'));
      statuses.set(name, (await ask(name, { headers })).status);
    }
    assert.deepEqual(
      [...statuses.values()],
      [...statuses].map(() => 200),
    );
    await logIn();
    const redis = await openRaw(await sluice.listenerPort('redis'));
    redis.send(`AUTH ${planted('redis-client')}\r\nGET k\r\n`);
    await redis.until('+OK');
    redis.destroy();
    moveIntoPlace(scratch, 'listeners.json', { version: '2', resources: [REFUSED_LISTENER] });
    await sluice.waitForStat('listener_manager.lds.update_rejected', (count) => count === 1);
    await waitUntil('spans', () => up.requests.some(({ path }) => path === '/spans'));
    await waitUntil('more', () => up.requests.some(({ path }) => path === '/v1/traces'));
    // They have been where they belong.
    const used = ['authz-header', 'route-header', 'span-header', 'injected', 'access-token'];
    const seen = JSON.stringify(up.requests);
    assert.deepEqual(
      used.filter((place) => !seen.includes(planted(place))),
      [],
    );
  });

  it('are on no page but a dump that shows what Envoy shows', async () => {
    const help = await sluice.admin('/help');
    const listed = [...help.body.matchAll(/^ {2}(\/[^\s:]*): /gm)].map(([, path = '']) => path);
    const explained = HTTP_LISTENERS.flatMap((name) =>
      ['text', 'json'].map(
        (format) => `/explain?url=http%3A%2F%2Fapp.test%2F&listener=${name}&format=${format}`,
      ),
    );
    const forms = ['/stats?format=json', '/stats?format=html', '/clusters?format=json'];
    const dumps = [
      '',
      '?include_eds',
      '?resource=static_listeners',
      '?resource=static_secrets',
      '?mask=static_secrets',
      '?name_regex=.*',
    ];
    for (const path of [...listed, ...explained, ...forms]) {
      if (path.startsWith('/config_dump')) continue;
      const { status, body } = await sluice.admin(path);
      if (path !== '/explain') assert.equal(status, 200, path);
      assert.deepEqual(found(body), [], path);
    }
    for (const query of dumps) {
      const { body } = await sluice.admin(`/config_dump${query}`);
      assert.deepEqual(found(body, DUMPED), [], query);
    }
    const { body } = await sluice.admin('/config_dump');
    assert.deepEqual(
      DUMPED.filter((place) => !found(body).includes(place)),
      [],
    );
  });

  it('are in no profile', async () => {
    for (const path of ['/cpuprofiler', '/heapprofiler', '/allocprofiler']) {
      await sluice.admin({ path: `${path}?enable=y`, method: 'POST' });
      const { body } = await sluice.admin({ path: `${path}?enable=n`, method: 'POST' });
      assert.deepEqual(found(body), [], path);
    }
  });

  it('are in no span', () => {
    const spans = up.requests.filter(({ path }) => path === '/spans' || path === '/v1/traces');
    assert.deepEqual(found(spans.map(({ body }) => body).join('\n')), []);
  });

  it('are in no archive of sluice collect', async () => {
    const archive = scratch.file('out.tar.gz');
    const configPath = scratch.file('collected.json');
    writeFileSync(configPath, JSON.stringify(configuration));
    const admin = `127.0.0.1:${sluice.adminPort}`;
    const words = ['collect', '--admin', admin, '-o', archive, '-c', configPath];
    const { code, stderr } = await runSluice(words);
    assert.equal(code, 0, stderr);
    assert.deepEqual(found(gunzipSync(readFileSync(archive)).toString('latin1')), []);
  });

  it('are in no message about a mistake beside them, or in their own place', async () => {
    let problems = 0;
    for (const change of CHANGES) {
      const path = scratch.file('wrong.json');
      writeFileSync(path, JSON.stringify(changed(configuration, change)));
      const { code, stdout, stderr } = await runSluice([
        '--mode',
        'validate',
        '-c',
        path,
        '-l',
        'trace',
      ]);
      assert.equal(code, 1);
      problems += stderr.split('\n').length;
      assert.deepEqual(found(stdout + stderr), [], stderr.slice(0, 2000));
    }

    assert.ok(problems > DUMPED.length + HIDDEN.length, `${problems} lines`);
  });

  it('are in no line of the log at its most, and in none of an access log', async () => {
    await sluice.stop();
    const lines = readFileSync(logPath, 'latin1');
    assert.ok(lines.split('\n').length > HTTP_LISTENERS.length);
    assert.deepEqual(found(lines), []);
    assert.deepEqual(found(sluice.stderr() + sluice.stdout()), []);
  });
});
