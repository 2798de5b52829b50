/** What the recipes without TLS and without credentials promise. */
import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { fetchBytes } from '../peers/fetch-bytes.ts';
import { fetchOnce } from '../peers/http-client.ts';
import { openRaw } from '../peers/raw-client.ts';
import { startHttpUpstream, startRawUpstream } from '../peers/upstream.ts';
import { waitUntil } from '../wait.ts';
import { startApp, startRecipe, type AskRecipe } from './stage.ts';

export const PLAIN: Readonly<Record<string, AskRecipe>> = {
  app: async () => {
    await using app = await startApp('app', 'x-forwarded-for');
    await using sluice = await startRecipe('app', { 3000: app.port });
    const port = await sluice.listenerPort('web');
    const headers = { 'x-forwarded-for': '6.6.6.6' };
    const answer = await fetchOnce({ port, path: '/a/../b', headers });
    // The address of a client on the same machine, one of the machine's, is added.
    assert.match(answer.body, /^app \/b 6\.6\.6\.6,[0-9.]+$/);
    assert.equal(answer.headers['server'], 'web');
    assert.equal((await fetchOnce({ port, headers: { x_user: 'root' } })).status, 400);
  },
  'two-apps': async () => {
    await using app = await startApp('app');
    await using api = await startApp('api');
    await using sluice = await startRecipe('two-apps', { 3000: app.port, 3001: api.port });
    const port = await sluice.listenerPort('web');
    assert.equal((await fetchOnce({ port, path: '/page' })).body, 'app /page');
    assert.equal((await fetchOnce({ port, path: '/api/users' })).body, 'api /users');
  },
  hosts: async () => {
    await using app = await startApp('app');
    await using api = await startApp('api');
    await using sluice = await startRecipe('hosts', { 3000: app.port, 3001: api.port });
    const port = await sluice.listenerPort('web');
    const ask = async (host: string): Promise<string> => {
      const { status, body } = await fetchOnce({ port, headers: { host } });
      return `${status} ${body}`;
    };
    assert.equal(await ask('app.example.com'), '200 app /');
    assert.equal(await ask('app.example.com:8080'), '200 app /');
    assert.equal(await ask('v1.api.example.com'), '200 api /');
    assert.equal(await ask('v1.api.example.com:8080'), '200 api /');
    assert.equal(await ask('example.org'), '404 ');
  },
  gzip: async () => {
    const text = 'many words '.repeat(50);
    await using app = await startHttpUpstream((_, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(text);
    });
    await using sluice = await startRecipe('gzip', { 3000: app.port });
    const port = await sluice.listenerPort('web');
    const packed = await fetchBytes(port, { 'accept-encoding': 'gzip' });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(gunzipSync(packed.body).toString(), text);
    assert.equal((await fetchOnce({ port })).body, text);
  },
  'json-log': async () => {
    await using app = await startApp('app');
    await using sluice = await startRecipe('json-log', { 3000: app.port });
    await fetchOnce({ port: await sluice.listenerPort('web'), path: '/page?a=1' });
    const line = await waitUntil('the log line', () => /^\{.*\}$/m.exec(sluice.stdout())?.[0]);
    const { method, path, status, client, host, flags } = JSON.parse(line) as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      { method, path, status, client, host, flags },
      {
        method: 'GET',
        path: '/page?a=1',
        status: 200,
        client: '127.0.0.1',
        host: `127.0.0.1:${app.port}`,
        flags: '-',
      },
    );
  },
  'error-pages': async () => {
    await using sluice = await startRecipe('error-pages', {});
    const port = await sluice.listenerPort('web');
    const gone = await fetchOnce({ port });
    assert.equal(gone.status, 503);
    assert.match(gone.body, /<h1>Back soon<\/h1><p>503, request [-0-9a-f]{36}/);
    assert.equal(gone.headers['content-type'], 'text/html; charset=UTF-8');
    const missing = await fetchOnce({ port, path: '/none' });
    assert.equal(missing.status, 404);
    assert.match(missing.body, /No such page/);
  },
  websocket: async () => {
    await using app = await startRawUpstream((socket, received) => {
      socket.on('data', () => {
        if (received().endsWith('\r\n\r\n')) {
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
          );
        } else socket.write('pong');
      });
    });
    await using sluice = await startRecipe('websocket', { 3000: app.port });
    const client = await openRaw(await sluice.listenerPort('web'));
    client.send(
      'GET /chat HTTP/1.1\r\nhost: h\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    );
    await client.until(/^HTTP\/1\.1 101 [^]*\r\n\r\n$/);
    client.send('ping');
    await client.until(/pong$/);
    client.destroy();
  },
  canary: async () => {
    await using app = await startApp('app');
    await using canary = await startApp('canary');
    await using sluice = await startRecipe('canary', { 3000: app.port, 3001: canary.port });
    const port = await sluice.listenerPort('web');
    const headers = { 'x-canary': 'yes' };
    assert.equal((await fetchOnce({ port, headers })).body, 'canary /');
    for (let asked = 0; asked < 8; asked += 1) await fetchOnce({ port });
    assert.ok(app.requests.length > canary.requests.length - 1);
  },
  cors: async () => {
    await using app = await startApp('app');
    await using sluice = await startRecipe('cors', { 3000: app.port });
    const port = await sluice.listenerPort('web');
    const preflight = async (origin: string): Promise<unknown> => {
      const headers = { origin, 'access-control-request-method': 'PUT' };
      const answer = await fetchOnce({ port, method: 'OPTIONS', headers });
      return answer.headers['access-control-allow-origin'];
    };
    assert.equal(await preflight('https://app.example.com'), 'https://app.example.com');
    assert.equal(app.requests.length, 0);
    assert.equal(await preflight('https://evil.example.com'), undefined);
  },
  'health-and-retries': async () => {
    await using good = await startApp('good');
    await using bad = await startHttpUpstream((request, response) => {
      response.statusCode = request.url === '/healthz' ? 200 : 503;
      response.end('bad');
    });
    await using sluice = await startRecipe('health-and-retries', {
      3000: good.port,
      3001: bad.port,
    });
    const port = await sluice.listenerPort('web');
    for (let asked = 0; asked < 4; asked += 1) {
      assert.equal((await fetchOnce({ port })).body, 'good /');
    }
    assert.ok(
      bad.requests.some(({ path }) => path === '/'),
      'the failing host was not asked',
    );
    const checks = (app: typeof good): number =>
      app.requests.filter(({ path }) => path === '/healthz').length;
    assert.ok(checks(good) > 0 && checks(bad) > 0);
  },
  tcp: async () => {
    await using app = await startRawUpstream((socket) =>
      socket.on('data', (data) => socket.write(data)),
    );
    await using sluice = await startRecipe('tcp', { 3000: app.port });
    const client = await openRaw(await sluice.listenerPort('bytes'));
    client.send('whatever\0');
    await client.until('whatever\0');
    client.destroy();
  },
  demo: async () => {
    await using one = await startApp('one');
    await using two = await startApp('two');
    await using sluice = await startRecipe('demo', { 10_001: one.port, 10_002: two.port });
    const port = await sluice.listenerPort('demo');
    const both = [await fetchOnce({ port }), await fetchOnce({ port })];
    assert.deepEqual(both.map(({ body }) => body).sort(), ['one /', 'two /']);
    assert.equal((await fetchOnce({ port, path: '/blue/a' })).body, 'one /a');
    assert.equal((await fetchOnce({ port, path: '/hello' })).body, 'Hello from Sluice\n');
  },
};
