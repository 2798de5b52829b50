/** HTTP/2 clients in front of HTTP/1 upstreams, on real sockets. */
import assert from 'node:assert/strict';
import http2 from 'node:http2';
import { describe, it } from 'node:test';
import { direct, prefix, route } from '../../support/parts/routes.ts';
import { startDataPlane } from '../../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../../support/parts/http2-options.ts';
import {
  dataFrame,
  exchange,
  type Fields,
  framesOf,
  GET,
  headersFrame,
  openFrames,
  openHttp2,
} from '../../support/peers/http2-client.ts';
import { startHttpUpstream, startRawUpstream } from '../../support/peers/upstream.ts';
import { waitUntil } from '../../support/wait.ts';
import { Flag, FrameType } from '../../../workers/http2/frames.ts';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = http2.constants;
const HTTP1 = { enableTrailers: true, allowChunkedLength: false, headerCase: 'lower' } as const;

describe('an HTTP/2 client', () => {
  it('is known by its first bytes, and HTTP/1 clients beside it by theirs', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await using client = await openHttp2(plane.port);
    const answer = await client.ask({ ':path': '/a?b', cookie: ['c=1', 'd=2'], accept: '*/*' });
    assert.equal(answer.status, 200);
    assert.equal(answer.body, 'hello');
    assert.equal(answer.headers['server'], 'envoy');
    assert.equal(answer.headers['connection'], undefined);
    const seen = upstream.requests[0];
    assert.equal(seen?.path, '/a?b');
    assert.equal(seen?.headers.host, `127.0.0.1:${plane.port}`);
    assert.equal(seen?.headers.cookie, 'c=1; d=2');
    const text = await fetch(`http://127.0.0.1:${plane.port}/x`).then((each) => each.text());
    assert.equal(text, 'hello');
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_cx_http2_total'), 1);
    assert.equal(stats.get('http.web.downstream_cx_http1_total'), 1);
    assert.equal(stats.get('http.web.downstream_rq_http2_total'), 1);
    assert.equal(stats.get('http.web.downstream_rq_http1_total'), 1);
    assert.equal(stats.get('http2.streams_active'), 0);
  });

  it('has many streams at once, with bodies both ways', async () => {
    await using upstream = await startHttpUpstream((request, response) => request.pipe(response));
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await using client = await openHttp2(plane.port);
    const bodies = Array.from({ length: 50 }, (_, at) => String(at).repeat(1 + at * 3000));
    const answers = await Promise.all(
      bodies.map((body) => client.ask({ ':method': 'POST', ':path': '/' }, body)),
    );
    assert.ok(answers.every(({ body }, at) => body === bodies[at]));
    assert.equal(plane.stats().get('http.web.downstream_cx_total'), 1);
  });

  it('sends and gets trailers', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { trailer: 'x-sum' });
        response.write('body');
        response.addTrailers({ 'x-sum': '7' });
        response.end();
      });
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      upstreamHttp: { http1: HTTP1 },
      manager: {
        http1: { ...HTTP1, acceptHttp10: false, defaultHostForHttp10: '', allowAbsoluteUrl: true },
      },
    });
    await using client = await openHttp2(plane.port);
    const stream = client.session.request(
      { ':method': 'POST', ':path': '/' },
      { endStream: false, waitForTrailers: true },
    );
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-more': '1' }));
    const answer = await exchange(stream, 'some');
    assert.equal(answer.body, 'body');
    assert.equal(answer.trailers['x-sum'], '7');
    assert.equal(plane.stats().get('http2.trailers'), 1);
  });

  it('ends the exchange upstream when it resets, and leaves nothing behind', async () => {
    const ended: string[] = [];
    await using upstream = await startHttpUpstream((request, response) => {
      response.write('begin');
      request.socket.on('close', () => ended.push('closed'));
    });
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await using client = await openHttp2(plane.port);
    const stream = client.session.request({ ':path': '/' });
    stream.on('error', () => undefined);
    await new Promise((resolve) => stream.once('data', resolve));
    stream.close(NGHTTP2_CANCEL);
    await waitUntil('the upstream to see the end', () => ended.length === 1);
    const stats = plane.stats();
    assert.equal(stats.get('http.web.downstream_rq_active'), 0);
    assert.equal(stats.get('http.web.downstream_rq_rx_reset'), 1);
    assert.equal(stats.get('http2.rx_reset'), 1);
    assert.equal(stats.get('http2.streams_active'), 0);
  });

  it('sees a response that breaks off as a reset, and its siblings do not', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.on('data', (data) => {
        if (!data.toString().startsWith('GET /broken')) {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        } else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf');
      });
    });
    await using plane = await startDataPlane({ upstreamPorts: [upstream.port] });
    await using client = await openHttp2(plane.port);
    const [broken, whole] = await Promise.all([
      client.ask({ ':path': '/broken' }),
      client.ask({ ':path': '/whole' }),
    ]);
    assert.equal(broken.code, NGHTTP2_INTERNAL_ERROR);
    assert.equal(whole.body, 'ok');
    assert.equal(whole.code, NGHTTP2_NO_ERROR);
  });

  it('is told by GOAWAY in two steps that it has asked enough', async () => {
    await using upstream = await startHttpUpstream();
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: { maxRequestsPerConnection: 2, drainTimeoutMs: 50, delayedCloseTimeoutMs: 50 },
    });
    const client = await openFrames(plane.port);
    client.send(headersFrame(1, GET));
    client.send(headersFrame(3, GET));
    const frames = framesOf(await client.closed());
    const goaways = frames.filter(({ type }) => type === FrameType.goaway);
    assert.deepEqual(
      goaways.map(({ payload }) => [payload.readUInt32BE(0), payload.readUInt32BE(4)]),
      [
        [2 ** 31 - 1, 0],
        [3, 0],
      ],
    );
    assert.equal(frames.filter(({ type }) => type === FrameType.headers).length, 2);
    assert.equal(plane.stats().get('http.web.downstream_cx_max_requests_reached'), 1);
    assert.equal(plane.stats().get('http2.goaway_sent'), 1);
  });

  it('switches to a websocket by extended CONNECT', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n');
        socket.write('connection: upgrade\r\n\r\n');
        socket.on('data', (data) => socket.write(data));
      });
    });
    await using plane = await startDataPlane({
      upstreamPorts: [upstream.port],
      manager: {
        upgrades: [{ type: 'websocket', enabled: true }],
        http2: { ...HTTP2_OPTIONS, allowConnect: true },
      },
    });
    await using client = await openHttp2(plane.port);
    assert.equal(client.session.remoteSettings.enableConnectProtocol, true);
    const stream = client.session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/chat',
    });
    const headers = await new Promise<http2.IncomingHttpHeaders>((resolve) =>
      stream.once('response', resolve),
    );
    assert.equal((headers as http2.IncomingHttpStatusHeader)[':status'], 200);
    assert.equal(headers['upgrade'], undefined);
    const echoed = new Promise((resolve) => stream.once('data', (each) => resolve(String(each))));
    stream.write('ping');
    assert.equal(await echoed, 'ping');
    assert.match(upstream.received[0] ?? '', /^GET \/chat HTTP\/1\.1\r\n/);
    assert.match(upstream.received[0] ?? '', /\r\nupgrade: websocket\r\n/);
    stream.close();
  });

  it('gets the errors of a gRPC call as trailers alone', async () => {
    await using plane = await startDataPlane({ routes: [] });
    await using client = await openHttp2(plane.port);
    const headers = { ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc' };
    const answer = await client.ask(headers, 'abcde');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['grpc-status'], '12');
    assert.equal(answer.body, '');
  });

  it('is told that nobody waits for the rest of a request that is answered', async () => {
    await using plane = await startDataPlane({ routes: [route(prefix('/'), direct())] });
    const client = await openFrames(plane.port);
    client.send(headersFrame(1, GET, 0));
    const text = await client.until((each) =>
      framesOf(each).some(({ type }) => type === FrameType.rstStream),
    );
    const reset = framesOf(text).find(({ type }) => type === FrameType.rstStream);
    assert.equal(reset?.payload.readUInt32BE(0), NGHTTP2_NO_ERROR);
    client.destroy();
  });
});

/** Each of them could be two messages for an upstream, or another one than for this proxy. */
const AMBIGUOUS: readonly (readonly [title: string, fields: Fields, body?: string])[] = [
  ['less body than its length', [...GET, ['content-length', '9']], 'short'],
  ['more body than its length', [...GET, ['content-length', '2']], 'longer'],
  ['two lengths', [...GET, ['content-length', '5'], ['content-length', '6']], 'hello'],
  ['a length that is no number', [...GET, ['content-length', '+5']], 'hello'],
  ['transfer-encoding', [...GET, ['transfer-encoding', 'chunked']], '0\r\n\r\nGET /smuggled'],
  ['connection', [...GET, ['connection', 'x-a']]],
  ['upgrade', [...GET, ['upgrade', 'websocket']]],
  ['te', [...GET, ['te', 'gzip']]],
  ['a line break in a value', [...GET, ['x-a', 'b\r\nx-smuggled: 1']]],
  ['a line break in a name', [...GET, ['x-a: b\r\nx-smuggled', '1']]],
  ['a colon in a name', [...GET, ['x:a', '1']]],
  ['an upper-case name', [...GET, ['X-A', '1']]],
  ['a blank before its length', [...GET, ['content-length', ' 5']], 'hello'],
  ['a blank behind its authority', replaced(':authority', 'h ')],
  ['a zero byte', [...GET, ['x-a', 'a\0b']]],
  ['a blank in its path', replaced(':path', '/a HTTP/1.1\r\nhost: x')],
  ['a path that is a URL', replaced(':path', 'http://other/')],
  ['a path of nothing', replaced(':path', '')],
  ['a blank in its method', replaced(':method', 'GET /smuggled')],
  ['a user in its authority', replaced(':authority', 'me@h')],
  ['a slash in its authority', replaced(':authority', 'h/smuggled')],
  ['a scheme that is none', replaced(':scheme', 'http:/')],
  ['no path', GET.filter(([name]) => name !== ':path')],
  ['two paths', [...GET.slice(0, 4), [':path', '/other']]],
  ['a pseudo header behind a header', [...GET.slice(0, 3), ['x-a', '1'], [':path', '/']]],
  ['an unknown pseudo header', [...GET, [':smuggled', '1']]],
  ['a status', [...GET, [':status', '200']]],
];

function replaced(name: string, value: string): Fields {
  return GET.map((field) => (field[0] === name ? [name, value] : field));
}

describe('an ambiguous HTTP/2 request', () => {
  for (const [title, fields, body] of AMBIGUOUS) {
    it(`reaches no upstream as a whole message: ${title}`, async () => {
      await using upstream = await startRawUpstream(() => undefined);
      await using plane = await startDataPlane({
        upstreamPorts: [upstream.port],
        manager: { http2: { ...HTTP2_OPTIONS, endsStreamOnInvalidMessage: true } },
      });
      const client = await openFrames(plane.port);
      const end = body === undefined ? '' : dataFrame(1, body, Flag.endStream);
      client.send(headersFrame(1, fields, body === undefined ? Flag.endStream : 0) + end);
      const text = await client.until((each) =>
        framesOf(each).some(({ type }) => type === FrameType.rstStream),
      );
      const frames = framesOf(text);
      assert.ok(!frames.some(({ type }) => type === FrameType.headers));
      assert.doesNotMatch(upstream.received.join(''), /smuggled|\r\n0\r\n\r\n$/);
      assert.equal(plane.stats().get('http.web.downstream_rq_active'), 0);
      client.destroy();
    });
  }

  it('ends its connection where nothing else is configured', async () => {
    await using plane = await startDataPlane({ manager: { delayedCloseTimeoutMs: 20 } });
    const client = await openFrames(plane.port);
    client.send(headersFrame(1, [...GET, ['connection', 'close']]));
    const frames = framesOf(await client.closed());
    assert.ok(!frames.some(({ type }) => type === FrameType.goaway));
    const stats = plane.stats();
    assert.equal(stats.get('http2.rx_messaging_error'), 1);
    assert.equal(stats.get('http.web.downstream_cx_protocol_error'), 1);
    assert.equal(stats.get('http2.streams_active'), 0);
  });
});
