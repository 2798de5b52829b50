/** HTTP/2 towards hosts, the whole program: HTTP/1 clients in front, node's HTTP/2 servers behind. */
import assert from 'node:assert/strict';
import { type ServerHttp2Stream } from 'node:http2';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { describe, it } from 'node:test';
import { makeAuthority } from '../../support/parts/certificates.ts';
import { tlsSocket } from '../../support/parts/tls.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttp2Upstream } from '../../support/peers/http2.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { echo, http2, isQuiet, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const KIB = 1024;
/** Node's servers refuse streams while much of another one waits. */
const LARGE_SESSIONS = { maxSessionMemory: 1000 };

describe('HTTP/2 to hosts', () => {
  it('carries requests in the order of fields that Envoy has, many on one connection', async () => {
    await using upstream = await startHttp2Upstream(echo);
    await using sluice = await proxyToHttp2(upstream.port);
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
    await using sluice = await proxyToHttp2(upstream.port);
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
    await using sluice = await proxyToHttp2(upstream.port, {
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
    await using sluice = await proxyToHttp2(upstream.port);
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
    await using sluice = await proxyToHttp2(upstream.port);
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
    await using sluice = await proxyToHttp2(upstream.port, {
      cluster: { ...http2(), transport_socket: tlsSocket('Upstream', {}) },
    });
    const answer = await fetchOnce({ port: sluice.port, method: 'POST', body: 'secret' });
    assert.equal(answer.body, 'secret');
    assert.equal(alpn, 'h2');
  });
});
