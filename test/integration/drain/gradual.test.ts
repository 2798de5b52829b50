/** The gradual strategy: the share of closed connections grows with the time of the drain. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { watchDrain } from '../../support/peers/drain-curve.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

describe('a gradual drain', { concurrency: true }, () => {
  it('closes more connections each second, all from half of its time on, and fails no request', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }])],
      }),
      args: ['--drain-time-s', '4'],
      concurrency: 2,
    });
    const { adminPort } = sluice;
    const port = await sluice.listenerPort('web');
    const { seconds, failures } = await watchDrain({ target: { port, restMs: 2 }, adminPort }, 3);
    assert.deepEqual(failures, []);
    // floor(elapsed) / 2
    for (const [second, wanted] of [0, 1 / 2, 1].entries()) {
      const { answers = 0, closing = 0 } = seconds[second] ?? {};
      // A machine that is this busy shows no share.
      if (answers < 50) continue;
      const share = closing / answers;
      assert.ok(Math.abs(share - wanted) < 0.2, `second ${second}: ${share}, wanted ${wanted}`);
    }
  });

  it('begins also when listeners are closed at once', async () => {
    await using sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [httpListener([{ match: { prefix: '/' }, direct_response: { status: 200 } }])],
      }),
      args: ['--drain-time-s', '2'],
    });
    const port = await sluice.listenerPort('web');
    const kept = await openRaw(port);
    await sluice.admin({ path: '/drain_listeners', method: 'POST' });
    await sluice.waitForStat('listener_manager.listener_stopped', (count) => count === 1);
    await assert.rejects(fetchOnce({ port }));
    await waitUntil('an announced end', () => {
      kept.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      return kept.received().includes('connection: close');
    });
    assert.equal((await sluice.admin('/ready')).body, 'LIVE\n');
    kept.destroy();
  });
});
