import { type SeenMessage } from '../../../support/peers/http1.ts';

/** Requests in bytes, and what a decoder sees of them or why it refuses them. */

export type Expected = Partial<Omit<SeenMessage, 'complete' | 'error'>>;

/** Bytes of one request and what a decoder sees of it. */
export const accepted: readonly (readonly [title: string, bytes: string, expected: Expected])[] = [
  ['a plain request', 'GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n', { start: 'GET h /a?b=c' }],
  ['lines that end in LF alone', 'GET / HTTP/1.1\nHost: h\n\n', { start: 'GET h /' }],
  ['empty lines before it', '\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n', { start: 'GET h /' }],
  [
    'names in any case, stored in lower case',
    'GET / HTTP/1.1\r\nhOsT: h\r\nX-Some-Thing: A\r\nACCEPT: */*\r\n\r\n',
    {
      headers: [
        ['x-some-thing', 'A'],
        ['accept', '*/*'],
      ],
    },
  ],
  [
    'blanks and tabs around a value, but inside it they stay',
    'GET / HTTP/1.1\r\nHost: h\r\nA: \t b \t c\t \r\nEmpty:\r\nBlank:   \r\n\r\n',
    {
      headers: [
        ['a', 'b \t c'],
        ['empty', ''],
        ['blank', ''],
      ],
    },
  ],
  [
    'a name that comes twice, as two entries',
    'GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: x\r\na: 2\r\n\r\n',
    {
      headers: [
        ['a', '1'],
        ['b', 'x'],
        ['a', '2'],
      ],
    },
  ],
  [
    'bytes above 127 in a value',
    'GET / HTTP/1.1\r\nHost: h\r\nA: \xe9\xff\r\n\r\n',
    { headers: [['a', '\xe9\xff']] },
  ],
  [
    'the absolute form, whose authority replaces Host',
    'GET http://abs.test:81/x?y HTTP/1.1\r\nHost: other\r\n\r\n',
    { start: 'GET abs.test:81 /x?y' },
  ],
  [
    'the absolute form without a path',
    'GET https://abs.test HTTP/1.1\r\nHost: o\r\n\r\n',
    { start: 'GET abs.test /' },
  ],
  ['the asterisk form', 'OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n', { start: 'OPTIONS h *' }],
  [
    'a body by length',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello',
    { headers: [['content-length', '5']], body: 'hello' },
  ],
  [
    'a body in chunks, whose coding is of this hop',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n1;a=b;c="d"\r\n \r\nA  \r\n0123456789\r\n0\r\n\r\n',
    { headers: [], body: 'hello 0123456789' },
  ],
  [
    'trailers',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTrailer: x-t\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\nx-u: 2\r\n\r\n',
    {
      body: 'a',
      headers: [['trailer', 'x-t']],
      trailers: [
        ['x-t', '1'],
        ['x-u', '2'],
      ],
    },
  ],
  [
    'headers of the hop, which are taken out',
    'GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Foo\r\nKeep-Alive: 5\r\nProxy-Connection: x\r\nx-foo: 1\r\nTE: gzip, trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n\r\n',
    { headers: [['te', 'trailers']] },
  ],
  [
    'an expectation',
    'POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\na',
    { headers: [['content-length', '1']], body: 'a', expectsContinue: true },
  ],
];

/** Requests that are refused, with the answer and the reason that the access log shows. */
export const refused: readonly (readonly [title: string, bytes: string, error: string])[] = [
  ['no request line', 'NONSENSE\r\n\r\n', '400 http1.codec_error'],
  ['a method in lower case', 'get / HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['an unknown method', 'BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['a blank before the method', ' GET / HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['two blanks in the request line', 'GET  / HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['tabs in the request line', 'GET\t/\tHTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['a blank behind the version', 'GET / HTTP/1.1 \r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['a blank in the path', 'GET /a b HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  [
    'a control byte in the path',
    'GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  [
    'a byte above 127 in the path',
    'GET /\xe9 HTTP/1.1\r\nHost: h\r\n\r\n',
    '400 http1.codec_error',
  ],
  ['a path that is none', 'GET abc HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['another scheme', 'GET ftp://a/x HTTP/1.1\r\nHost: h\r\n\r\n', '400 http1.invalid_scheme'],
  [
    'an absolute form without a host',
    'GET http:///x HTTP/1.1\r\nHost: h\r\n\r\n',
    '400 http1.invalid_url',
  ],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: h\r\n\r\n', '426 low_version'],
  ['HTTP/0.9', 'GET / HTTP/0.9\r\nHost: h\r\n\r\n', '426 low_version'],
  ['HTTP/2.0', 'GET / HTTP/2.0\r\nHost: h\r\n\r\n', '426 low_version'],
  ['no version', 'GET /\r\n\r\n', '426 low_version'],
  ['a version with too many digits', 'GET / HTTP/1.10\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['a version in lower case', 'GET / http/1.1\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['a header without a colon', 'GET / HTTP/1.1\r\nHost: h\r\nbad\r\n\r\n', '400 http1.codec_error'],
  ['an empty name', 'GET / HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n', '400 http1.codec_error'],
  [
    'a blank before the colon',
    'GET / HTTP/1.1\r\nHost: h\r\nA : x\r\n\r\n',
    '400 http1.codec_error',
  ],
  [
    'a name that is no token',
    'GET / HTTP/1.1\r\nHost: h\r\nX(A: x\r\n\r\n',
    '400 http1.codec_error',
  ],
  ['a folded line', 'GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n', '400 http1.codec_error'],
  ['a folded first line', 'GET / HTTP/1.1\r\n Host: h\r\n\r\n', '400 http1.codec_error'],
  [
    'a bare CR in a value',
    'GET / HTTP/1.1\r\nHost: h\r\nA: b\rc\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  [
    'two CRs at a line end',
    'GET / HTTP/1.1\r\nHost: h\r\nA: b\r\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  [
    'NUL in a value',
    'GET / HTTP/1.1\r\nHost: h\r\nA: b\0c\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  [
    'a control byte in a value',
    'GET / HTTP/1.1\r\nHost: h\r\nA: \x01\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  [
    'DEL in a value',
    'GET / HTTP/1.1\r\nHost: h\r\nA: \x7f\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n', '400 http1.codec_error'],
  ['a Host that is none', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', '400 http.invalid_authority'],
  ['a slash in Host', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', '400 http.invalid_authority'],
  [
    'a length that is no number',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: abc\r\n\r\n',
    '400 http1.codec_error',
  ],
  [
    'a negative length',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n',
    '400 http1.codec_error',
  ],
  [
    'a length with a sign',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\na',
    '400 http1.codec_error',
  ],
  [
    'an empty length',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\n',
    '400 http1.codec_error',
  ],
  [
    'a list of lengths',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\na',
    '400 http1.codec_error',
  ],
  [
    'a length beyond 2^53',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9007199254740993\r\n\r\n',
    '400 http1.codec_error',
  ],
  [
    'the same length twice',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
    '400 http1.codec_error',
  ],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    '400 http1.codec_error',
  ],
  [
    'length and chunks',
    'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    '400 http1.content_length_and_chunked_not_allowed',
  ],
  [
    'chunks and length',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n',
    '400 http1.content_length_and_chunked_not_allowed',
  ],
  [
    'another coding',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n',
    '501 http1.invalid_transfer_encoding',
  ],
  [
    'two codings',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
    '501 http1.invalid_transfer_encoding',
  ],
  [
    'chunked twice',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n',
    '501 http1.invalid_transfer_encoding',
  ],
  [
    'a coding hidden by a control byte',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \x0bchunked\r\n\r\n',
    '400 http1.invalid_characters',
  ],
  [
    'an identity coding',
    'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n\r\n',
    '501 http1.invalid_transfer_encoding',
  ],
  [
    'a hop header that names the length',
    'POST / HTTP/1.1\r\nHost: h\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\na',
    '400 http1.connection_header_rejected',
  ],
  [
    'a hop header that names x-forwarded-for',
    'GET / HTTP/1.1\r\nHost: h\r\nConnection: close, X-Forwarded-For\r\n\r\n',
    '400 http1.connection_header_rejected',
  ],
];

export const CHUNKED = 'POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n';

export const refusedChunks: readonly (readonly [title: string, bytes: string])[] = [
  ['a size that is no number', 'zz\r\nabc\r\n0\r\n\r\n'],
  ['an empty size', '\r\nabc\r\n0\r\n\r\n'],
  ['a size with a prefix', '0x3\r\nabc\r\n0\r\n\r\n'],
  ['a size with a sign', '+3\r\nabc\r\n0\r\n\r\n'],
  ['a size with a blank before it', ' 3\r\nabc\r\n0\r\n\r\n'],
  ['digits behind a blank', '3 3\r\nabc\r\n0\r\n\r\n'],
  ['a size beyond all measure', 'fffffffffffffffff\r\n'],
  ['a size line that ends in LF', '3\nabc\r\n0\r\n\r\n'],
  ['a bare CR in an extension', '3;a\rb\r\nabc\r\n0\r\n\r\n'],
  ['a control byte in an extension', '3;a\x01\r\nabc\r\n0\r\n\r\n'],
  ['a chunk longer than its size', '3\r\nabcd\r\n0\r\n\r\n'],
  ['a chunk that ends in LF', '3\r\nabc\n0\r\n\r\n'],
  ['a last chunk that ends in LF', '3\r\nabc\r\n0\n\n'],
  ['trailers that end in LF', '0\r\n\n'],
  ['framing in trailers', '0\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['Host in trailers', '0\r\nHost: x\r\n\r\n'],
  ['a bad trailer', '0\r\nbad\r\n\r\n'],
];
