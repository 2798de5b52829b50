/** SIGTERM with `--drain-on-sigterm`: connections end by themselves before the server does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { GREETING, bootstrap, httpListener } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startSluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
const direct = bootstrap({
  listeners: [
    httpListener(
      GREETING,
      // A client that does not close after an announced end is closed after both.
      { hcm: { drain_timeout: '0.2s', delayed_close_timeout: '0.1s' } },
    ),
  ],
});
const args = ['--drain-on-sigterm', '--drain-strategy', 'immediate', '--drain-time-s', '30'];

describe('SIGTERM with --drain-on-sigterm', { concurrency: 2 }, () => {
  it('ends the server with its last connection, whose requests are answered until then', async () => {
    await using sluice = await startSluice({ bootstrap: direct, args, concurrency: 2 });
    const client = await openRaw(await sluice.listenerPort('web'));
    sluice.signal('SIGTERM');
    await waitUntil('DRAINING', async () => (await sluice.admin('/ready')).body === 'DRAINING\n');
    client.send(GET);
    assert.match(await client.closed(), /connection: close[^]*hi/);
    assert.deepEqual(await sluice.exited(), { code: 0, signal: null });
    assert.match(sluice.stderr(), /caught SIGTERM; draining before the end/);
  });

  it('ends at once with a second signal', async () => {
    await using sluice = await startSluice({ bootstrap: direct, args });
    const client = await openRaw(await sluice.listenerPort('web'));
    sluice.signal('SIGTERM');
    await waitUntil('DRAINING', async () => (await sluice.admin('/ready')).status === 503);
    // Signals that come together count as one.
    await pause(150);
    sluice.signal('SIGTERM');
    assert.deepEqual(await sluice.exited(15_000), { code: 0, signal: null });
    await client.closed();
  });

  it('closes idle connections early with --drain-idle-close-s', async () => {
    await using sluice = await startSluice({
      bootstrap: direct,
      args: [...args, '--drain-idle-close-s', '0'],
    });
    const client = await openRaw(await sluice.listenerPort('web'));
    sluice.signal('SIGTERM');
    await client.closed(15_000);
    assert.deepEqual(await sluice.exited(15_000), { code: 0, signal: null });
  });
});
