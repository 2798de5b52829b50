/** Filters of gRPC in the program: browsers, clients of HTTP/1 and of JSON call one service. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { lengthDelimited, keyBytes, varintBytes } from '../../../shared/protobuf/records.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttp2Upstream } from '../../support/peers/http2.ts';
import { isQuiet, proxyToHttp2 } from '../../support/programs/http2-upstreams.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const MESSAGE = Buffer.from('\0\0\0\0\u0004\n\u0002hi', 'latin1');
const OK_FRAME = '\u0080\0\0\0\u000fgrpc-status:0\r\n';

function filter(name: string, message: string, config: object = {}): object {
  return {
    name: `envoy.filters.http.${name}`,
    typed_config: { '@type': `${TYPE}.${name}.v3.${message}`, ...config },
  };
}

const ROUTER = filter('router', 'Router');

/** Sends back what it got; calls of `Fail` end with a status behind the message. */
function echo(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const isFailure = headers[':path']?.endsWith('Fail') === true;
  const isPlain = headers[':path']?.endsWith('Plain') === true;
  const type = isPlain ? 'text/plain' : 'application/grpc';
  stream.respond({ ':status': 200, 'content-type': type }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': isFailure ? '13' : '0' }));
  stream.pipe(stream);
}

async function start(...filters: readonly object[]) {
  const upstream = await startHttp2Upstream(echo);
  const sluice = await proxyToHttp2(upstream.port, { hcm: { http_filters: [...filters, ROUTER] } });
  return {
    sluice,
    ask: (path: string, headers: Readonly<Record<string, string>>, body: string | Buffer) =>
      fetchOnce({ port: sluice.port, path, method: 'POST', headers, body }),
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

describe('gRPC-Web', () => {
  it('has its trailers in the body, as bytes and as text', async () => {
    await using proxy = await start(filter('grpc_web', 'GrpcWeb'));
    const binary = await proxy.ask('/a.B/C', { 'content-type': 'application/grpc-web' }, MESSAGE);
    assert.equal(binary.headers['content-type'], 'application/grpc-web+proto');
    assert.equal(Buffer.from(binary.body).includes('grpc-status:0\r\n'), true);
    const type = 'application/grpc-web-text';
    const text = await proxy.ask(
      '/a.B/C',
      { 'content-type': type, accept: type },
      MESSAGE.toString('base64'),
    );
    assert.equal(
      text.body,
      MESSAGE.toString('base64') + Buffer.from(OK_FRAME, 'latin1').toString('base64'),
    );
    await proxy.sluice.waitForStat('cluster.up.grpc-web.a.B.C.success', (value) => value === 2);
    await isQuiet(proxy.sluice);
  });

  it('has the text of an answer that is not gRPC as its message, and no trailers', async () => {
    await using proxy = await start(filter('grpc_web', 'GrpcWeb'));
    const { headers, body } = await proxy.ask(
      '/a.B/Plain',
      { 'content-type': 'application/grpc-web' },
      'sorry',
    );
    assert.deepEqual(
      [headers['grpc-message'], headers['content-length'], body],
      ['sorry', '0', ''],
    );
  });

  it('is refused when its text is no base64', async () => {
    await using proxy = await start(filter('grpc_web', 'GrpcWeb'));
    const { status, headers } = await proxy.ask(
      '/a.B/C',
      { 'content-type': 'application/grpc-web-text' },
      '%%%bad',
    );
    assert.equal(status, 400);
    assert.equal(headers['grpc-status'], '13');
  });
});

describe('the bridge for HTTP/1', () => {
  it('says a late status in the headers, and frames bare messages', async () => {
    await using proxy = await start(
      filter('grpc_http1_bridge', 'Config', { upgrade_protobuf_to_grpc: true }),
    );
    const type = { 'content-type': 'application/x-protobuf' };
    const good = await proxy.ask('/a.B/C', type, 'hi');
    assert.deepEqual([good.status, good.headers['grpc-status'], good.body], [200, '0', 'hi']);
    const late = await proxy.ask('/a.B/Fail', type, 'hi');
    assert.deepEqual([late.status, late.headers['grpc-status'], late.body], [503, '13', 'hi']);
  });
});

describe('statistics of gRPC', () => {
  it('count calls and messages by service and method', async () => {
    await using proxy = await start(
      filter('grpc_stats', 'FilterConfig', { stats_for_all_methods: true }),
    );
    const type = { 'content-type': 'application/grpc' };
    await proxy.ask('/a.B/C', type, Buffer.concat([MESSAGE, MESSAGE]));
    await proxy.ask('/a.B/Fail', type, MESSAGE);
    const expected = {
      'C.0': 1,
      'C.success': 1,
      'C.request_message_count': 2,
      'C.response_message_count': 2,
      'Fail.13': 1,
      'Fail.failure': 1,
      'Fail.total': 1,
    };
    for (const [name, count] of Object.entries(expected)) {
      await proxy.sluice.waitForStat(`cluster.up.grpc.a.B.${name}`, (value) => value === count);
    }
  });
});

function text(number: number, value: string): Buffer {
  return lengthDelimited(number, Buffer.from(value));
}

function flag(number: number, value: number): Buffer {
  return Buffer.concat([keyBytes(number, 0), varintBytes(BigInt(value))]);
}

/**
 * `message Item { string id = 1; int32 page = 2; }`, `rpc Get` at `/v1/items/{id}`, `rpc List` at
 * `/v1/streams/{id}`, `rpc Fail`.
 */
function descriptorSet(): string {
  const nested = (number: number, ...parts: readonly Buffer[]) =>
    lengthDelimited(number, Buffer.concat(parts));
  const field = (name: string, number: number, type: number) =>
    nested(2, text(1, name), flag(3, number), flag(4, 1), flag(5, type));
  const method = (name: string, rule: Buffer, ...more: readonly Buffer[]) =>
    nested(
      2,
      text(1, name),
      text(2, '.s.Item'),
      text(3, '.s.Item'),
      nested(4, nested(72_295_728, rule)),
      ...more,
    );
  const file = nested(
    1,
    text(1, 's.proto'),
    text(2, 's'),
    nested(4, text(1, 'Item'), field('id', 1, 9), field('page', 2, 5)),
    nested(
      6,
      text(1, 'Shop'),
      method('Get', text(2, '/v1/items/{id}')),
      method('List', text(2, '/v1/streams/{id}'), flag(6, 1)),
      method('Fail', Buffer.concat([text(4, '/v1/items'), text(7, '*')])),
    ),
    text(12, 'proto3'),
  );
  return file.toString('base64');
}

describe('JSON', () => {
  const transcoder = filter('grpc_json_transcoder', 'GrpcJsonTranscoder', {
    proto_descriptor_bin: descriptorSet(),
    services: ['s.Shop'],
  });

  it('calls the method of its path, with what path, query and body say', async () => {
    await using proxy = await start(transcoder);
    const found = await fetchOnce({ port: proxy.sluice.port, path: '/v1/items/a%20b?page=3' });
    assert.deepEqual([found.status, found.body], [200, '{"id":"a b","page":3}']);
    assert.equal(found.headers['content-type'], 'application/json');
    const failed = await proxy.ask('/v1/items', {}, '{"id":"x"}');
    assert.deepEqual([failed.status, failed.headers['grpc-status']], [500, '13']);
    await isQuiet(proxy.sluice);
  });

  it('names a stream of events as such, and what is behind a request', async () => {
    await using proxy = await start(
      filter('grpc_json_transcoder', 'GrpcJsonTranscoder', {
        proto_descriptor_bin: descriptorSet(),
        services: ['s.Shop'],
        print_options: { stream_sse_style_delimited: true },
      }),
    );
    const stream = await fetchOnce({ port: proxy.sluice.port, path: '/v1/streams/a' });
    assert.equal(stream.headers['content-type'], 'text/event-stream');
    assert.equal(stream.body, 'data: {"id":"a"}\n\n');
    const { status, body } = await proxy.ask('/v1/items', {}, '{"id":"x"} y');
    assert.equal(status, 400);
    assert.match(body, /^Parsing terminated before end of input/);
  });

  it('is refused with what is wrong', async () => {
    await using proxy = await start(transcoder);
    const { status, body } = await proxy.ask('/v1/items', {}, '{"page":"x"}');
    assert.deepEqual([status, body], [400, 'page: invalid value "x" for type TYPE_INT32']);
    const large = await proxy.ask('/v1/items', {}, `{"id":"${'x'.repeat(2 ** 21)}"}`);
    assert.equal(large.status, 413);
  });
});
