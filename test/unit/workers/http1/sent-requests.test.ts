import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientHarness } from '../../../support/peers/http1.ts';
import { requestHeaders } from '../../../support/parts/stream.ts';

describe('an HTTP/1 request on its way up', () => {
  it('is written with its host first and nothing that frames it twice', () => {
    const client = new ClientHarness().request(requestHeaders('/a?b', [['x-a', '1']]));
    assert.equal(client.wire.written, 'GET /a?b HTTP/1.1\r\nhost: h\r\nx-a: 1\r\n\r\n');
  });

  it('says that a method which may have a body has none', () => {
    const written = (method: string): string => {
      const headers = requestHeaders('/');
      headers.method = method;
      return new ClientHarness().request(headers).wire.written;
    };
    for (const method of ['POST', 'PUT', 'OPTIONS', 'PROPFIND']) {
      assert.equal(written(method), `${method} / HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n`);
    }
    for (const method of ['GET', 'HEAD', 'DELETE', 'TRACE']) {
      assert.equal(written(method), `${method} / HTTP/1.1\r\nhost: h\r\n\r\n`);
    }
  });

  it('goes in chunks when its length is not known', () => {
    const headers = requestHeaders('/');
    headers.method = 'POST';
    const client = new ClientHarness().request(headers, false);
    client.codec.encodeData(Buffer.from('hello world'), false);
    client.codec.encodeTrailers(requestHeaders('', [['x-t', '1']]));
    assert.equal(
      client.wire.written,
      'POST / HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\nx-t: 1\r\n\r\n',
    );
  });

  it('can be written in proper case', () => {
    const client = new ClientHarness({ headerCase: 'proper' });
    client.request(requestHeaders('/', [['x-some_thing-else', '1']]));
    assert.equal(client.wire.written, 'GET / HTTP/1.1\r\nHost: h\r\nX-Some_Thing-Else: 1\r\n\r\n');
  });
});
