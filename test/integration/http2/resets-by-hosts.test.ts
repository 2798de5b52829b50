/** Hosts of HTTP/2 that reset streams, say GOAWAY or close: what clients and gauges see. */
import assert from 'node:assert/strict';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { describe, it } from 'node:test';
import { fetchOnce } from '../../support/peers/http-client.ts';
import {
  frame,
  headerBlock,
  SETTINGS,
  startHttp2Upstream,
  startRawHttp2Upstream,
  words,
} from '../../support/peers/http2.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { echo, isQuiet, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';
import { waitUntil } from '../../support/wait.ts';

describe('a stream that a host resets', () => {
  for (const [title, code, body] of [
    ['with an error', constants.NGHTTP2_INTERNAL_ERROR, 'remote reset'],
    ['as refused', constants.NGHTTP2_REFUSED_STREAM, 'remote refused stream reset'],
  ] as const) {
    it(`before its answer, ${title}, is answered 503`, async () => {
      await using upstream = await startHttp2Upstream((stream) => stream.close(code));
      await using sluice = await proxyToHttp2(upstream.port);
      const answer = await fetchOnce({ port: sluice.port });
      assert.equal(answer.status, 503);
      assert.equal(
        answer.body,
        `upstream connect error or disconnect/reset before headers. reset reason: ${body}`,
      );
      assert.equal(await sluice.stat('cluster.up.http2.rx_reset'), 1);
      await isQuiet(sluice);
      assert.equal(upstream.sessions.length, 1);
    });
  }

  it('as refused is tried again where the route says so', async () => {
    await using upstream = await startHttp2Upstream((stream, _, index) => {
      if (index === 0) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else echo(stream);
    });
    const retry_policy = { retry_on: 'refused-stream', num_retries: 1 };
    await using sluice = await proxyToHttp2(upstream.port, { route: { retry_policy } });
    const answer = await fetchOnce({ port: sluice.port, method: 'POST', body: 'again' });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, 'again');
    assert.equal(await sluice.stat('cluster.up.upstream_rq_retry'), 1);
    await isQuiet(sluice);
  });

  it('in the middle of its answer ends it for the client', async () => {
    await using upstream = await startRawHttp2Upstream((host, { type, stream }) => {
      if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
      if (type !== 1) return;
      const head = frame(1, 4, stream, headerBlock([[':status', '200']]));
      const half = frame(0, 0, stream, Buffer.from('half'));
      host.send(head, half, frame(3, 0, stream, words(constants.NGHTTP2_CANCEL)));
    });
    await using sluice = await proxyToHttp2(upstream.port);
    const client = await openRaw(sluice.port);
    client.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
    const text = await client.closed();
    assert.match(text, /^HTTP\/1\.1 200 OK/);
    assert.match(text, /half\r\n$/);
    await isQuiet(sluice);
  });

  it('for a client that went away hears of it, and its siblings go on', async () => {
    const streams: ServerHttp2Stream[] = [];
    await using upstream = await startHttp2Upstream((stream) => streams.push(stream));
    await using sluice = await proxyToHttp2(upstream.port);
    const sibling = fetchOnce({ port: sluice.port });
    await waitUntil('the sibling', () => streams.length === 1);
    const client = await openRaw(sluice.port);
    client.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
    await waitUntil('the request', () => streams.length === 2);
    client.destroy();
    await waitUntil('the reset', () => streams[1]?.closed === true);
    assert.equal(streams[1]?.rstCode, constants.NGHTTP2_INTERNAL_ERROR);
    streams[0]?.respond({ ':status': 200 });
    streams[0]?.end('still here');
    assert.equal((await sibling).body, 'still here');
    assert.equal(await sluice.stat('cluster.up.upstream_rq_tx_reset'), 1);
    await isQuiet(sluice);
  });
});

describe('a host that says GOAWAY', () => {
  it('finishes what it took, and the next request opens a connection', async () => {
    const streams: ServerHttp2Stream[] = [];
    await using upstream = await startHttp2Upstream((stream) => streams.push(stream));
    await using sluice = await proxyToHttp2(upstream.port);
    const first = fetchOnce({ port: sluice.port });
    await waitUntil('the first', () => streams.length === 1);
    upstream.sessions[0]?.goaway(constants.NGHTTP2_NO_ERROR);
    await sluice.waitForStat('cluster.up.upstream_cx_close_notify', (value) => value === 1);
    const second = fetchOnce({ port: sluice.port });
    await waitUntil('the second', () => streams.length === 2);
    for (const stream of streams) stream.respond({ ':status': 204 }, { endStream: true });
    assert.equal((await first).status, 204);
    assert.equal((await second).status, 204);
    assert.equal(upstream.sessions.length, 2);
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 1);
    await isQuiet(sluice);
  });

  it('leaves streams out, which are tried again on another connection', async () => {
    await using upstream = await startRawHttp2Upstream((host, { type, stream }) => {
      if (type === 4 && stream === 0 && host.frames.length === 1) host.send(SETTINGS);
      if (type !== 1) return;
      if (upstream.hosts[0] === host) host.send(frame(7, 0, 0, words(0, 0)));
      else host.send(frame(1, 5, stream, headerBlock([[':status', '200']])));
    });
    const retry_policy = { retry_on: 'refused-stream', num_retries: 1 };
    await using sluice = await proxyToHttp2(upstream.port, { route: { retry_policy } });
    assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    assert.equal(upstream.hosts.length, 2);
    await isQuiet(sluice);
  });

  it('and closes breaks off what it took', async () => {
    await using upstream = await startHttp2Upstream((stream) => stream.session?.destroy());
    await using sluice = await proxyToHttp2(upstream.port);
    const answer = await fetchOnce({ port: sluice.port });
    assert.equal(answer.status, 503);
    assert.match(answer.body, /reset reason: connection termination$/);
    await isQuiet(sluice);
  });
});
