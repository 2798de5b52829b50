/** `/connections`: what clients have open, in the whole program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { filterListener, tcpProxyFilter } from '../../support/parts/tcp-listener.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { ASKED, greeted, list, SLOW } from '../../support/programs/connections.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

test('each connection says who is connected, by what, and to where its request goes', async () => {
  let answer = (): void => undefined;
  await using upstream = await startHttpUpstream((_, response) => {
    answer = () => void response.end('late');
  });
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener([SLOW, ...GREETING])],
      clusters: [staticCluster('up', [upstream.port])],
    }),
    concurrency: 2,
  });
  const port = await sluice.listenerPort('web');
  const client = await openRaw(port);
  client.send(ASKED);
  await waitUntil('the request', () => upstream.requests.length === 1);
  const [row, ...others] = (await list(sluice)).connections;
  assert.deepEqual(others, []);
  const local = client.socket.address() as { readonly port: number };
  const host = `127.0.0.1:${upstream.port}`;
  const way = { route: 'slow', cluster: 'up', host };
  assert.equal(row?.client, `127.0.0.1:${local.port}`);
  const { id, listener, protocol, streams } = row;
  assert.deepEqual(
    { listener, protocol, streams },
    { listener: 'web', protocol: 'HTTP/1.1', streams: 1 },
  );
  assert.deepEqual({ route: row.route, cluster: row.cluster, host: row.host }, way);
  assert.equal(row.bytes_received, ASKED.length);
  assert.equal(row.idle_ms, undefined);
  const [request] = row.requests;
  assert.equal(request?.id, upstream.requests[0]?.headers['x-request-id']);
  const lines = (await sluice.admin('/connections')).body;
  assert.match(
    lines,
    new RegExp(
      `^${id} listener=web client=127\\.0\\.0\\.1:${local.port} protocol=HTTP/1\\.1 route=slow cluster=up host=${host} age=\\S+ received=\\d+ sent=0 streams=1\\n$`,
    ),
  );
  answer();
  await client.until(/late/);
  const [idle] = (await list(sluice)).connections;
  assert.equal(idle?.streams, 0);
  assert.ok((idle.idle_ms ?? -1) >= 0 && idle.bytes_sent > 0);
  client.destroy();
});

test('filters mean some, sort puts the largest first, limit says that there are more', async () => {
  await using tcp = await startRawUpstream((socket) => void socket.write('welcome'));
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(GREETING), filterListener([tcpProxyFilter()])],
      clusters: [staticCluster('up', [tcp.port])],
    }),
    concurrency: 2,
  });
  const clients = await greeted(sluice, 5);
  const through = await openRaw(await sluice.listenerPort('tcp'));
  await through.until('welcome');
  const first = clients[0]?.socket.address() as { readonly port: number };
  clients[0]?.send('GET /again HTTP/1.1\r\nhost: a.test\r\n\r\n');
  await clients[0]?.until(/hi[^]*hi$/);
  const count = async (query: string): Promise<number> =>
    (await list(sluice, query)).connections.length;
  assert.equal(await count(''), 6);
  for (const [query, expected] of [
    ['listener=web', 5],
    ['listener=constructor', 0],
    ['protocol=tcp', 1],
    ['protocol=http/1.1', 5],
    [`cluster=up&host=127.0.0.1:${tcp.port}`, 1],
    ['client=127.0.0.0/8', 6],
    ['client=::/0', 0],
    [`client=127.0.0.1:${first.port}`, 1],
    ['idle_for=0', 5],
    ['older_than=3600', 0],
    ['server_name=*.test', 0],
  ] as const) {
    assert.equal(await count(query), expected, query);
  }
  const [largest] = (await list(sluice, 'sort=bytes&listener=web')).connections;
  assert.equal(largest?.client, `127.0.0.1:${first.port}`);
  const ages = (await list(sluice, 'sort=age')).connections.map((row) => row.age_ms);
  assert.deepEqual(
    ages,
    ages.toSorted((left, right) => right - left),
  );
  const cut = await list(sluice, 'limit=4&sort=age');
  assert.deepEqual([cut.connections.length, cut.truncated], [4, true]);
  assert.equal(await count(`id=${largest.id}`), 1);
  for (const bad of ['limit=0', 'sort=name', 'client=10.0.0.0/33', 'idle_for=-1', 'id=7']) {
    assert.equal((await sluice.admin(`/connections?${bad}`)).status, 400, bad);
  }
  [...clients, through].forEach((client) => client.destroy());
});
