/** What a receiver of statistics hears while epochs change and when the last one ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loopback, makeEpochs, okBootstrap } from '../../support/programs/epochs.ts';
import { startLoad } from '../../support/peers/load.ts';
import { receiveDatagrams } from '../../support/peers/stats-receivers.ts';
import { waitUntil } from '../../support/wait.ts';

describe('a statsd receiver', () => {
  it('hears of each request once over two hot restarts and the end', async () => {
    await using receiver = await receiveDatagrams();
    await using epochs = await makeEpochs();
    const config = {
      ...okBootstrap(epochs.port, epochs.adminPort),
      stats_flush_interval: '0.3s',
      // A flush of everything at once could be more than the receiver's buffer holds.
      stats_config: {
        stats_matcher: { inclusion_list: { patterns: [{ prefix: 'http.web.downstream_rq' }] } },
      },
      stats_sinks: [
        {
          name: 'envoy.stat_sinks.statsd',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.config.metrics.v3.StatsdSink',
            address: loopback(receiver.port),
          },
        },
      ],
    };
    const first = await epochs.start(0, { bootstrap: config });
    const load = startLoad({ port: epochs.port, restMs: 24 });
    const second = await epochs.start(1, { bootstrap: config });
    assert.equal((await first.exited()).code, 0);
    const third = await epochs.start(2, { bootstrap: config });
    assert.equal((await second.exited()).code, 0);
    const { finished, failures } = await load.stop();
    assert.deepEqual(failures, []);
    assert.equal((await third.stop()).code, 0);
    const heard = (): number =>
      receiver
        .received()
        .flatMap((datagram) => datagram.split('\n'))
        .map((line) => /^envoy\.http\.web\.downstream_rq_total:(\d+)\|c/.exec(line)?.[1])
        .reduce((sum, count) => sum + Number(count ?? 0), 0);
    await waitUntil(`${finished} requests`, () => heard() >= finished);
    assert.equal(heard(), finished);
  });
});
