/** What a client is told when its upstream fails, and what is counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DataPlaneSetup, startDataPlane } from '../../support/parts/data-plane.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { NO_RETRIES, prefix, route, toCluster } from '../../support/parts/routes.ts';
import { CLOSED_PORT, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';
const BODY = 'upstream connect error or disconnect/reset before headers. reset reason: ';

type OnRequest = Parameters<typeof startRawUpstream>[0];

interface Failure {
  readonly title: string;
  readonly onRequest?: OnRequest;
  readonly setup?: DataPlaneSetup;
  readonly status: number;
  readonly body: string;
  readonly stats: Readonly<Record<string, number>>;
}

const onData =
  (act: OnRequest): OnRequest =>
  (socket, received) =>
    socket.once('data', () => act(socket, received));

const failures: readonly Failure[] = [
  {
    title: 'closes instead of answering',
    onRequest: onData((socket) => socket.end()),
    status: 503,
    body: `${BODY}connection termination`,
    stats: { upstream_rq_503: 1, upstream_cx_destroy_remote_with_active_rq: 1 },
  },
  {
    title: 'resets instead of answering',
    onRequest: onData((socket) => socket.resetAndDestroy()),
    status: 503,
    body: `${BODY}connection termination`,
    stats: { upstream_rq_503: 1 },
  },
  {
    title: 'answers garbage',
    onRequest: onData((socket) => socket.write('this is not http\r\n\r\n')),
    status: 502,
    body: `${BODY}protocol error`,
    stats: { upstream_rq_502: 1, upstream_cx_protocol_error: 1 },
  },
  {
    title: 'answers half a head and closes',
    onRequest: onData((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-')),
    status: 503,
    body: `${BODY}connection termination`,
    stats: { upstream_rq_503: 1 },
  },
  {
    title: 'never answers',
    onRequest: () => undefined,
    setup: { routes: [route(prefix('/'), toCluster({ timeoutMs: 50 }))] },
    status: 504,
    body: 'upstream request timeout',
    stats: { upstream_rq_504: 1, upstream_rq_timeout: 1, upstream_cx_destroy_local: 1 },
  },
  {
    title: 'has no host',
    setup: { upstreamPorts: [] },
    status: 503,
    body: 'no healthy upstream',
    stats: { upstream_rq_503: 1, upstream_cx_none_healthy: 1 },
  },
];

describe('an upstream that fails before its answer', () => {
  for (const { title, onRequest, setup, status, body, stats: expected } of failures) {
    it(`and ${title} leads to ${status}`, async () => {
      await using upstream = await startRawUpstream(onRequest ?? (() => undefined));
      await using plane = await startDataPlane({ upstreamPorts: [upstream.port], ...setup });
      const client = await openRaw(plane.port);
      client.send(GET);
      const answer = await client.until((text) => text.endsWith(body));
      assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      assert.match(
        answer,
        new RegExp(`content-length: ${body.length}\\r\\ncontent-type: text/plain`),
      );
      const stats = plane.stats();
      for (const [name, value] of Object.entries(expected)) {
        assert.equal(stats.get(`cluster.up.${name}`), value, name);
      }
      assert.equal(stats.get('http.web.downstream_rq_5xx'), 1);
      // The client's connection is none the worse for it.
      client.send('GET /second HTTP/1.1\r\nHost: h\r\n\r\n');
      await client.until(/HTTP\/1\.1 50\d.*HTTP\/1\.1 50\d/s);
      client.destroy();
    });
  }

  it('and refuses connections leads to 503', async () => {
    const port = CLOSED_PORT;
    await using plane = await startDataPlane({ upstreamPorts: [port] });
    const client = await openRaw(plane.port);
    client.send(GET);
    await client.until(`${BODY}remote connection failure`);
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_cx_connect_fail'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_pending_failure_eject'), 1);
    assert.equal(stats.get('cluster.up.upstream_cx_active'), 0);
    assert.equal(stats.get(`host.up.127.0.0.1:${port}.cx_connect_fail`), 1);
    client.destroy();
  });
});

describe('an upstream that fails during its answer', () => {
  const partial: readonly (readonly [title: string, bytes: string])[] = [
    ['by length', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'],
  ];
  for (const [title, bytes] of partial) {
    it(`${title} makes the client's message break off`, async () => {
      await using upstream = await startRawUpstream(onData((socket) => socket.end(bytes)));
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        manager: { delayedCloseTimeoutMs: 20 },
      });
      const client = await openRaw(plane.port);
      client.send(GET);
      const answer = await client.closed();
      assert.match(answer, /^HTTP\/1\.1 200 OK/);
      assert.match(answer, /abc/);
      assert.doesNotMatch(answer, /0\r\n\r\n$/, 'it must not look complete');
      const stats = plane.stats();
      assert.equal(stats.get('cluster.up.upstream_cx_protocol_error'), 1);
      assert.equal(stats.get(`host.up.127.0.0.1:${upstream.port}.rq_success`), 1);
      assert.equal(stats.get('http.web.downstream_rq_active'), 0);
    });
  }
});

describe("a cluster's limits", () => {
  it('refuse what would be too many requests at a time and let later ones pass', async () => {
    const answers: (() => void)[] = [];
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', () => {
        answers.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      });
    });
    const one = { maxConnections: 10, maxPendingRequests: 10, maxRequests: 1, maxRetries: 1 };
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { circuitBreakers: { DEFAULT: one, HIGH: one } },
    });
    const first = await openRaw(plane.port);
    first.send(GET);
    await waitUntil('the first request upstream', () => answers.length === 1);
    const second = await openRaw(plane.port);
    second.send(GET);
    const refusal = await second.until(`${BODY}overflow`);
    assert.match(refusal, /^HTTP\/1\.1 503 .*x-envoy-overloaded: true\r\n/s);
    answers[0]?.();
    await first.until(/ok$/);
    second.send(GET);
    await waitUntil('the second request upstream', () => answers.length === 2);
    answers[1]?.();
    await second.until(/ok$/);
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_rq_active_overflow'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_active'), 0);
    first.destroy();
    second.destroy();
  });

  it('make requests wait for the only connection and refuse those beyond the queue', async () => {
    const answers: (() => void)[] = [];
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', () => {
        answers.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
      });
    });
    const one = { maxConnections: 1, maxPendingRequests: 1, maxRequests: 10, maxRetries: 1 };
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      cluster: { circuitBreakers: { DEFAULT: one, HIGH: one } },
    });
    const clients = await Promise.all([1, 2, 3].map(async () => openRaw(plane.port)));
    const [first, second, third] = clients;
    first?.send(GET);
    await waitUntil('the first request upstream', () => answers.length === 1);
    second?.send(GET);
    await waitUntil('the second request in the queue', () => {
      return plane.stats().get('cluster.up.upstream_rq_pending_active') === 1;
    });
    third?.send(GET);
    await third?.until(`${BODY}overflow`);
    answers[0]?.();
    await waitUntil('the second request upstream', () => answers.length === 2);
    answers[1]?.();
    await second?.until(/ok$/);
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_cx_total'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_pending_overflow'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_pending_active'), 0);
    for (const client of clients) client.destroy();
  });
});

describe('a stream that is older than its cluster allows', () => {
  it('is answered with 504, or cut off where its answer has begun', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', (head) => {
        if (String(head).startsWith('GET /begun')) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome');
        }
      });
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      upstreamHttp: { maxStreamDurationMs: 200 },
    });
    const client = await openRaw(plane.port);
    client.send(GET);
    const answer = await client.until('upstream max stream duration reached');
    assert.match(answer, /^HTTP\/1\.1 504 /);
    client.send('GET /begun HTTP/1.1\r\nHost: h\r\n\r\n');
    assert.match(await client.closed(), /\r\n\r\nsome$/);
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_rq_max_duration_reached'), 2);
    assert.equal(stats.get('cluster.up.upstream_rq_active'), 0);
    assert.equal(stats.get('cluster.up.upstream_cx_active'), 0);
  });
});

describe('an answer that stops in its middle', () => {
  const BEGINNING = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome';

  it('is cut off when the whole request or a try was idle for too long, and counted for its host', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', () => socket.write(BEGINNING));
    });
    const idle = { retryPolicy: { ...NO_RETRIES, perTryIdleTimeoutMs: 200 } };
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      routes: [
        route(prefix('/idle'), toCluster(idle)),
        route(prefix('/'), toCluster({ timeoutMs: 200 })),
      ],
    });
    for (const path of ['/idle', '/']) {
      const client = await openRaw(plane.port);
      client.send(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
      assert.match(await client.closed(), /\r\n\r\nsome$/);
    }
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_rq_per_try_idle_timeout'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_timeout'), 1);
    assert.equal(stats.get(`host.up.127.0.0.1:${upstream.port}.rq_timeout`), 2);
    assert.equal(stats.get(`host.up.127.0.0.1:${upstream.port}.rq_error`) ?? 0, 0);
  });

  it('is an error of its host where it was a gRPC call', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', () => socket.end(BEGINNING));
    });
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send('GET / HTTP/1.1\r\nHost: h\r\nContent-Type: application/grpc\r\n\r\n');
    await client.closed();
    const stats = plane.stats();
    assert.equal(stats.get(`host.up.127.0.0.1:${upstream.port}.rq_error`), 1);
    assert.equal(stats.get('http.web.rq_reset_after_downstream_response_started'), 1);
  });
});
