/** The HTTP cache that fetches once what many want, and the one on disk. As Envoy 1.40.0 answers. */
import assert from 'node:assert/strict';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` },
};
const MEMORY = { '@type': `${TYPE}.http.cache_v2.simple_http_cache.v3.SimpleHttpCacheV2Config` };
const EVENTS = 'cache.event.cache_label.envoy_extensions_http_cache_v2_simple.event_type';

function disk(cache_path: string, fields: object = {}): object {
  return {
    '@type': `${TYPE}.http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config`,
    manager_config: { thread_pool: { thread_count: 1 } },
    cache_path,
    ...fields,
  };
}

type Answer = (response: ServerResponse, path: string) => void;

async function startCache(answer: Answer, store: object, fields: object = {}) {
  const upstream = await startHttpUpstream((request, response) => {
    answer(response, request.url ?? '');
  });
  const filter = {
    name: 'cache',
    typed_config: {
      '@type': `${TYPE}.filters.http.cache_v2.v3.CacheV2Config`,
      typed_config: store,
      ...fields,
    },
  };
  const routes = [
    { match: { prefix: '/direct' }, direct_response: { status: 200 } },
    { match: { prefix: '/' }, route: { cluster: 'up' } },
  ];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [filter, ROUTER] } })],
      clusters: [staticCluster('up', [upstream.port]), staticCluster('other', [upstream.port])],
    }),
  });
  const port = await sluice.listenerPort('web');
  return {
    sluice,
    upstream,
    ask: (path: string, headers: Readonly<Record<string, string>> = {}) =>
      fetchOnce({ port, path, headers }),
    async [Symbol.asyncDispose](): Promise<void> {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const kept = (response: ServerResponse, body: string): void => {
  response.setHeader('cache-control', 'max-age=100');
  response.end(body);
};

describe('the cache that fetches once', () => {
  it('has requests wait for the first one, which others take over when it is gone', async () => {
    const waiting: ServerResponse[] = [];
    await using cache = await startCache((response) => void waiting.push(response), MEMORY);
    const port = await cache.sluice.listenerPort('web');
    const first = await openRaw(port);
    first.send('GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await waitUntil('the first request', () => waiting.length === 1);
    const asked = [1, 2].map(() => fetchOnce({ port, path: '/slow', headers: { host: 'x' } }));
    await cache.sluice.waitForStat('http.web.downstream_rq_active', (active) => active === 3);
    first.destroy();
    await waitUntil('the next one', () => waiting.length === 2);
    kept(waiting[1] as ServerResponse, 'once');
    assert.deepEqual(
      (await Promise.all(asked)).map(({ body }) => body),
      ['once', 'once'],
    );
    assert.equal(waiting.length, 2);
    assert.equal(await cache.sluice.stat(`${EVENTS}.hit`), 1);
  });

  it('lets all go on when it turns out that nothing may be kept', async () => {
    const waiting: ServerResponse[] = [];
    await using cache = await startCache((response) => {
      waiting.push(response);
      if (waiting.length > 1) response.end('own');
    }, MEMORY);
    const asked = [1, 2, 3].map(() => cache.ask('/own'));
    await cache.sluice.waitForStat('http.web.downstream_rq_active', (active) => active === 3);
    await waitUntil('the first request', () => waiting.length === 1);
    waiting[0]?.end('own');
    assert.deepEqual(
      (await Promise.all(asked)).map(({ body }) => body),
      ['own', 'own', 'own'],
    );
    assert.equal(waiting.length, 3);
    assert.equal(await cache.sluice.stat(`${EVENTS}.uncacheable`), 3);
  });

  it('fetches the whole for a range, from the cluster that it is told', async () => {
    await using cache = await startCache((response) => kept(response, 'hello'), MEMORY, {
      override_upstream_cluster: 'other',
    });
    const part = await cache.ask('/r', { range: 'bytes=1-2' });
    assert.deepEqual([part.status, part.body], [206, 'el']);
    assert.equal(part.headers['content-range'], 'bytes 1-2/5');
    assert.equal((await cache.ask('/r')).body, 'hello');
    assert.equal(cache.upstream.requests.length, 1);
    assert.equal(cache.upstream.requests[0]?.headers['range'], undefined);
    assert.equal(await cache.sluice.stat('cluster.other.upstream_rq_total'), 1);
    assert.equal((await cache.ask('/direct')).status, 404);
  });
});

describe('the cache on disk', () => {
  it('outlives its server, and takes no file for a response that is none', async () => {
    using scratch = makeScratch();
    const folder = join(scratch.file('x'), '..', 'kept');
    const store = disk(folder, { create_cache_path: true });
    const answer: Answer = (response) => kept(response, 'kept body');
    const names = (): readonly string[] => {
      try {
        return readdirSync(folder).filter((name) => /^sluice-[0-9a-f]{64}$/.test(name));
      } catch {
        return [];
      }
    };
    {
      await using cache = await startCache(answer, store, {
        key_creator_params: { exclude_host: true },
      });
      assert.equal((await cache.ask('/a')).body, 'kept body');
      await waitUntil('the file', () => names().length === 1);
      assert.equal((await cache.ask('/a')).headers['age'] !== undefined, true);
      assert.equal(cache.upstream.requests.length, 1);
    }
    await using cache = await startCache(answer, store, {
      key_creator_params: { exclude_host: true },
    });
    assert.equal((await cache.ask('/a')).body, 'kept body');
    assert.equal(cache.upstream.requests.length, 0);
    const [name = ''] = names();
    for (const [at, garbage] of ['', '{}\n', 'x'.repeat(5000), '{"version":1}\nbody'].entries()) {
      writeFileSync(join(folder, name), garbage);
      assert.equal((await cache.ask('/a')).body, 'kept body');
      assert.equal(cache.upstream.requests.length, at + 1);
      await waitUntil('the file', () => statSync(join(folder, name)).size > 5000 || readsWell());
    }
    function readsWell(): boolean {
      return statSync(join(folder, name)).size !== 5000 && statSync(join(folder, name)).size > 100;
    }
  });

  it('stays within its limits', async () => {
    using scratch = makeScratch();
    const folder = join(scratch.file('x'), '..');
    await using cache = await startCache(
      (response) => kept(response, 'b'.repeat(1000)),
      disk(folder, { max_cache_entry_count: 20, evict_fraction: 0.5 }),
    );
    for (let at = 0; at < 60; at++) await cache.ask(`/many-${at}`);
    await waitUntil('room', () => {
      return readdirSync(folder).filter((name) => name.startsWith('sluice-')).length <= 22;
    });
    assert.equal((await cache.ask('/many-59')).headers['age'] !== undefined, true);
  });
});
