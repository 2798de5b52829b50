/** Names of headers in any case: for the door of outgoing messages they are the same header. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { requestHeaders } from '../../../support/parts/stream.ts';
import { readStrictly, valuesOf } from '../../../support/parts/strict-message.ts';
import { ClientHarness } from '../../../support/peers/http1.ts';

const WAYS = ['add', 'set', 'append'] as const;

/** The only request, or undefined where none was written. */
function leaving(headers: HeaderMap): ReturnType<typeof readStrictly>[number] | undefined {
  const client = new ClientHarness().request(headers);
  if (client.fault !== undefined) return undefined;
  const messages = readStrictly(client.wire.written, 'request');
  assert.equal(messages.length, 1);
  return messages[0];
}

describe('names of headers in any case', () => {
  for (const way of WAYS) {
    it(`frame no message: ${way}`, () => {
      for (const name of ['Transfer-Encoding', 'TRANSFER-ENCODING', 'Content-length']) {
        const headers = requestHeaders('/');
        headers.method = 'POST';
        headers.add('content-length', '0');
        headers[way](name, 'chunked');
        assert.equal(leaving(headers), undefined, name);
      }
      const headers = requestHeaders('/');
      headers[way]('Host', 'other');
      assert.deepEqual(valuesOf(leaving(headers), 'host'), ['other']);
    });

    it(`are the same header: ${way}`, () => {
      const headers = requestHeaders('/');
      headers.add('x-made', 'a');
      headers[way]('X-Made', 'b');
      const values = { add: ['a', 'b'], set: ['b'], append: ['a,b'] }[way];
      assert.deepEqual(valuesOf(leaving(headers), 'x-made'), values);
    });
  }
});
