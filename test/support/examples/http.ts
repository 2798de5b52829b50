/** What the examples with one proxy and its HTTP filters promise. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { zstd } from '../../../shared/process/zstd.ts';
import { freePort } from '../free-port.ts';
import { startHttpUpstream, type HttpUpstream } from '../peers/upstream.ts';
import { makeScratch } from '../scratch.ts';
import { waitUntil } from '../wait.ts';
import { EXAMPLES, startEcho, startExample, startService, type AskExample } from './stage.ts';

/** Answers `.json` files as JSON, and others as text, both long enough for a compressor. */
async function startFiles(): Promise<HttpUpstream> {
  return await startHttpUpstream((request, response) => {
    const isJson = request.url?.endsWith('.json') === true;
    response.setHeader('content-type', isJson ? 'application/json' : 'text/plain');
    const text = JSON.stringify('many words '.repeat(500));
    if (request.method !== 'POST') return void response.end(text);
    let bytes = 0;
    request.on('data', (piece: Buffer) => (bytes += piece.length));
    request.on('end', () => response.setHeader('decompressed-size', bytes).end());
  });
}

/** Files and the page of statistics are compressed by their type. */
function compressing(folder: string, encoding: string, expected = encoding): AskExample {
  return async () => {
    await using files = await startFiles();
    const admin = await freePort();
    const hosts = { 'service:8080': files.port, '127.0.0.1:9901': admin };
    await using example = await startExample(`${folder}/envoy.yaml`, {
      hosts,
      own: { 9901: admin },
    });
    const headers = { 'accept-encoding': encoding };
    const json = await example.askSecurely(0, '/file.json', headers);
    assert.equal(json.headers['content-encoding'] ?? 'none', expected);
    const text = await example.askSecurely(0, '/file.txt', headers);
    assert.equal(text.headers['content-encoding'], undefined);
    const page = await example.askSecurely(1, '/stats/prometheus', headers);
    assert.equal(page.headers['content-encoding'] ?? 'none', expected);
    const plain = await example.sluice.admin({ path: '/stats/prometheus', headers });
    assert.equal(plain.headers['content-encoding'], undefined);
  };
}

export const HTTP: Readonly<Record<string, AskExample>> = {
  brotli: compressing('brotli', 'br'),
  // Node 20 has no zstd: answers go out as they are, with a warning at the start.
  zstd: compressing('zstd', 'zstd', zstd === undefined ? 'none' : 'zstd'),
  gzip: async () => {
    await using files = await startFiles();
    const admin = await freePort();
    const hosts = { 'service:8080': files.port, '127.0.0.1:9901': admin };
    await using example = await startExample('gzip/envoy.yaml', { hosts, own: { 9901: admin } });
    const headers = { 'accept-encoding': 'gzip' };
    const text = await example.ask(0, { path: '/file.txt', headers });
    assert.equal(text.headers['content-encoding'], undefined);
    const packed = await example.ask(0, { path: '/file.json', headers });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    const upload = gzipSync(Buffer.alloc(1024 * 1024, 'many words '));
    const answer = await example.ask(0, {
      path: '/upload',
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: upload,
    });
    assert.equal(answer.headers['decompressed-size'], String(1024 * 1024));
    const page = await example.ask(1, { path: '/stats/prometheus', headers });
    assert.equal(page.headers['content-encoding'], 'gzip');
  },
  cache: async () => {
    await using service = await startHttpUpstream((request, response) => {
      const tag = `"${request.url ?? ''}"`;
      const isKnown = request.headers['if-none-match'] === tag;
      const name = request.url?.split('/').at(-1) ?? '';
      response.setHeader('cache-control', name === 'minute' ? 'max-age=60' : name);
      response.setHeader('etag', tag).setHeader('date', new Date().toUTCString());
      response.statusCode = isKnown ? 304 : 200;
      response.end(isKnown ? undefined : 'kept');
    });
    const hosts = { 'service1:8080': service.port, 'service2:8080': service.port };
    await using example = await startExample('cache/envoy.yaml', { hosts });
    const ask = async (path: string): Promise<string> => {
      const { status, body, headers } = await example.ask(0, `/service/1/${path}`);
      return `${status} ${body} ${headers['age'] === undefined ? 'fresh' : 'aged'}`;
    };
    assert.equal(await ask('minute'), '200 kept fresh');
    assert.equal(await ask('minute'), '200 kept aged');
    assert.equal(service.requests.length, 1);
    for (const count of [2, 3]) {
      assert.equal(await ask('private'), '200 kept fresh');
      assert.equal(service.requests.length, count);
    }
    assert.equal(await ask('no-cache'), '200 kept fresh');
    assert.equal(await ask('no-cache'), '200 kept fresh');
    assert.equal(service.requests.at(-1)?.headers['if-none-match'], '"/service/1/no-cache"');
  },
  'fault-injection': async () => {
    using scratch = makeScratch();
    await using backend = await startEcho('backend');
    const fault = scratch.file('v1/envoy/fault/http/abort');
    mkdirSync(fault, { recursive: true });
    const change = (percent: string): void => {
      writeFileSync(join(fault, 'abort_percent'), percent);
      writeFileSync(join(fault, 'http_status'), '503\n');
      symlinkSync(scratch.file('v1'), scratch.file('new'));
      renameSync(scratch.file('new'), scratch.file('current'));
    };
    change('0\n');
    const values = { '/srv/runtime/current': scratch.file('current') };
    const hosts = { 'backend:80': backend.port };
    await using example = await startExample('fault-injection/envoy.yaml', { hosts, values });
    const status = async (): Promise<number> => (await example.ask(0, '/status/200')).status;
    assert.equal(await status(), 200);
    change('100\n');
    await waitUntil('the fault', async () => (await status()) === 503);
    change('0\n');
    await waitUntil('no fault', async () => (await status()) === 200);
    assert.ok((await example.sluice.stat('http.ingress_http.fault.aborts_injected')) > 0);
  },
  local_ratelimit: async () => {
    await using service = await startEcho('service');
    const admin = await freePort();
    const hosts = { 'service:80': service.port, '127.0.0.1:9901': admin };
    await using example = await startExample('local_ratelimit/envoy.yaml', {
      hosts,
      own: { 9901: admin },
    });
    for (const [listener, path] of [
      [1, '/'],
      [0, '/stats/prometheus'],
    ] as const) {
      const seen: string[] = [];
      for (let count = 0; count < 4; count++) {
        const { status, headers, body } = await example.ask(listener, path);
        const isLimited = body === 'local_rate_limited';
        seen.push(`${status} ${String(headers['x-local-rate-limit'])} ${isLimited}`);
      }
      const [passed, limited] = ['200 undefined false', '429 true true'];
      assert.deepEqual(seen, [passed, passed, limited, limited]);
    }
    for (let count = 0; count < 4; count++) {
      assert.equal((await example.sluice.admin('/stats/prometheus')).status, 200);
    }
  },
  lua: async () => {
    using scratch = makeScratch();
    await using service = await startEcho('web');
    symlinkSync(join(EXAMPLES, 'lua', 'lib'), scratch.file('lib'));
    const hosts = { 'web_service:8080': service.port };
    await using example = await startExample('lua/envoy.yaml', { hosts, run: { scratch } });
    assert.match((await example.ask(0, '/')).body, /"foo":"bar"/);
    const answer = await example.ask(0, '/multiple/lua/scripts');
    assert.equal(answer.headers['header_key_1'], 'header_value_1');
  },
  'lua-cluster-specifier': async () => {
    const second = await freePort();
    const setting = { hosts: { '127.0.0.1:10001': second }, own: { 10001: second } };
    await using example = await startExample('lua-cluster-specifier/envoy.yaml', setting);
    assert.equal((await example.ask(0, '/')).body, 'Helo!\n');
    const fake = await example.ask(0, { headers: { header_key: 'fake' } });
    assert.equal(fake.status, 503);
  },
  'route-mirror': async () => {
    await using one = await startService(1);
    await using two = await startService(2);
    await using mirrorOne = await startService(1);
    await using mirrorTwo = await startService(2);
    const hosts = {
      'service1:8080': one.port,
      'service2:8080': two.port,
      'service1-mirror:8080': mirrorOne.port,
      'service2-mirror:8080': mirrorTwo.port,
    };
    await using example = await startExample('route-mirror/envoy.yaml', { hosts });
    const ask = async (service: number, mirror = 'none'): Promise<void> => {
      const headers = { host: 'localhost:10000', 'x-mirror-cluster': mirror };
      const { body } = await example.ask(0, { path: `/service/${service}`, headers });
      assert.equal(body, `Hello from behind Envoy (service ${service})!\n`);
    };
    await ask(1);
    await ask(2, 'service2-mirror');
    await ask(2, 'service2-mirror-non-existent');
    await waitUntil('mirrors', () => mirrorOne.requests.length + mirrorTwo.requests.length === 2);
    assert.equal(one.requests[0]?.headers.host, 'localhost:10000');
    assert.equal(mirrorOne.requests[0]?.headers.host, 'localhost-shadow:10000');
    assert.equal(mirrorTwo.requests[0]?.headers.host, 'localhost-shadow:10000');
    assert.equal(two.requests.length, 2);
  },
};
