/** Hot restarts under connections of HTTP/2 whose streams are open: all end in good order. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { openHttp2 } from '../../support/peers/http2-client.ts';
import { loopback, makeEpochs, type Epochs } from '../../support/programs/epochs.ts';
import { LONG, startHttp2Load, startLongUpstream } from '../../support/programs/http2-load.ts';
import { http2 } from '../../support/programs/http2-upstreams.ts';
import { waitUntil } from '../../support/wait.ts';

const CONNECTIONS = 10;

/** GOAWAY goes out in two steps, with this in between. */
const DRAIN_TIMEOUT = '0.2s';

function proxying({ port, adminPort }: Epochs, upstreamPort: number): object {
  const route = { cluster: 'up', timeout: '0s' };
  return bootstrap(
    {
      listeners: [
        httpListener([{ match: { prefix: '/' }, route }], {
          hcm: { drain_timeout: DRAIN_TIMEOUT },
          listener: { address: loopback(port) },
        }),
      ],
      clusters: [staticCluster('up', [upstreamPort], { connect_timeout: '10s', ...http2() })],
    },
    { admin: { address: loopback(adminPort) } },
  );
}

describe('a hot restart under open streams', { concurrency: 2 }, () => {
  it('loses no request, and streams end by GOAWAY, none by a reset', async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 5 });
    await using upstream = await startLongUpstream(20);
    const { long } = upstream;
    const options = { bootstrap: proxying(epochs, upstream.port) };
    const first = await epochs.start(0, options);
    const load = startHttp2Load(epochs.port, { connections: CONNECTIONS, restMs: 10, long });
    await waitUntil('requests', () => load.finished() > 5 * CONNECTIONS);
    const second = await epochs.start(1, options);
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    const { failures, finished, goaways, ...more } = await load.stop();
    assert.deepEqual(failures, []);
    assert.ok(goaways >= CONNECTIONS, `${goaways} times GOAWAY`);
    assert.ok(more.long >= 2 * CONNECTIONS, `${more.long} long answers`);
    const total = await second.stat('http.web.downstream_rq_total');
    assert.equal(total, finished + more.long);
    await second.waitForStat('http.web.downstream_rq_active', (value) => value === 0);
  });

  it("leaves a stream that goes on until the parent's time is over", async () => {
    await using epochs = await makeEpochs({ parentShutdownTime: 3 });
    await using upstream = await startLongUpstream(2000);
    const options = { bootstrap: proxying(epochs, upstream.port) };
    const first = await epochs.start(0, options);
    await using client = await openHttp2(epochs.port);
    const { session } = client;
    const stream = session.request({ ':path': LONG });
    let sinceGoaway = -1;
    stream.on('data', () => (sinceGoaway += sinceGoaway < 0 ? 0 : 1));
    stream.on('error', () => undefined);
    session.once('goaway', () => (sinceGoaway = 0));
    await epochs.start(1, options);
    // A drain is told with an answer.
    await waitUntil('GOAWAY', async () => {
      if (sinceGoaway < 0) await client.ask({ ':path': '/' });
      return sinceGoaway >= 0;
    });
    const isOpen = (): boolean => !stream.closed && first.process.exitCode === null;
    await waitUntil('pieces behind GOAWAY', () => sinceGoaway >= 10 && isOpen());
    assert.deepEqual(await first.exited(), { code: 0, signal: null });
    await waitUntil('the end of the stream', () => stream.closed);
  });
});
