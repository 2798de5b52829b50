import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { type Respond, ServerHarness } from '../../../support/peers/http1.ts';

const GET = 'GET / HTTP/1.1\r\nHost: h\r\n\r\n';

function answer(status: number, headers: readonly (readonly [string, string])[] = []): HeaderMap {
  const map = new HeaderMap();
  map.status = status;
  for (const [name, value] of headers) map.add(name, value);
  return map;
}

const withLength: Respond = (encoder) => {
  encoder.encodeHeaders(answer(200, [['content-length', '2']]), false);
  encoder.encodeData(Buffer.from('hi'), true);
};

describe('the HTTP/1 server', () => {
  it('answers pipelined requests one after the other and in order', () => {
    const server = new ServerHarness((encoder, message) => {
      encoder.encodeHeaders(answer(200, [['x-for', message.start]]), true);
    });
    server.feed(
      'GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\n',
    );
    assert.deepEqual(server.wire.written.match(/GET h \/\d/g), [
      'GET h /1',
      'GET h /2',
      'GET h /3',
    ]);
  });

  it('keeps further requests while an answer is out, up to a limit, and goes on with them', () => {
    const pending: (() => void)[] = [];
    const server = new ServerHarness((encoder) => {
      pending.push(() => encoder.encodeHeaders(answer(204), true));
    });
    server.feed(GET + GET);
    assert.equal(server.messages.length, 1);
    assert.equal(server.wire.pauses, 0, 'it reads on, or it would not see the client leave');
    server.feed(GET.repeat(4000));
    assert.equal(server.wire.pauses, 1);
    pending.shift()?.();
    assert.equal(server.messages.length, 1, 'not while the first stream is still being ended');
    server.wire.endEvent();
    assert.equal(server.messages.length, 2);
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      next();
      server.wire.endEvent();
    }
    assert.equal(server.messages.length, 4002);
    assert.equal(server.wire.pauses, 0);
  });

  it('frames answers by length, by chunks or not at all', () => {
    const written = (status: number, endStream: boolean, request = GET): string => {
      const server = new ServerHarness((encoder) => {
        encoder.encodeHeaders(answer(status), endStream);
        if (endStream) return;
        encoder.encodeData(Buffer.from('hello'), false);
        encoder.encodeData(Buffer.alloc(0), true);
      });
      return server.feed(request).wire.written;
    };
    assert.equal(written(200, true), 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    assert.equal(
      written(200, false),
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    );
    assert.equal(written(204, true), 'HTTP/1.1 204 No Content\r\n\r\n');
    assert.equal(written(304, true), 'HTTP/1.1 304 Not Modified\r\n\r\n');
    const head = 'HEAD / HTTP/1.1\r\nHost: h\r\n\r\n';
    // As Envoy: a HEAD without a length is answered in chunks, whether or not a body would follow.
    for (const endStream of [true, false]) {
      assert.equal(
        written(200, endStream, head),
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
      );
    }
  });

  it('writes no body for HEAD and no length for 204', () => {
    const head = new ServerHarness(withLength).feed('HEAD / HTTP/1.1\r\nHost: h\r\n\r\n');
    assert.equal(head.wire.written, 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n');
    const empty = new ServerHarness((encoder) => {
      encoder.encodeHeaders(answer(204, [['content-length', '0']]), true);
    });
    assert.equal(empty.feed(GET).wire.written, 'HTTP/1.1 204 No Content\r\n\r\n');
  });

  it('closes after the answer to a request that asks for it', () => {
    for (const header of [
      'Connection: close',
      'connection: Foo, CLOSE',
      'Proxy-Connection: close',
    ]) {
      const server = new ServerHarness(withLength);
      server.feed(`GET / HTTP/1.1\r\nHost: h\r\n${header}\r\n\r\n`);
      assert.match(server.wire.written, /connection: close\r\n\r\nhi$/);
      assert.equal(server.finished, 'now');
    }
  });

  it('lets requests behind one that closes go unanswered', () => {
    const server = new ServerHarness(withLength);
    server.feed(`GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n${GET}`);
    assert.equal(server.messages.length, 1);
  });

  it('closes with a delay when it answers before the whole request', () => {
    const server = new ServerHarness();
    server.feed('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc');
    server.codec.encodeHeaders(answer(413), true);
    assert.match(
      server.wire.written,
      /413 Payload Too Large\r\nconnection: close\r\ncontent-length: 0/,
    );
    assert.equal(server.finished, 'delayed');
    server.feed('defghij', GET);
    assert.equal(server.messages.length, 1);
  });

  it('speaks HTTP/1.0 to a client that does, and keeps its connection only on request', () => {
    const options = { acceptHttp10: true };
    const plain = new ServerHarness(withLength, options).feed('GET / HTTP/1.0\r\nHost: h\r\n\r\n');
    assert.match(
      plain.wire.written,
      /^HTTP\/1\.0 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n/,
    );
    assert.equal(plain.finished, 'now');
    const kept = new ServerHarness(withLength, options);
    kept.feed('GET / HTTP/1.0\r\nHost: h\r\nConnection: Keep-Alive\r\n\r\n');
    assert.match(kept.wire.written, /connection: keep-alive\r\n\r\nhi$/);
    assert.equal(kept.finished, undefined);
  });

  it('ends a body of unknown length by closing where chunks are not understood', () => {
    const server = new ServerHarness(
      (encoder) => {
        encoder.encodeHeaders(answer(200), false);
        encoder.encodeData(Buffer.from('hello'), true);
      },
      { acceptHttp10: true },
    );
    server.feed('GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n');
    assert.equal(server.wire.written, 'HTTP/1.0 200 OK\r\nconnection: close\r\n\r\nhello');
    assert.equal(server.finished, 'now');
  });

  it('says goodbye with the next answer when it drains, and leaves the close to the client', () => {
    const server = new ServerHarness(withLength).feed(GET);
    server.codec.startDrain(false);
    assert.equal(server.finished, undefined);
    server.feed(GET);
    assert.match(server.wire.written, /connection: close\r\n\r\nhi$/);
    assert.equal(server.finished, 'delayed');
  });

  it('begins a stream with the first byte of a request, not with empty lines', () => {
    const server = new ServerHarness().feed('\r\n');
    assert.equal(server.messages.length, 0);
    server.feed('\r\nG');
    assert.equal(server.messages.length, 1);
    server.codec.onTransportClosed();
    assert.equal(server.messages[0]?.error, 'connection_termination');
  });
});
