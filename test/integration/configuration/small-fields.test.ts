/** Small fields of a bootstrap that are served as written, each asked of the whole program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const FOLLOWED = { internal_redirect_action: 'HANDLE_INTERNAL_REDIRECT' };

test('the older fields of routes follow redirects, and max_internal_redirects alone does not', async () => {
  await using upstream = await startHttpUpstream((request, response) => {
    const next: Readonly<Record<string, string>> = { '/twice': '/once', '/once': '/end' };
    const [policy = '', step = ''] = (request.url ?? '').split(/(?=\/)/);
    const location = next[step];
    if (location === undefined) response.end('arrived');
    else response.writeHead(302, { location: `http://h.test${policy}${location}` }).end();
  });
  const to = (prefix: string, fields: object): object => ({
    match: { prefix },
    route: { cluster: 'up', ...fields },
  });
  const routes = [
    to('/a', FOLLOWED),
    to('/b', { ...FOLLOWED, max_internal_redirects: 2 }),
    to('/c', { max_internal_redirects: 2 }),
    to('/d', { ...FOLLOWED, internal_redirect_policy: { max_internal_redirects: 2 } }),
  ];
  const config = {
    listeners: [httpListener(routes)],
    clusters: [staticCluster('up', [upstream.port])],
  };
  await using sluice = await startSluice({ bootstrap: bootstrap(config) });
  const port = await sluice.listenerPort('web');
  const statuses: Record<string, number> = {};
  for (const path of ['/a/once', '/a/twice', '/b/twice', '/c/once', '/d/twice']) {
    statuses[path] = (await fetchOnce({ port, path, headers: { host: 'h.test' } })).status;
  }
  assert.deepEqual(statuses, {
    '/a/once': 200,
    '/a/twice': 302,
    '/b/twice': 200,
    '/c/once': 302,
    '/d/twice': 200,
  });
});

test('connections end apart by their jitter; the version in the statistics may be given', async () => {
  const hcm = {
    common_http_protocol_options: {
      max_connection_duration: '0.2s',
      max_connection_duration_jitter: { value: 100 },
    },
    drain_timeout: '0.01s',
    drain_timeout_jitter: { value: 100 },
  };
  const listeners = [httpListener(GREETING, { hcm })];
  const fields = { stats_server_version_override: 5 };
  await using sluice = await startSluice({ bootstrap: bootstrap({ listeners }, fields) });
  const port = await sluice.listenerPort('web');
  const begin = Date.now();
  const ends = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const client = await openRaw(port);
      client.send('GET / HTTP/1.1\r\nhost: h.test\r\n\r\n');
      await client.closed();
      return Date.now() - begin;
    }),
  );
  assert.ok(Math.min(...ends) >= 200, ends.join());
  assert.ok(Math.max(...ends) - Math.min(...ends) > 50, ends.join());
  assert.equal(await sluice.stat('server.version'), 5);
});
