/** How connections of clients live and end: refusals, timeouts, draining, aborts, back-pressure. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { allGaugesAreZero } from './all-gauges.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

describe('a timeout', () => {
  const partialBody = 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc';
  const cases = [
    [
      'of the stream, while the client sends',
      { streamIdleTimeoutMs: 40 },
      partialBody,
      '408',
      'stream timeout',
      'downstream_rq_idle_timeout',
    ],
    [
      'of the stream, while the upstream thinks',
      { streamIdleTimeoutMs: 40 },
      GET,
      '504',
      'stream timeout',
      'downstream_rq_idle_timeout',
    ],
    [
      'of the request',
      { requestTimeoutMs: 40 },
      partialBody,
      '408',
      'request timeout',
      'downstream_rq_timeout',
    ],
    [
      'of the headers',
      { requestHeadersTimeoutMs: 40 },
      'GET / HTTP/1.1\r\nHo',
      '408',
      'request header timeout',
      'downstream_rq_header_timeout',
    ],
    [
      'of the whole exchange',
      { maxStreamDurationMs: 40 },
      GET,
      '504',
      'downstream duration timeout',
      'downstream_rq_max_duration_reached',
    ],
  ] as const;
  for (const [title, manager, bytes, status, body, counter] of cases) {
    it(`${title} is answered ${status}`, async () => {
      await using upstream = await startRawUpstream(() => undefined);
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        manager: { ...manager, delayedCloseTimeoutMs: 20 },
      });
      const client = await openRaw(plane.port);
      client.send(bytes);
      const answer = await client.until(body);
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), answer);
      client.destroy();
      await allGaugesAreZero(plane);
      assert.equal(plane.stats().get(`http.web.${counter}`), 1);
    });
  }

  it('of an idle connection closes it, at once when it never asked anything', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: { idleTimeoutMs: 250, drainTimeoutMs: 40, delayedCloseTimeoutMs: 20 },
    });
    const silent = await openRaw(plane.port);
    await silent.closed();
    const used = await openRaw(plane.port);
    used.send(GET);
    await used.until('hello');
    await used.closed();
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_cx_idle_timeout'), 2);
    assert.equal(stats.get('http.web.downstream_cx_destroy_local'), 2);
  });

  it('of an idle upstream connection closes it', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      upstreamHttp: { idleTimeoutMs: 40 },
    });
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until('hello');
    await waitUntil('the upstream connection closed', () => {
      return plane.stats().get('cluster.up.upstream_cx_idle_timeout') === 1;
    });
    assert.equal(plane.stats().get('cluster.up.upstream_cx_active'), 0);
    client.destroy();
  });
});
