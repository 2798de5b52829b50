/** How connections of clients live and end: refusals, timeouts, draining, aborts, back-pressure. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/process/clock.ts';
import { type RunningDataPlane, startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

/** Gauges of a worker that must be zero when nothing is open. */
const GAUGES = [
  'http.web.downstream_cx_active',
  'http.web.downstream_rq_active',
  'http.web.downstream_cx_http1_active',
  'listener.web.downstream_cx_active',
  'listener.web.worker_0.downstream_cx_active',
  'cluster.up.upstream_rq_active',
  'cluster.up.upstream_rq_pending_active',
];

async function allGaugesAreZero(plane: RunningDataPlane): Promise<void> {
  await waitUntil('all gauges at zero', () => {
    const stats = plane.stats();
    return GAUGES.every((name) => (stats.get(name) ?? 0) === 0);
  });
}

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

describe('back-pressure', () => {
  const LIMIT = 64 * 1024;
  const TOTAL = 32 * 1024 * 1024;
  /** What the kernel may hold on loopback in both sockets, and what the proxy may. */
  const SLACK = 16 * 1024 * 1024;

  it('stops a client whose upstream does not read, and loses nothing', async () => {
    const sockets: Socket[] = [];
    let received = 0;
    await using upstream = await startRawUpstream((socket) => {
      sockets.push(socket);
      socket.pause();
      socket.removeAllListeners('data');
      socket.on('data', (piece) => {
        received += piece.length;
        if (received > TOTAL && !socket.writableEnded)
          socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      });
      socket.pause();
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { perConnectionBufferLimitBytes: LIMIT },
      listener: { perConnectionBufferLimitBytes: LIMIT },
    });
    const client = await openRaw(plane.port);
    client.send(`POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${TOTAL}\r\n\r\n`);
    client.send(Buffer.alloc(TOTAL, 0x78));
    await waitUntil('reading stopped', () => {
      return (plane.stats().get('http.web.downstream_flow_control_paused_reading_total') ?? 0) > 0;
    });
    assert.ok((plane.stats().get('http.web.downstream_cx_rx_bytes_total') ?? 0) < SLACK);
    const socket = await waitUntil('the connection upstream', () => sockets[0]);
    socket.resume();
    await client.until(/ok$/);
    const stats = plane.stats();
    assert.equal(
      stats.get('http.web.downstream_flow_control_paused_reading_total'),
      stats.get('http.web.downstream_flow_control_resumed_reading_total'),
    );
    client.destroy();
  });

  it('stops an upstream whose client does not read, and loses nothing', async () => {
    await using upstream = await startHttpUpstream((_, response) =>
      response.end(Buffer.alloc(TOTAL, 0x78)),
    );
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { perConnectionBufferLimitBytes: LIMIT },
      listener: { perConnectionBufferLimitBytes: LIMIT },
    });
    const client = await openRaw(plane.port);
    let received = 0;
    client.socket.removeAllListeners('data');
    client.socket.on('data', (piece) => (received += piece.length));
    client.socket.pause();
    client.send(GET);
    await waitUntil('reading stopped', () => {
      return (plane.stats().get('cluster.up.upstream_flow_control_paused_reading_total') ?? 0) > 0;
    });
    assert.ok((plane.stats().get('cluster.up.upstream_cx_rx_bytes_total') ?? 0) < SLACK);
    client.socket.resume();
    await waitUntil('the whole answer', () => received > TOTAL);
    client.destroy();
    await allGaugesAreZero(plane);
  });
});
