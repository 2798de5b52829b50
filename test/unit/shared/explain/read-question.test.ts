/** Questions about requests as people write them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AskedRequest } from '../../../../shared/explain/explanation.ts';
import { readQuestion, type Question } from '../../../../shared/explain/read-question.ts';

function read(question: Partial<Question>): AskedRequest | string {
  return readQuestion({ url: 'http://h/', headers: [], ...question });
}

describe('a question about a request', () => {
  const understood: readonly [Partial<Question>, Partial<AskedRequest>][] = [
    [{ url: 'http://h:8080/a?b=c#d' }, { authority: 'h:8080', path: '/a?b=c', scheme: 'http' }],
    [{ url: 'HTTPS://u:p@h' }, { authority: 'h', path: '/', scheme: 'https' }],
    [
      { url: '/a', headers: ['Host: x'] },
      { authority: 'x', path: '/a', headers: [] },
    ],
    [{ url: 'http://h?x' }, { authority: 'h', path: '/?x' }],
    [{ url: 'http://é/ü' }, { authority: 'Ã©', path: '/Ã¼' }],
    [{ headers: ['X-A:  b: c '] }, { headers: [['x-a', 'b: c']] }],
    [{ to: '8080' }, { port: 8080 }],
    [{ to: '[::1]:80' }, { ip: '::1', port: 80 }],
    [{ to: '10.0.0.1:443', serverName: 'A.b', alpn: 'h2, http/1.1' }, { ip: '10.0.0.1' }],
    [{ alpn: 'h2, http/1.1' }, { applicationProtocols: ['h2', 'http/1.1'] }],
    [
      { client: '2001:db8::1', method: 'PATCH' },
      { clientIp: '2001:db8::1', method: 'PATCH' },
    ],
  ];
  for (const [question, expected] of understood) {
    it(`is understood: ${JSON.stringify(question)}`, () => {
      const asked = read(question);
      assert.ok(typeof asked === 'object', JSON.stringify(asked));
      assert.deepEqual({ ...asked, ...expected }, asked);
    });
  }

  const refused: readonly [Partial<Question>, RegExp][] = [
    [{ url: 'ftp://h/' }, /no address/],
    [{ url: 'h/a' }, /no address/],
    [{ url: 'http://h/a b' }, /blanks/],
    [{ url: 'http://h/a\r\nx' }, /blanks|control/],
    [{ method: 'GET /' }, /no method/],
    [{ method: '' }, /no method/],
    [{ headers: ['x'] }, /no header/],
    [{ headers: [': x'] }, /no header/],
    [{ headers: ['a b: x'] }, /no header/],
    [{ headers: ['a: b\nc: d'] }, /control/],
    [{ client: 'localhost' }, /no IP address/],
    [{ to: 'h:80' }, /no IP address/],
    [{ to: '70000' }, /neither/],
    [{ to: 'x' }, /neither/],
  ];
  for (const [question, expected] of refused) {
    it(`is refused: ${JSON.stringify(question)}`, () => {
      const said = read(question);
      assert.ok(typeof said === 'string');
      assert.match(said, expected);
    });
  }
});
