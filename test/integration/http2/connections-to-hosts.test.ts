/** Connections to hosts over HTTP/2: their limits and ends, and which protocol they speak. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import assert from 'node:assert/strict';
import { type ServerHttp2Stream } from 'node:http2';
import { describe, it } from 'node:test';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { tlsSocket } from '../../support/parts/tls.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { SETTINGS, startHttp2Upstream, startRawHttp2Upstream } from '../../support/peers/http2.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import {
  echo,
  http2,
  isQuiet,
  protocol,
  proxyToHttp2,
} from '../../support/programs/http2-upstreams.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

describe('connections over HTTP/2', () => {
  it('carry so many requests in all as the cluster says', async () => {
    await using upstream = await startHttp2Upstream(echo);
    const options = { common_http_protocol_options: { max_requests_per_connection: 2 } };
    await using sluice = await proxyToHttp2(upstream.port, { cluster: http2({}, options) });
    for (let round = 0; round < 4; round++) {
      assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    }
    assert.equal(upstream.sessions.length, 2);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_max_requests'), 2);
  });

  it('carry so many at the same time as the cluster says', async () => {
    const streams: ServerHttp2Stream[] = [];
    await using upstream = await startHttp2Upstream((stream) => streams.push(stream));
    await using sluice = await proxyToHttp2(upstream.port, {
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
    await using sluice = await proxyToHttp2(upstream.port, { cluster: http2({}, options) });
    assert.equal((await fetchOnce({ port: sluice.port })).status, 200);
    await sluice.waitForStat('cluster.up.upstream_cx_idle_timeout', (value) => value === 1);
    await sluice.waitForStat('cluster.up.upstream_cx_active', (value) => value === 0);
  });

  it('end when pings stay unanswered', async () => {
    await using upstream = await startRawHttp2Upstream((host, { type }) => {
      if (type === 4 && host.frames.length === 1) host.send(SETTINGS);
    });
    const connection_keepalive = { interval: '0.05s', timeout: '0.05s' };
    await using sluice = await proxyToHttp2(upstream.port, {
      cluster: http2({ connection_keepalive }),
    });
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
    await using sluice = await proxyToHttp2(upstream.port, {
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
    await using sluice = await proxyToHttp2(upstream.port, {
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

describe('a cluster whose hosts choose their protocol by ALPN', () => {
  const cluster = { ...protocol({ auto_config: {} }), transport_socket: tlsSocket('Upstream', {}) };

  it('speaks HTTP/2 where a host agrees to it', async () => {
    using scratch = makeScratch();
    const tls = makeAuthority(scratch.path).issue('up', 'DNS:up.test');
    await using upstream = await startHttp2Upstream(echo, { tls });
    await using sluice = await proxyToHttp2(upstream.port, { cluster });
    const { port } = sluice;
    assert.equal((await fetchOnce({ port, method: 'POST', body: 'one' })).body, 'one');
    const more = Array.from({ length: 5 }, () => fetchOnce({ port, method: 'POST', body: 'x' }));
    for (const { body } of await Promise.all(more)) assert.equal(body, 'x');
    assert.equal(upstream.sessions.length, 1);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http2_total'), 1);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http1_total'), 0);
    await isQuiet(sluice);
  });

  it('falls back to HTTP/1.1, one request at a time on each connection', async () => {
    using scratch = makeScratch();
    const { cert, key } = makeAuthority(scratch.path).issue('up', 'DNS:up.test');
    const answers: (() => void)[] = [];
    const server = createServer({ cert, key }, (request, response) => {
      answers.push(() => response.end(`over ${request.httpVersion}`));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: upstreamPort } = server.address() as AddressInfo;
    await using sluice = await proxyToHttp2(upstreamPort, { cluster });
    const { port } = sluice;
    for (const round of [1, 2]) {
      const asked = [fetchOnce({ port }), fetchOnce({ port })];
      await waitUntil('both', () => answers.length === 2 * round);
      for (const answer of answers) answer();
      for (const { body } of await Promise.all(asked)) assert.equal(body, 'over 1.1');
    }
    assert.equal(await sluice.stat('cluster.up.upstream_cx_total'), 2);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http1_total'), 2);
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http2_total'), 0);
    await isQuiet(sluice);
    server.closeAllConnections();
    server.close();
  });
});

describe('a cluster that speaks what clients speak', () => {
  it('speaks HTTP/1.1 to its hosts for clients of HTTP/1', async () => {
    await using upstream = await startHttpUpstream();
    const options = { use_downstream_protocol_config: { http2_protocol_options: {} } };
    await using sluice = await proxyToHttp2(upstream.port, { cluster: protocol(options) });
    assert.equal((await fetchOnce({ port: sluice.port })).body, 'hello');
    assert.equal(await sluice.stat('cluster.up.upstream_cx_http1_total'), 1);
  });
});
