/**
 * A wall clock that jumps by days and decades, back and forth: everything that measures time goes
 * by the monotonic clock, so that nobody notices. Where libfaketime is installed.
 */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { proxyTo } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { childrenOf } from '../../support/programs/processes.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const LIBRARY = ['x86_64-linux-gnu/', 'aarch64-linux-gnu/', '']
  .map((folder) => `/usr/lib/${folder}faketime/libfaketime.so.1`)
  .find((path) => existsSync(path));
const DAYS = [1, -2, 20_000, -15_000, 0];
const ROUNDS = attackRuns(1, 20);
const DAY_MS = 86_400_000;

it('does not notice that the wall clock jumps', { skip: LIBRARY === undefined }, async () => {
  using scratch = makeScratch();
  const offsetPath = scratch.file('offset');
  writeFileSync(offsetPath, '+0');
  await using upstream = await startHttpUpstream((_, response) => response.end('hi'));
  await using sluice = await startSluice({
    bootstrap: proxyTo(upstream.port),
    concurrency: 2,
    env: {
      LD_PRELOAD: LIBRARY ?? '',
      FAKETIME_TIMESTAMP_FILE: offsetPath,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    },
  });
  const port = await sluice.listenerPort('web');
  const workers = childrenOf(sluice.pid);
  const kept = await openRaw(port);
  let asked = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const days of DAYS) {
      writeFileSync(offsetPath, `${days < 0 ? '' : '+'}${days}d`);
      await waitUntil('the jump', async () => {
        const { date = '' } = (await sluice.admin('/ready')).headers;
        return Math.abs(Date.parse(String(date)) - Date.now() - days * DAY_MS) < DAY_MS / 2;
      });
      assert.equal((await fetchOnce({ port })).status, 200);
      asked += 1;
      kept.send('GET / HTTP/1.1\r\nhost: h\r\n\r\n');
      const answers = (): number => kept.received().split(' 200 OK').length - 1;
      await waitUntil('an answer on the kept connection', () => answers() === asked);
      const { uptime_current_epoch: uptime } = JSON.parse(
        (await sluice.admin('/server_info')).body,
      ) as { uptime_current_epoch: string };
      assert.ok(Number.parseInt(uptime, 10) < 3600, uptime);
    }
  }
  kept.destroy();
  assert.deepEqual(childrenOf(sluice.pid), workers);
  assert.equal(await sluice.stat('sluice.worker.exits_unasked'), 0);
});
