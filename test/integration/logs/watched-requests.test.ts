/** `/logging/trace`: the way of single requests in the log, and of no other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { CLOSED_PORT, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const LINE = /\[debug\]\[http\] \[[^\]]*\] \[C(\d+)\]\[([^\]]+)\] (.*)/g;

test('a watched request is told line by line under its id, others are not', async () => {
  await using upstream = await startHttpUpstream();
  const route = { cluster: 'up', retry_policy: { retry_on: 'connect-failure', num_retries: 5 } };
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [
        httpListener([{ name: 'slow', match: { prefix: '/watched' }, route }, ...GREETING]),
      ],
      clusters: [staticCluster('up', [CLOSED_PORT, upstream.port])],
    }),
  });
  const port = await sluice.listenerPort('web');
  const post = async (query: string) =>
    sluice.admin({ path: `/logging/trace?${query}`, method: 'POST' });
  const lines = () =>
    [...sluice.stderr().matchAll(LINE)].map(([, , id = '', text = '']) => ({ id, text }));
  assert.equal((await post('path=/watched/*&client=127.0.0.0/8&count=2')).status, 200);
  // The worker has taken it before it answers what comes later.
  await sluice.settled();
  const ask = async (path: string) =>
    fetchOnce({ port, path, headers: { authorization: 'Bearer planted' } });
  await ask('/other');
  assert.equal((await ask('/watched/one?secret=1')).body, 'hello');
  await ask('/watched/two');
  await ask('/watched/three');
  await waitUntil(
    'both ends',
    () => lines().filter(({ text }) => text.startsWith('end: 200')).length === 2,
  );
  const seen = lines();
  const ids = new Set(seen.map(({ id }) => id));
  assert.equal(ids.size, 2);
  const sent = upstream.requests.map(({ headers }) => String(headers['x-request-id']));
  assert.deepEqual([...ids], sent.slice(0, 2));
  const first = seen.filter(({ id }) => id === sent[0]).map(({ text }) => text);
  assert.match(
    first[0] ?? '',
    /^request of 127\.0\.0\.1:\d+ at listener web: GET "127\.0\.0\.1:\d+\/watched\/one" /,
  );
  assert.equal(first[1], 'route slow of virtual host all, cluster up');
  assert.ok(
    first.some(
      (text) => text.startsWith(`attempt `) && text.includes(`host 127.0.0.1:${upstream.port}`),
    ),
  );
  assert.ok(first.some((text) => /^attempt \d: the host answers: 200 /.test(text)));
  assert.match(first.at(-2) ?? '', /^response: 200 /);
  assert.ok(!sluice.stderr().includes('planted') && !sluice.stderr().includes('/other'));
  for (const bad of ['', 'path=/&count=0', 'client=1.2.3.4/33', 'header=x']) {
    assert.equal((await post(bad)).status, 400, bad);
  }
  await post('path=*&for=60');
  await post('off');
  await sluice.settled();
  await ask('/unwatched');
  assert.ok(!sluice.stderr().includes('/unwatched'));
});
