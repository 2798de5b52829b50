/** `/connections/close`: clients are let go, or cut, in the whole program. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, GREETING, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { openHttp2 } from '../../support/peers/http2-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { ASKED, close, greeted, list, SLOW } from '../../support/programs/connections.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

test('clients of HTTP/1 finish and are told to close, of HTTP/2 get a GOAWAY; now and cut_after cut', async () => {
  const answers: (() => void)[] = [];
  await using upstream = await startHttpUpstream((_, response) => {
    answers.push(() => void response.end('late'));
  });
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener([SLOW, ...GREETING])],
      clusters: [staticCluster('up', [upstream.port])],
    }),
  });
  const port = await sluice.listenerPort('web');
  const one = await openRaw(port);
  one.send(ASKED);
  await using two = await openHttp2(port);
  const late = two.ask({ ':path': '/slow/a', ':authority': 'a.test' });
  const later = two.ask({ ':path': '/slow/b', ':authority': 'a.test' });
  await waitUntil('the requests', () => answers.length === 3);
  const [multiplexed] = (await list(sluice, 'protocol=HTTP/2')).connections;
  assert.equal(multiplexed?.requests.length, 2);
  const goaway = new Promise((resolve) => two.session.once('goaway', resolve));
  assert.equal(await close(sluice, 'cluster=up'), '2 connections are closed\n');
  await goaway;
  for (const answer of answers) answer();
  assert.match(await one.closed(), /200 OK[^]*connection: close[^]*late$/);
  assert.deepEqual([(await late).body, (await later).body], ['late', 'late']);
  assert.equal((await list(sluice, 'protocol=HTTP/1.1')).connections.length, 0);
  for (const query of ['route=slow&now', 'route=slow&cut_after=0.1']) {
    const seen = upstream.requests.length;
    const client = await openRaw(port);
    client.send(ASKED);
    await waitUntil('the request', () => upstream.requests.length > seen);
    await close(sluice, query);
    assert.equal(await client.closed(), '', query);
  }
});

test('a share is closed over a time, each connection at a moment of its own', async () => {
  await using sluice = await startSluice({
    bootstrap: bootstrap({ listeners: [httpListener(GREETING)] }),
  });
  const clients = await greeted(sluice, 40);
  const begin = Date.now();
  const ends: number[] = [];
  for (const { socket } of clients) socket.on('close', () => ends.push(Date.now() - begin));
  for (const { socket } of clients) socket.on('end', () => socket.destroy());
  assert.equal(
    await close(sluice, 'all&share=50&over=1&now'),
    '20 connections are closed over 1 s\n',
  );
  await waitUntil('half of them to end', () => ends.length === 20);
  assert.equal((await list(sluice)).connections.length, 20);
  assert.ok((ends[19] ?? 0) - (ends[0] ?? 0) > 300, `ends: ${ends.join(' ')}`);
  const refused = await sluice.admin({ path: '/connections/close', method: 'POST' });
  assert.deepEqual([refused.status, refused.body], [400, 'a filter is needed, or all\n']);
  assert.equal((await sluice.admin('/connections/close?all')).status, 400);
  for (const client of clients) client.destroy();
});
