/** Datagrams while one epoch follows another. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { udpListener } from '../../support/parts/udp-listener.ts';
import {
  freeDatagramPort,
  openDatagramClient,
  startDatagramHost,
} from '../../support/peers/services/datagrams.ts';
import { loopback, makeEpochs } from '../../support/programs/epochs.ts';

describe('a hot restart with a listener of datagrams', () => {
  it('leaves no datagram without an answer', async () => {
    await using host = await startDatagramHost((text) => text);
    await using epochs = await makeEpochs();
    const port = await freeDatagramPort();
    const config = bootstrap(
      {
        listeners: [udpListener(port, { cluster: 'up' })],
        clusters: [staticCluster('up', [host.port])],
      },
      { admin: { address: loopback(epochs.adminPort) } },
    );
    const first = await epochs.start(0, { bootstrap: config });
    await using client = await openDatagramClient(port);
    let isOver = false;
    let asked = 0;
    const asking = (async (): Promise<void> => {
      while (!isOver) {
        asked += 1;
        assert.equal(await client.ask(String(asked)), String(asked));
      }
    })();
    const second = await epochs.start(1, { bootstrap: config });
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    isOver = true;
    await asking;
    assert.equal(await second.stat('udp.s.downstream_sess_rx_datagrams'), asked);
    assert.equal(host.heard.length, asked);
  });
});
