import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type SeenMessage, ServerHarness } from '../../../support/peers/http1.ts';
import { accepted, refused, CHUNKED, refusedChunks } from './request-table.ts';

/** The outcome of feeding `pieces` one after the other. */
function outcome(...pieces: readonly string[]): readonly SeenMessage[] {
  return new ServerHarness().feed(...pieces).messages;
}

function splitsOf(bytes: string): readonly (readonly string[])[] {
  const inTwo = Array.from({ length: bytes.length - 1 }, (_, at) => [
    bytes.slice(0, at + 1),
    bytes.slice(at + 1),
  ]);
  return [...inTwo, bytes.split('')];
}

describe('an HTTP/1 request', () => {
  for (const [title, bytes, expected] of accepted) {
    it(`is understood with ${title}`, () => {
      const [message] = outcome(bytes);
      assert.equal(message?.error, '');
      assert.equal(message.complete, true);
      for (const [key, value] of Object.entries(expected)) {
        assert.deepEqual(message[key as keyof SeenMessage], value);
      }
    });
  }

  for (const [title, bytes, error] of refused) {
    it(`is refused with ${title}`, () => {
      const [message] = outcome(bytes);
      assert.equal(message?.error, error);
      assert.equal(message.start, '', 'nothing of it may go on');
    });
  }

  for (const [title, bytes] of refusedChunks) {
    it(`is refused with ${title}`, () => {
      const [message] = outcome(CHUNKED + bytes);
      assert.equal(message?.error, '400 http1.codec_error');
      assert.equal(message.complete, false);
    });
  }

  it('means the same however it is cut into reads', () => {
    const all = [
      ...accepted.map(([, bytes]) => bytes),
      ...refused.map(([, bytes]) => bytes),
      ...refusedChunks.map(([, bytes]) => CHUNKED + bytes),
    ];
    for (const bytes of all) {
      const whole = outcome(bytes);
      for (const pieces of splitsOf(bytes)) {
        // A refusal may come before the last piece; then what follows changes nothing.
        assert.deepEqual(outcome(...pieces), whole, JSON.stringify(pieces));
      }
    }
  });

  it('is refused with more headers than the limit', () => {
    const lines = (count: number): string => 'x-h: 1\r\n'.repeat(count);
    const [fits] = outcome(`GET / HTTP/1.1\r\nHost: h\r\n${lines(99)}\r\n`);
    const [tooMany] = outcome(`GET / HTTP/1.1\r\nHost: h\r\n${lines(100)}\r\n`);
    assert.equal(fits?.error, '');
    assert.equal(tooMany?.error, '431 http1.too_many_headers');
  });

  it('is refused with larger headers than the limit, whole or dripping in', () => {
    const head = `GET / HTTP/1.1\r\nHost: h\r\nX-Big: ${'b'.repeat(61 * 1024)}`;
    assert.equal(outcome(`${head}\r\n\r\n`)[0]?.error, '431 http1.headers_too_large');
    const pieces = head.match(/.{1,1000}/gs) ?? [];
    assert.equal(outcome(...pieces)[0]?.error, '431 http1.headers_too_large');
  });

  it('is refused with larger trailers or extensions than the limit', () => {
    const [trailers] = outcome(`${CHUNKED}0\r\nx-t: ${'b'.repeat(61 * 1024)}\r\n\r\n`);
    assert.equal(trailers?.error, '431 http1.trailers_too_large');
    const [extension] = outcome(`${CHUNKED}1;${'e'.repeat(17 * 1024)}\r\na\r\n0\r\n\r\n`);
    assert.equal(extension?.error, '400 http1.codec_error');
  });

  it('may be of version 1.0 where that is accepted, with a default host', () => {
    const options = { acceptHttp10: true, defaultHostForHttp10: 'dflt' };
    const server = new ServerHarness(undefined, options);
    server.feed('GET /x HTTP/1.0\r\n\r\n');
    assert.equal(server.messages[0]?.start, 'GET dflt /x');
    assert.equal(server.codec.protocol, 'HTTP/1.0');
    const chunked = new ServerHarness(undefined, options);
    chunked.feed('POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
    assert.equal(chunked.messages[0]?.error, '400 http1.codec_error');
  });

  it('drops a length beside chunks where the configuration allows both', () => {
    const server = new ServerHarness(undefined, { allowChunkedLength: true });
    server.feed(
      'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    );
    assert.deepEqual(server.messages[0]?.headers, []);
    assert.equal(server.messages[0]?.body, 'a');
  });

  it('becomes raw bytes both ways when it asks for another protocol', () => {
    const server = new ServerHarness();
    server.feed(
      'GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nraw \r\n bytes',
    );
    assert.deepEqual(server.messages[0]?.headers, [
      ['upgrade', 'websocket'],
      ['connection', 'Upgrade'],
    ]);
    assert.equal(server.messages[0]?.body, 'raw \r\n bytes');
    assert.equal(server.messages[0]?.complete, false);
  });

  it('is refused with its first byte when no method begins like it', () => {
    for (const text of ['\x16\x03\x01\x02', 'get', ' GET', '{']) {
      const [message] = outcome(text);
      assert.equal(message?.error, '400 http1.codec_error', text);
    }
  });

  it('keeps names as they were written where the configuration wants them back', () => {
    const server = new ServerHarness(undefined, { headerCase: 'preserve' });
    server.feed(
      'POST / HTTP/1.1\r\nHOST: h\r\nContent-LENGTH: 1\r\nX-Foo: 1\r\nTe: trailers\r\n\r\na',
    );
    assert.deepEqual(server.messages[0]?.originalNames, ['Content-LENGTH', 'X-Foo', 'Te']);
  });

  it('is refused when its hop header names too much', () => {
    const names = Array.from({ length: 40 }, (_, at) => `x-${at}`).join(',');
    const [message] = outcome(`GET / HTTP/1.1\r\nHost: h\r\nConnection: ${names}\r\n\r\n`);
    assert.equal(message?.error, '400 http1.connection_header_rejected');
  });
});
