import fc from 'fast-check';

/** Messages of HTTP/1 as generators make them: ordinary ones, odd ones, damaged ones. */

const lineEnd = fc.oneof(
  { weight: 12, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\n\r') },
);

const headerLine = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^x-[a-z]{1,4}: {0,2}[!-~]{0,8}$/) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'Content-Length: 0',
      'Content-Length: 3',
      'Content-Length: 5',
      'content-length:3 ',
      'Transfer-Encoding: chunked',
      'transfer-encoding:\tCHUNKED',
      'Connection: close',
      'Connection: keep-alive',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'Content-Length: 3, 3',
      'Content-Length: +3',
      'Content-Length: 03',
      'Content-Length: 3 3',
      'Content-Length : 3',
      'Content-Length:',
      'Content-Length: 0x3',
      'Content-Length: 99999999999999999999',
      'Content_Length: 3',
      'Transfer-Encoding: chunked, chunked',
      'Transfer-Encoding: gzip, chunked',
      'Transfer-Encoding: identity',
      'Transfer-Encoding: x, chunked',
      'Transfer-Encoding:\x0bchunked',
      'Transfer-Encoding : chunked',
      ' Transfer-Encoding: chunked',
      'Transfer_Encoding: chunked',
      'Connection: content-length',
      'Connection: x-a, close',
      'Connection: upgrade',
      'Upgrade: websocket',
      'Expect: 100-continue',
      'Host: other',
      'TE: trailers',
      'Trailer: x-t',
      'X-A: b\x00c',
      'X-A: b\x0bc',
      'X-A: \xe9\xff',
      'X-A',
      ': x',
      ' folded',
      '\tfolded',
    ),
  },
);

const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('', 'abc', 'hello', '3\r\nabc\r\n0\r\n\r\n', '0\r\n\r\n'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '3;a=b\r\nabc\r\n0\r\n\r\n',
      '3 \r\nabc\r\n0\r\n\r\n',
      '03\r\nabc\r\n00\r\nx-t: 1\r\n\r\n',
      '5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n',
      'A\r\n0123456789\r\n0\r\n\r\n',
      '3\nabc\n0\n\n',
      '3\r\nabcd\r\n0\r\n\r\n',
      '3\r\nabc0\r\n\r\n',
      '+3\r\nabc\r\n0\r\n\r\n',
      '0x3\r\nabc\r\n0\r\n\r\n',
      '3;\nabc\r\n0\r\n\r\n',
      '3\r\nabc\r\n0\r\nContent-Length: 3\r\n\r\n',
      '3\r\nabc\r\n0\r\n folded\r\n\r\n',
      'fffffffffffffffff\r\nabc\r\n0\r\n\r\n',
    ),
  },
);

export const requestLine = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('GET / HTTP/1.1', 'POST /a?b HTTP/1.1', 'HEAD / HTTP/1.1'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'GET http://abs.test/x HTTP/1.1',
      'OPTIONS * HTTP/1.1',
      'CONNECT h:1 HTTP/1.1',
      'GET / HTTP/1.0',
      'GET  / HTTP/1.1',
      'GET /\t HTTP/1.1',
      'GET / HTTP/1.1 ',
      'GET /a b HTTP/1.1',
      'GET / HTTP/2.0',
      'GET /',
      'get / HTTP/1.1',
      'GET /#x HTTP/1.1',
      'GET /\xe9 HTTP/1.1',
    ),
  },
);

export const statusLine = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.1 404 Not Found') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 204 No Content',
      'HTTP/1.1 304 Not Modified',
      'HTTP/1.1 100 Continue',
      'HTTP/1.1 103 Early Hints',
      'HTTP/1.1 101 Switching Protocols',
      'HTTP/1.0 200 OK',
      'HTTP/1.1 200',
      'HTTP/1.1  200 OK',
      'HTTP/1.1 2000 OK',
      'HTTP/1.1 20 OK',
      'HTTP/2.0 200 OK',
      ' HTTP/1.1 200 OK',
    ),
  },
);

/** Single bytes that change what a parser reads, put anywhere. */
const edit = fc.record({
  at: fc.nat(),
  byte: fc.constantFrom(...'\r\n \t:;,0a\0\x0b\x7f\x80'.split('')),
  replaces: fc.boolean(),
});

const edits = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) },
);

function head(line: fc.Arbitrary<string>, fixed: readonly string[]): fc.Arbitrary<string> {
  return fc
    .tuple(line, fc.array(headerLine, { maxLength: 4 }), fc.array(lineEnd, { maxLength: 7 }))
    .map(([first, headers, ends]) => {
      const lines = [first, ...fixed, ...headers, ''];
      return lines.map((text, at) => text + (ends[at] ?? '\r\n')).join('');
    });
}

export function input(line: fc.Arbitrary<string>, fixed: readonly string[]): fc.Arbitrary<string> {
  const message = fc.tuple(head(line, fixed), body).map((parts) => parts.join(''));
  return fc
    .tuple(fc.array(message, { minLength: 1, maxLength: 2 }), edits)
    .map(([messages, changes]) =>
      changes.reduce((text, { at, byte, replaces }) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + byte + text.slice(place + (replaces ? 1 : 0));
      }, messages.join('')),
    );
}
