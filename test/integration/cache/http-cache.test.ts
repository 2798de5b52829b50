/** The HTTP cache in memory: what is served without asking the upstream. */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';

function filter(config: object = {}): object {
  const store = { '@type': `${TYPE}.http.cache.simple_http_cache.v3.SimpleHttpCacheConfig` };
  const type = `${TYPE}.filters.http.cache.v3.CacheConfig`;
  return { name: 'cache', typed_config: { '@type': type, typed_config: store, ...config } };
}

const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` },
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function startCache(answer: Answer, config: object = {}) {
  const upstream = await startHttpUpstream(answer);
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [filter(config), ROUTER] } })],
      clusters: [staticCluster('up', [upstream.port])],
    }),
  });
  const port = await sluice.listenerPort('web');
  return {
    upstream,
    ask: (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') =>
      fetchOnce({ port, path, headers, method }),
    async [Symbol.asyncDispose](): Promise<void> {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('the HTTP cache', () => {
  it('serves what may be kept, and asks for the rest', async () => {
    await using cache = await startCache((request, response) => {
      const control = request.url === '/private' ? 'private, max-age=100' : 'max-age=100';
      response.setHeader('cache-control', control);
      response.end(`for ${String(request.headers['x-id'])}`);
    });
    assert.equal((await cache.ask('/a', { 'x-id': '1' })).body, 'for 1');
    const second = await cache.ask('/a', { 'x-id': '2' });
    assert.equal(second.body, 'for 1');
    assert.ok(Number(second.headers['age']) >= 0);
    assert.equal((await cache.ask('/a?q', { 'x-id': '3' })).body, 'for 3');
    assert.equal(
      (await cache.ask('/a', { 'x-id': '4', 'cache-control': 'no-cache' })).body,
      'for 4',
    );
    assert.equal((await cache.ask('/a', { 'x-id': '5', authorization: 'x' })).body, 'for 5');
    assert.equal((await cache.ask('/private', { 'x-id': '6' })).body, 'for 6');
    assert.equal((await cache.ask('/private', { 'x-id': '7' })).body, 'for 7');
    const head = await cache.ask('/a', {}, 'HEAD');
    assert.deepEqual([head.status, head.headers['content-length'], head.body], [200, '5', '']);
  });

  it('serves one range of a kept body', async () => {
    await using cache = await startCache((_, response) => {
      response.setHeader('cache-control', 'max-age=100');
      response.end('0123456789');
    });
    await cache.ask('/a');
    const part = await cache.ask('/a', { range: 'bytes=2-4' });
    assert.deepEqual([part.status, part.body], [206, '234']);
    assert.equal(part.headers['content-range'], 'bytes 2-4/10');
    assert.equal((await cache.ask('/a', { range: 'bytes=-3' })).body, '789');
    const none = await cache.ask('/a', { range: 'bytes=20-' });
    assert.deepEqual([none.status, none.headers['content-range']], [416, 'bytes */10']);
    assert.equal((await cache.ask('/a', { range: 'bytes=0-1,3-4' })).body, '0123456789');
    assert.equal(cache.upstream.requests.length, 1);
  });

  it('keeps what a 304 says that it still holds', async () => {
    await using cache = await startCache((request, response) => {
      response.setHeader('cache-control', 'no-cache');
      response.setHeader('etag', '"v"');
      response.statusCode = request.headers['if-none-match'] === '"v"' ? 304 : 200;
      response.end(response.statusCode === 200 ? 'body' : undefined);
    });
    await cache.ask('/a');
    const again = await cache.ask('/a');
    assert.deepEqual([again.status, again.body], [200, 'body']);
    assert.equal(cache.upstream.requests.length, 2);
  });

  it('tells variants apart by the headers that it may', async () => {
    await using cache = await startCache(
      (request, response) => {
        response.setHeader('cache-control', 'max-age=100');
        response.setHeader('vary', request.url === '/a' ? 'accept' : 'x-other');
        response.end(`${String(request.headers.accept)} ${String(request.headers['x-id'])}`);
      },
      { allowed_vary_headers: [{ exact: 'accept' }] },
    );
    assert.equal((await cache.ask('/a', { accept: 'text', 'x-id': '1' })).body, 'text 1');
    assert.equal((await cache.ask('/a', { accept: 'json', 'x-id': '2' })).body, 'json 2');
    assert.equal((await cache.ask('/a', { accept: 'text', 'x-id': '3' })).body, 'text 1');
    assert.equal((await cache.ask('/a', { accept: 'json', 'x-id': '4' })).body, 'json 2');
    assert.equal((await cache.ask('/b', { accept: 'text', 'x-id': '5' })).body, 'text 5');
    assert.equal((await cache.ask('/b', { accept: 'text', 'x-id': '6' })).body, 'text 6');
  });
});
