/** The home page of a whole server in an incident: a host that fails, a path without a route. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

test('the home page shows the host that fails and the path without a route; a host is ordered', async () => {
  await using upstream = await startHttpUpstream();
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener([{ match: { prefix: '/a' }, route: { cluster: 'app' } }])],
      // Nobody listens on port 9.
      clusters: [staticCluster('app', [upstream.port, 9])],
    }),
  });
  const port = await sluice.listenerPort('web');
  for (let count = 0; count < 4; count++) await fetchOnce({ port, path: '/a' });
  await fetchOnce({ port, path: '/lost?token=secret', headers: { host: 'shop.test' } });
  const page = await sluice.admin('/?part=overview');
  const [failing = '', working = ''] = page.body.match(/<tr class="row">.*127\.0\.0\.1:.*/g) ?? [];
  assert.match(failing, />127\.0\.0\.1:9<.*class="host bad">2 \(100 %\)/);
  assert.match(working, /<td>2<\/td><td><span>0<\/span>.*<td>[\d.]+ ms<\/td>/);
  assert.match(page.body, /the last 404 <a [^>]*>shop\.test\/lost<\/a> \d+ s ago/);
  assert.ok(!page.body.includes('secret'));
  const order = await sluice.admin({
    path: '/hosts/state',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'cluster=app&host=127.0.0.1%3A9&state=drain',
  });
  assert.equal(order.status, 200);
  await sluice.settled();
  const after = await sluice.admin('/?part=overview');
  assert.match(after.body, />127\.0\.0\.1:9<.*ordered: drain</);
  for (let count = 0; count < 4; count++) {
    assert.equal((await fetchOnce({ port, path: '/a' })).status, 200);
  }
});

test('the whole page is below 100 KiB and says when it is read only', async () => {
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }])],
      clusters: Array.from({ length: 200 }, (_, index) =>
        staticCluster(`service_${index}`, [9, 10]),
      ),
    }),
    args: ['--admin-read-only'],
  });
  const page = await sluice.admin('/');
  assert.ok(page.body.length < 100 * 1024, `${page.body.length} bytes`);
  assert.match(page.body, /read only/);
  assert.match(page.body, /and 150 more/);
  assert.match((await sluice.admin('/?find=SERVICE_150')).body, />service_150<\/a>/);
});
