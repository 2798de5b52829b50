/** How connections of clients live and end: refusals, timeouts, draining, aborts, back-pressure. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/process/clock.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { allGaugesAreZero } from './all-gauges.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

describe('a malformed request', () => {
  const malformed: readonly (readonly [title: string, bytes: string, answer: RegExp])[] = [
    [
      'no request line',
      'NONSENSE\r\n\r\n',
      /^HTTP\/1\.1 400 Bad Request\r\n.*\r\n\r\nBad Request$/s,
    ],
    [
      'no Host',
      'GET / HTTP/1.1\r\n\r\n',
      /^HTTP\/1\.1 400 Bad Request\r\n.*content-length: 0\r\n\r\n$/s,
    ],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      /^HTTP\/1\.1 400 /,
    ],
    [
      'another coding',
      'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n',
      /^HTTP\/1\.1 501 Not Implemented\r\n/,
    ],
    ['HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 426 Upgrade Required\r\n/],
    [
      'large headers',
      `GET / HTTP/1.1\r\nHost: h\r\nX: ${'b'.repeat(70_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 /,
    ],
    [
      'an upgrade that is not enabled',
      'GET / HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      /^HTTP\/1\.1 403 Forbidden\r\n/,
    ],
  ];
  for (const [title, bytes, expected] of malformed) {
    it(`with ${title} is answered, closes and never reaches the upstream`, async () => {
      await using upstream = await startRawUpstream(() => undefined);
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        manager: { delayedCloseTimeoutMs: 20 },
      });
      const client = await openRaw(plane.port);
      client.send(bytes);
      const answer = await client.closed();
      assert.match(answer, expected);
      assert.match(answer, /connection: close\r\n/);
      assert.deepEqual(upstream.received, []);
      await allGaugesAreZero(plane);
    });
  }

  it('is counted as a protocol error', async () => {
    await using plane = await startDataPlane({ manager: { delayedCloseTimeoutMs: 20 } });
    const client = await openRaw(plane.port);
    client.send('NONSENSE\r\n\r\n');
    await client.closed();
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_cx_protocol_error'), 1);
    assert.equal(stats.get('http.web.downstream_rq_4xx'), 1);
    assert.equal(stats.get('http.web.downstream_rq_response_before_rq_complete'), 1);
    assert.equal(stats.get('http.web.downstream_rq_rx_reset'), 1);
    assert.equal(stats.get('http.web.downstream_cx_delayed_close_timeout'), 1);
  });
});

describe('draining', () => {
  it('closes connections with their next answer', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send(GET);
    assert.doesNotMatch(await client.until('hello'), /connection: close/);
    plane.plane.drain({ startedAtNs: systemClock.monotonicNs(), immediate: true });
    client.send(GET);
    const answers = await client.closed();
    assert.equal(answers.match(/connection: close/g)?.length, 1);
    assert.equal(answers.match(/hello/g)?.length, 2);
    assert.equal(plane.stats().get('http.web.downstream_cx_drain_close'), 1);
  });

  it('of another listener leaves connections alone, and an end of the drain too', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    plane.plane.drain({
      startedAtNs: systemClock.monotonicNs(),
      immediate: true,
      listeners: ['other'],
    });
    client.send(GET);
    await client.until('hello');
    plane.plane.drain({ startedAtNs: systemClock.monotonicNs(), immediate: true });
    plane.plane.undrain();
    client.send(GET);
    const answers = await client.until(/hello.*hello/s);
    assert.doesNotMatch(answers, /connection: close/);
    client.destroy();
  });

  it('ends connections after a failed health check', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    plane.plane.setHealthCheckFailed(true);
    const client = await openRaw(plane.port);
    client.send(GET);
    const answer = await client.closed();
    assert.match(answer, /connection: close/);
    assert.doesNotMatch(answer, /x-envoy-immediate-health-check-fail/);
  });

  it('of one listener that stopped accepting lets open connections go on', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    await plane.plane.stopListening(['web'], false);
    await assert.rejects(openRaw(plane.port), /ECONNREFUSED/);
    client.send(GET);
    await client.until('hello');
    client.destroy();
  });
});

describe('a client that goes away', () => {
  const moments: readonly (readonly [title: string, bytes: string])[] = [
    ['before a request', ''],
    ['within a head', 'GET / HT'],
    ['within a body', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc'],
    ['within a chunk', 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab'],
    ['before the answer', GET],
    ['with more requests waiting', GET + GET + GET],
  ];
  for (const [title, bytes] of moments) {
    it(`${title} leaves nothing behind`, async () => {
      await using upstream = await startRawUpstream(() => undefined);
      await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
      for (const how of ['end', 'reset'] as const) {
        const client = await openRaw(plane.port);
        client.send(bytes);
        if (/\r\n\r\n/.test(bytes)) {
          const requests = how === 'end' ? 1 : 2;
          await waitUntil('the request upstream', () => upstream.received.length === requests);
        }
        if (how === 'end') client.end();
        else client.socket.resetAndDestroy();
        await allGaugesAreZero(plane);
        client.destroy();
      }
      await waitUntil('the upstream connections closed', () => {
        return (plane.stats().get('cluster.up.upstream_cx_active') ?? 0) === 0;
      });
    });
  }

  it('within an answer resets the upstream', async () => {
    const sockets: Socket[] = [];
    await using upstream = await startRawUpstream((socket) => {
      sockets.push(socket);
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'));
    });
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until('abc');
    client.destroy();
    await waitUntil('the upstream connection closed', () => sockets[0]?.destroyed);
    await allGaugesAreZero(plane);
  });
});
