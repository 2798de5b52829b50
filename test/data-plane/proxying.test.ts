/** Requests and answers as they pass a worker's data plane, seen from both ends of real sockets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../support/parts/data-plane.ts';
import { direct, prefix, route } from '../support/parts/routes.ts';
import { openRaw } from '../support/peers/raw-client.ts';
import { PIPELINED_REQUESTS, pipeliningOnce } from '../support/peers/hostile/pipelining.ts';
import { startHttpUpstream, startRawUpstream } from '../support/peers/upstream.ts';

const HEAD_END = '\r\n\r\n';

/** An upstream that answers every request with the same bytes, as soon as its head is there. */
async function rawAnswer(answer: string, closes = false) {
  return startRawUpstream((socket, received) => {
    let answered = 0;
    socket.on('data', () => {
      const heads = received().split(HEAD_END).length - 1;
      for (; answered < heads; answered++) socket.write(answer, 'latin1');
      if (closes && answered > 0) socket.end();
    });
  });
}

describe('proxying', () => {
  it('writes the request again, with the headers of a proxy, and the answer with its own', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', () =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Up: Yes\r\n\r\nhi'),
      );
    });
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send('GET /a?b HTTP/1.1\r\nHost: h.test\r\nX-Some: 1\r\nConnection: keep-alive\r\n\r\n');
    const answer = await client.until(/hi$/);
    assert.match(
      upstream.received[0] ?? '',
      /^GET \/a\?b HTTP\/1\.1\r\nhost: h\.test\r\nx-some: 1\r\nx-forwarded-proto: http\r\nx-request-id: [0-9a-f-]{36}\r\nx-envoy-expected-rq-timeout-ms: 15000\r\n\r\n$/,
    );
    assert.match(
      answer,
      /^HTTP\/1\.1 200 OK\r\ncontent-length: 2\r\nx-up: Yes\r\nx-envoy-upstream-service-time: \d+\r\ndate: [^\r]+ GMT\r\nserver: envoy\r\n\r\nhi$/,
    );
    client.destroy();
  });

  it('uses one connection of the client and one upstream for many requests', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    for (let round = 1; round <= 5; round++) {
      client.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
      await client.until((text) => text.split('hello').length - 1 === round);
    }
    const stats = plane.stats();
    assert.equal(stats.get('cluster.up.upstream_cx_total'), 1);
    assert.equal(stats.get('cluster.up.upstream_rq_total'), 5);
    assert.equal(stats.get('http.web.downstream_cx_total'), 1);
    assert.equal(stats.get('http.web.downstream_rq_total'), 5);
    assert.equal(stats.get('http.web.downstream_rq_2xx'), 5);
    assert.equal(stats.get('cluster.up.upstream_rq_200'), 5);
    assert.equal(stats.get('cluster.up.external.upstream_rq_2xx'), 5);
    assert.equal(stats.get('listener.web.http.web.downstream_rq_completed'), 5);
    client.destroy();
  });

  it('counts answers below a further name that an internal client asks for', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: {
        useRemoteAddress: true,
        internalCidrs: [{ address: '127.0.0.0', prefixLength: 8 }],
      },
    });
    const client = await openRaw(plane.port);
    const name = 'x-envoy-upstream-alt-stat-name';
    for (const [round, value] of ['other.', 'o'.repeat(257), ''].entries()) {
      client.send(`GET / HTTP/1.1\r\nHost: h\r\n${name}: ${value}\r\n\r\n`);
      await client.until((text) => text.split('hello').length - 1 === round + 1);
    }
    client.destroy();
    assert.equal(
      upstream.requests.some(({ headers }) => name in headers),
      false,
    );
    const counted = [...plane.stats()].filter(
      ([stat, count]) => stat.endsWith('upstream_rq_200') && count > 0,
    );
    assert.deepEqual(Object.fromEntries(counted), {
      'cluster.up.upstream_rq_200': 3,
      'cluster.up.internal.upstream_rq_200': 3,
      'cluster.up.other.upstream_rq_200': 1,
      'cluster.up.other.internal.upstream_rq_200': 1,
    });
  });

  it('answers pipelined requests in order', async () => {
    await using upstream = await startHttpUpstream((request, response) =>
      response.end(request.url),
    );
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    const paths = Array.from({ length: 20 }, (_, at) => `/p${at}.`);
    client.send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''));
    const answers = await client.until('/p19.');
    assert.deepEqual(answers.match(/\/p\d+\./g), paths);
    client.destroy();
  });

  it('answers thousands of requests of one write in order, in turns of the loop', async () => {
    await using plane = await startDataPlane({ routes: [route(prefix('/'), direct())] });
    assert.equal(await pipeliningOnce(plane.port), PIPELINED_REQUESTS);
  });

  it('passes bodies of every size and framing in both directions', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      const isChunked = request.headers['transfer-encoding'] !== undefined;
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const body = Buffer.concat(pieces);
        if (!isChunked) response.setHeader('content-length', body.length);
        response.end(body);
      });
    });
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    for (const size of [0, 1, 1000, 8192, 8193, 70_000, 1_000_000]) {
      const body = 'x'.repeat(size);
      for (const framed of [
        `Content-Length: ${size}\r\n\r\n${body}`,
        `Transfer-Encoding: chunked\r\n\r\n${size > 0 ? `${size.toString(16)}\r\n${body}\r\n` : ''}0\r\n\r\n`,
      ]) {
        const answer = await fetchRaw(
          plane.port,
          `POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n${framed}`,
        );
        assert.equal(bodyOf(answer).length, size, `${size} ${framed.slice(0, 20)}`);
      }
    }
  });

  it('says how an answer to HEAD would be framed and sends no body', async () => {
    await using upstream = await rawAnswer('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n');
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send('HEAD / HTTP/1.1\r\nHost: h\r\n\r\nHEAD / HTTP/1.1\r\nHost: h\r\n\r\n');
    const answers = await client.until((text) => text.split(HEAD_END).length === 3);
    assert.equal(answers.match(/content-length: 10/g)?.length, 2);
    client.destroy();
  });

  it('sends 100 Continue itself before it routes', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send('POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.send('ok');
    await client.until('hello');
    assert.equal(upstream.requests[0]?.headers.expect, undefined);
    client.destroy();
  });

  it('asks the upstream to continue where that is configured', async () => {
    await using upstream = await rawAnswer(
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    );
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: { proxy100Continue: true },
    });
    const client = await openRaw(plane.port);
    client.send('POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
    await client.until(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    assert.match(upstream.received[0] ?? '', /expect: 100-continue/);
    client.destroy();
  });

  it('passes a body that only the close of the upstream ends', async () => {
    await using upstream = await rawAnswer('HTTP/1.1 200 OK\r\n\r\nuntil the end', true);
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    const client = await openRaw(plane.port);
    client.send('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
    assert.match(
      await client.until('0\r\n\r\n'),
      /transfer-encoding: chunked\r\n\r\nd\r\nuntil the end\r\n0\r\n\r\n$/,
    );
    client.destroy();
  });

  it('distributes requests over the hosts of a cluster', async () => {
    await using first = await startHttpUpstream();
    await using second = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [first.port, second.port] });
    for (let round = 0; round < 10; round++) {
      await fetchRaw(plane.port, 'GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
    }
    assert.deepEqual([first.requests.length, second.requests.length], [5, 5]);
  });

  it('tunnels an upgraded connection where upgrades are allowed', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nwelcome',
        );
        socket.on('data', (piece) => socket.write(`<${piece.toString()}>`));
      });
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: { upgrades: [{ type: 'echo', enabled: true }] },
    });
    const client = await openRaw(plane.port);
    client.send('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    const answer = await client.until('welcome');
    assert.match(answer, /^HTTP\/1\.1 101 Switching Protocols\r\nupgrade: echo\r\n/);
    client.send('ping');
    await client.until('<ping>');
    client.destroy();
  });
});

async function fetchRaw(port: number, request: string): Promise<string> {
  const client = await openRaw(port);
  client.send(request);
  return client.closed();
}

function bodyOf(answer: string): string {
  const at = answer.indexOf(HEAD_END);
  const body = answer.slice(at + HEAD_END.length);
  if (!/transfer-encoding: chunked/.test(answer.slice(0, at))) return body;
  let text = '';
  for (let from = 0; ;) {
    const lineEnd = body.indexOf('\r\n', from);
    const size = Number.parseInt(body.slice(from, lineEnd), 16);
    if (!(size > 0)) return text;
    text += body.slice(lineEnd + 2, lineEnd + 2 + size);
    from = lineEnd + 2 + size + 2;
  }
}
