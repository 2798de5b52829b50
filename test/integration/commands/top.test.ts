/** `sluice top` shows what a real server does, as plain text where there is no terminal. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice } from '../../support/programs/sluice.ts';

test('rates, latencies, hosts and connections of a server', async () => {
  await using upstream = await startHttpUpstream();
  await using sluice = await startSluice({
    bootstrap: bootstrap(
      {
        listeners: [httpListener([{ match: { prefix: '/' }, route: { cluster: 'up' } }])],
        clusters: [staticCluster('up', [upstream.port]), staticCluster('idle', [9])],
      },
      { stats_flush_interval: '0.1s' },
    ),
  });
  const port = await sluice.listenerPort('web');
  const client = await openRaw(port);
  client.send('GET / HTTP/1.1\r\nhost: a.test\r\n\r\n');
  await client.until(/hello$/);
  const words = [
    'top',
    '--admin',
    `127.0.0.1:${sluice.adminPort}`,
    '--interval',
    '0.5',
    '--count',
    '1',
    '--rows',
    '1',
  ];
  let isShown = false;
  const shown = runSluice(words).finally(() => {
    isShown = true;
  });
  while (!isShown) await fetchOnce({ port, path: '/' });
  const { code, stdout, stderr } = await shown;
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^sluice \S+ LIVE, up \S+\nrequests {4}[1-9]\d*\.\d\/s, \d+ active; 2xx [1-9]\d*\.\d\/s, 4xx 0\.0\/s, 5xx 0\.0\/s\nconnections /,
  );
  assert.match(
    stdout,
    /\nCLUSTER .*\nup +[1-9][\d.]* +0\.0 +\d+ +[\d.]+ +[\d.]+ +1\/1 +\d+\nand 1 more\n/,
  );
  assert.match(
    stdout,
    /\nCONNECTION .*\n0:\d+ +web +127\.0\.0\.1:\d+ +HTTP\/1\.1 +up +127\.0\.0\.1:\d+ /,
  );
  assert.ok(!stdout.includes('\u001B'));
  const wrong = await runSluice(['top', '--interval', '0']);
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  const nobody = await runSluice(['top', '--admin', '127.0.0.1:1', '--count', '1']);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /^sluice top: .*ECONNREFUSED/);
  client.destroy();
});
