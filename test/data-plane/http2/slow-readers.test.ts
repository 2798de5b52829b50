/** HTTP/2 clients that take their answers slowly, or not at all. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { exchange, openHttp2 } from '../../support/peers/http2-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';

const MIB = 1024 * 1024;

describe('an HTTP/2 client that reads slowly', () => {
  it('is waited for up to the flush timeout', async () => {
    await using upstream = await startHttpUpstream((_, response) => {
      response.end(Buffer.alloc(100_000, 'x'));
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: { streamFlushTimeoutMs: 50 },
    });
    await using client = await openHttp2(plane.port);
    // The window of 64 KiB is never given back.
    const stream = client.session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    stream.pause();
    await new Promise((resolve) => stream.once('close', resolve));
    const stats = plane.stats();
    assert.equal(stats.get('http2.tx_flush_timeout'), 1);
    assert.equal(stats.get('http2.streams_active'), 0);
    assert.equal((await client.ask({ ':path': '/' })).body.length, 100_000);
  });

  it('has siblings of the slow stream that go on', async () => {
    const large = Buffer.alloc(8 * MIB, 'x');
    await using upstream = await startHttpUpstream((request, response) =>
      response.end(request.url === '/large' ? large : 'small'),
    );
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await using client = await openHttp2(plane.port);
    const slow = client.session.request({ ':path': '/large' });
    await new Promise((resolve) => slow.once('response', resolve));
    for (let count = 0; count < 20; count++) {
      assert.equal((await client.ask({ ':path': '/small' })).body, 'small');
    }
    const active = plane.stats().get('http2.streams_active');
    assert.equal(active, 1);
    const whole = await exchange(slow);
    assert.equal(whole.body.length, large.length);
  });
});
