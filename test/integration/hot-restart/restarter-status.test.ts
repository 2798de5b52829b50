/** Any local user may connect to the socket that answers `sluice-restarter status`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import net from 'node:net';
import { describe, it } from 'node:test';
import { makeEpochs } from '../../support/programs/epochs.ts';
import { startRestarter, restarterStatus } from '../../support/programs/restarter.ts';
import { waitUntil } from '../../support/wait.ts';

/** More than the limit on connections, and fewer than that on descriptors. */
const CLIENTS = 300;
const CONNECTIONS_MAX = 16;

describe('connections to a restarter that nobody ends', () => {
  it('are few, and do not end it', async () => {
    await using epochs = await makeEpochs();
    epochs.writeBootstrap();
    await using restarter = startRestarter(epochs);
    await restarter.saw('epoch 0 is live');
    const open = (): number => readdirSync(`/proc/${restarter.process.pid}/fd`).length;
    const before = open();
    const path = `\0sluice_restarter_${epochs.baseId}`;
    const clients = Array.from({ length: CLIENTS }, () =>
      net.connect({ path, allowHalfOpen: true }),
    );
    try {
      for (const client of clients) client.on('error', () => undefined);
      await Promise.all(clients.map((client) => once(client, 'connect')));
      await waitUntil('few connections', () => open() <= before + CONNECTIONS_MAX);
    } finally {
      for (const client of clients) client.destroy();
    }
    const [epoch] = await waitUntil('an answer', async () => {
      return await restarterStatus(epochs).catch(() => undefined);
    });
    assert.equal(epoch?.state, 'live');
  });
});
