/** HTTP/2 towards hosts, the whole program: HTTP/1 clients in front, node's HTTP/2 servers behind. */
import assert from 'node:assert/strict';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../support/parts/bootstrap.ts';
import { makeAuthority } from '../support/parts/certificates.ts';
import { tlsSocket } from '../support/parts/tls.ts';
import { fetchOnce } from '../support/peers/http-client.ts';
import {
  frame,
  headerBlock,
  SETTINGS,
  startHttp2Upstream,
  startRawHttp2Upstream,
  words,
} from '../support/peers/http2.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { type Sluice, startSluice } from '../support/programs/sluice.ts';
import { makeScratch } from '../support/scratch.ts';
import { waitUntil } from '../support/wait.ts';

const EXTENSION = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
const KIB = 1024;
/** Node's servers refuse streams while much of another one waits. */
const LARGE_SESSIONS = { maxSessionMemory: 1000 };

/** The typed options of a cluster. */
function protocol(options: object): object {
  const typed = { '@type': `type.googleapis.com/${EXTENSION}`, ...options };
  return { typed_extension_protocol_options: { [EXTENSION]: typed } };
}

function http2(options: object = {}, more: object = {}): object {
  return protocol({ explicit_http_config: { http2_protocol_options: options }, ...more });
}

interface Setup {
  readonly cluster?: object;
  readonly route?: object;
  readonly hcm?: object;
}

async function proxyTo(port: number, setup: Setup = {}): Promise<Sluice & { port: number }> {
  const route = { cluster: 'up', timeout: '0s', ...setup.route };
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [
        httpListener([{ match: { prefix: '/' }, route }], {
          hcm: { http_protocol_options: { enable_trailers: true }, ...setup.hcm },
        }),
      ],
      clusters: [staticCluster('up', [port], setup.cluster ?? http2())],
    }),
  });
  return Object.assign(sluice, { port: await sluice.listenerPort('web') });
}

async function isQuiet(sluice: Sluice): Promise<void> {
  const names = ['upstream_rq_active', 'upstream_rq_pending_active', 'http2.streams_active'];
  for (const name of names) await sluice.waitForStat(`cluster.up.${name}`, (value) => value === 0);
}

function echo(stream: ServerHttp2Stream): void {
  stream.respond({ ':status': 200, 'x-host': 'h2' });
  stream.pipe(stream);
}

describe('HTTP/2 to hosts', () => {
  it('carries requests in the order of fields that Envoy has, many on one connection', async () => {
    await using upstream = await startHttp2Upstream(echo);
    await using sluice = await proxyTo(upstream.port);
    const { port } = sluice;
    const first = await fetchOnce({
      port,
      path: '/a?b=c',
      method: 'POST',
      body: 'hello',
      headers: { 'x-a': '1', cookie: 'a=b', te: 'trailers' },
    });
    assert.equal(first.status, 200);
    assert.equal(first.body, 'hello');
    assert.equal(first.headers['x-host'], 'h2');
    const [fields = []] = upstream.requests;
    const names = fields.filter((_, at) => at % 2 === 0);
    assert.deepEqual(names.slice(0, 4), [':authority', ':path', ':method', ':scheme']);
    assert.ok(names.includes('te'));
    assert.ok(!names.some((name) => ['connection', 'transfer-encoding', 'host'].includes(name)));
    const more = Array.from({ length: 30 }, (_, at) =>
      fetchOnce({ port, path: `/${at}`, method: 'PUT', body: `body ${at}` }),
    );
    for (const [at, { body }] of (await Promise.all(more)).entries()) {
      assert.equal(body, `body ${at}`);
    }
    assert.equal(upstream.sessions.length, 1);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http2_total'), 1);
    assert.equal(await sluice.stat('cluster.up.upstream_rq_total'), 31);
    await isQuiet(sluice);
  });

  it('opens further connections only where the host takes no more streams', async () => {
    const waiting: ServerHttp2Stream[] = [];
    await using upstream = await startHttp2Upstream((stream) => waiting.push(stream), {
      settings: { maxConcurrentStreams: 2 },
    });
    await using sluice = await proxyTo(upstream.port);
    const { port } = sluice;
    const warm = fetchOnce({ port });
    await waitUntil('the first', () => waiting.length === 1);
    const asked = Array.from({ length: 5 }, () => fetchOnce({ port }));
    await waitUntil('all of them', () => waiting.length === 6);
    assert.equal(upstream.sessions.length, 3);
    for (const stream of waiting) {
      stream.respond({ ':status': 204 }, { endStream: true });
    }
    for (const { status } of await Promise.all([warm, ...asked])) assert.equal(status, 204);
    await isQuiet(sluice);
  });

  it('carries trailers and informational answers', async () => {
    await using upstream = await startHttp2Upstream((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '</a>' });
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '7' }));
      let seen = '';
      stream.on(
        'trailers',
        (trailers: Record<string, unknown>) => (seen = String(trailers['x-t'])),
      );
      stream.resume();
      stream.on('end', () => stream.end(`saw ${seen}`));
    });
    await using sluice = await proxyTo(upstream.port, {
      hcm: { proxy_100_continue: true },
    });
    const client = await openRaw(sluice.port);
    client.send('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n');
    client.send('3\r\nabc\r\n0\r\nx-t: 5\r\n\r\n');
    const text = await client.until('x-sum: 7\r\n\r\n');
    assert.match(text, /^HTTP\/1\.1 103 /);
    assert.match(text, /saw 5/);
    client.destroy();
    await isQuiet(sluice);
  });

  it('keeps the siblings of a stream going whose reader is slow', async () => {
    const size = 40 * KIB * KIB;
    await using upstream = await startHttp2Upstream((stream, headers) => {
      stream.respond({ ':status': 200 });
      if (headers[':path'] === '/large') stream.end(Buffer.alloc(size, 'x'));
      else stream.end('small');
    }, LARGE_SESSIONS);
    await using sluice = await proxyTo(upstream.port);
    const { port } = sluice;
    let bytes = 0;
    const slow = httpRequest({ port, path: '/large', agent: false });
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      slow.on('response', resolve).on('error', reject).end();
    });
    for (let round = 0; round < 20; round++) {
      assert.equal((await fetchOnce({ port, path: '/small' })).body, 'small');
    }
    assert.equal(upstream.sessions.length, 1);
    response.on('data', (piece: Buffer) => (bytes += piece.length));
    await new Promise((resolve) => response.on('end', resolve));
    assert.equal(bytes, size);
    await isQuiet(sluice);
  });

  it('sends large bodies within the windows of a host that reads slowly', async () => {
    const size = 3 * KIB * KIB;
    let bytes = 0;
    await using upstream = await startHttp2Upstream((stream) => {
      stream.on('data', (piece: Buffer) => {
        bytes += piece.length;
        stream.pause();
        setImmediate(() => stream.resume());
      });
      stream.on('end', () => {
        stream.respond({ ':status': 200 });
        stream.end(String(bytes));
      });
    });
    await using sluice = await proxyTo(upstream.port);
    const body = Buffer.alloc(size, 'y');
    const answer = await fetchOnce({ port: sluice.port, method: 'POST', body });
    assert.equal(answer.body, String(size));
    await isQuiet(sluice);
  });

  it('speaks HTTP/2 over TLS, which is offered by ALPN', async () => {
    using scratch = makeScratch();
    const server = makeAuthority(scratch.path).issue('up', 'DNS:up.test');
    let alpn: string | undefined;
    await using upstream = await startHttp2Upstream(
      (stream) => {
        alpn = stream.session?.alpnProtocol;
        echo(stream);
      },
      { tls: server },
    );
    await using sluice = await proxyTo(upstream.port, {
      cluster: { ...http2(), transport_socket: tlsSocket('Upstream', {}) },
    });
    const answer = await fetchOnce({ port: sluice.port, method: 'POST', body: 'secret' });
    assert.equal(answer.body, 'secret');
    assert.equal(alpn, 'h2');
  });
});

describe('a stream that a host resets', () => {
  for (const [title, code, body] of [
    ['with an error', constants.NGHTTP2_INTERNAL_ERROR, 'remote reset'],
    ['as refused', constants.NGHTTP2_REFUSED_STREAM, 'remote refused stream reset'],
  ] as const) {
    it(`before its answer, ${title}, is answered 503`, async () => {
      await using upstream = await startHttp2Upstream((stream) => stream.close(code));
      await using sluice = await proxyTo(upstream.port);
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
    await using sluice = await proxyTo(upstream.port, { route: { retry_policy } });
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
    await using sluice = await proxyTo(upstream.port);
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
    await using sluice = await proxyTo(upstream.port);
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
    await using sluice = await proxyTo(upstream.port);
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
    await using sluice = await proxyTo(upstream.port, { route: { retry_policy } });
    assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    assert.equal(upstream.hosts.length, 2);
    await isQuiet(sluice);
  });

  it('and closes breaks off what it took', async () => {
    await using upstream = await startHttp2Upstream((stream) => stream.session?.destroy());
    await using sluice = await proxyTo(upstream.port);
    const answer = await fetchOnce({ port: sluice.port });
    assert.equal(answer.status, 503);
    assert.match(answer.body, /reset reason: connection termination$/);
    await isQuiet(sluice);
  });
});

describe('connections over HTTP/2', () => {
  it('carry so many requests in all as the cluster says', async () => {
    await using upstream = await startHttp2Upstream(echo);
    const options = { common_http_protocol_options: { max_requests_per_connection: 2 } };
    await using sluice = await proxyTo(upstream.port, { cluster: http2({}, options) });
    for (let round = 0; round < 4; round++) {
      assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    }
    assert.equal(upstream.sessions.length, 2);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_max_requests'), 2);
  });

  it('carry so many at the same time as the cluster says', async () => {
    const streams: ServerHttp2Stream[] = [];
    await using upstream = await startHttp2Upstream((stream) => streams.push(stream));
    await using sluice = await proxyTo(upstream.port, {
      cluster: http2({ max_concurrent_streams: 1 }),
    });
    const asked = [fetchOnce({ port: sluice.port }), fetchOnce({ port: sluice.port })];
    await waitUntil('both', () => streams.length === 2);
    assert.equal(upstream.sessions.length, 2);
    for (const stream of streams) stream.respond({ ':status': 204 }, { endStream: true });
    await Promise.all(asked);
  });

  it('end when they were idle for too long', async () => {
    await using upstream = await startHttp2Upstream(echo);
    const options = { common_http_protocol_options: { idle_timeout: '0.05s' } };
    await using sluice = await proxyTo(upstream.port, { cluster: http2({}, options) });
    assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    await sluice.waitForStat('cluster.up.upstream_cx_idle_timeout', (value) => value === 1);
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 0);
  });

  it('end when pings stay unanswered', async () => {
    await using upstream = await startRawHttp2Upstream((host, { type }) => {
      if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
    });
    const connection_keepalive = { interval: '0.05s', timeout: '0.05s' };
    await using sluice = await proxyTo(upstream.port, { cluster: http2({ connection_keepalive }) });
    const answer = await fetchOnce({ port: sluice.port });
    assert.equal(answer.status, 503);
    assert.match(answer.body, /connection termination$/);
    assert.equal(await sluice.stat('cluster.up.http2.keepalive_timeout'), 1);
    assert.ok(upstream.hosts[0]?.frames.some(({ type }) => type === 6));
    await isQuiet(sluice);
  });

  it('are told of no more requests than the circuit breaker lets through', async () => {
    const streams: ServerHttp2Stream[] = [];
    await using upstream = await startHttp2Upstream((stream) => streams.push(stream));
    const circuit_breakers = { thresholds: [{ max_requests: 1 }] };
    await using sluice = await proxyTo(upstream.port, {
      cluster: { ...http2(), circuit_breakers },
    });
    const first = fetchOnce({ port: sluice.port });
    await waitUntil('the first', () => streams.length === 1);
    const second = await fetchOnce({ port: sluice.port });
    assert.equal(second.status, 503);
    assert.match(second.body, /reset reason: overflow$/);
    assert.equal(second.headers['x-envoy-overloaded'], 'true');
    streams[0]?.respond({ ':status': 204 }, { endStream: true });
    assert.equal((await first).status, 204);
  });
});

describe('an upgrade of HTTP/1', () => {
  it('reaches a host of HTTP/2 as an extended CONNECT', async () => {
    await using upstream = await startHttp2Upstream(echo, {
      settings: { enableConnectProtocol: true },
    });
    await using sluice = await proxyTo(upstream.port, {
      hcm: { upgrade_configs: [{ upgrade_type: 'websocket' }] },
    });
    const client = await openRaw(sluice.port);
    client.send(
      'GET /chat HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    const text = await client.until('\r\n\r\n');
    assert.match(text, /^HTTP\/1\.1 101 /);
    assert.match(text, /upgrade: websocket/);
    client.send('ping over the tunnel');
    await client.until('ping over the tunnel');
    const [fields = []] = upstream.requests;
    assert.deepEqual(fields.slice(0, 10), [
      ':authority',
      'h',
      ':path',
      '/chat',
      ':method',
      'CONNECT',
      ':scheme',
      'http',
      ':protocol',
      'websocket',
    ]);
    client.destroy();
    await isQuiet(sluice);
  });
});
