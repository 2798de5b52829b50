/**
 * Messages that two parsers could frame differently, as published corpora on request smuggling and
 * desynchronisation list them: CL.TE, TE.CL, TE.TE, CL.0, chunk sizes, extensions and terminators,
 * bare CR and LF, folded lines, names and values with bytes that some parser skips, targets beside
 * Host, versions and upgrades. `scripts/compare-desync.ts` asks Envoy about the same bytes.
 */

/** A title and the bytes, as latin-1 text. */
export type Ambiguous = readonly [title: string, bytes: string];
/** The same, and what follows the head on the other side. */
export type Framed = readonly [title: string, bytes: string, body: string];

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n';
const CHUNKED = `5\r\nhello\r\n0\r\n\r\n`;

function post(headers: string, body = '', line = 'POST /a HTTP/1.1'): string {
  return `${line}\r\nHost: h\r\n${headers}\r\n${body}`;
}

function chunks(body: string): string {
  return post('Transfer-Encoding: chunked\r\n', body);
}

function coded(coding: string): string {
  return post(`Transfer-Encoding:${coding}\r\n`, CHUNKED);
}

function long(length: string): string {
  return post(`Content-Length:${length}\r\n`, 'hello');
}

function get(headers: string, line = 'GET /a HTTP/1.1'): string {
  return `${line}\r\n${headers}\r\n`;
}

/** Requests of which nothing may reach an upstream. */
export const REFUSED_REQUESTS: readonly Ambiguous[] = [
  ['CL.TE', post('Content-Length: 6\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\nG${SMUGGLED}`)],
  [
    'TE.CL',
    post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', `5c\r\n${SMUGGLED}0\r\n\r\n`),
  ],
  [
    'TE.TE with a second coding',
    post('Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n', CHUNKED),
  ],
  [
    'TE.TE with identity',
    post('Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n', CHUNKED),
  ],
  ['chunked twice', post('Transfer-Encoding: chunked, chunked\r\n', CHUNKED)],
  ['a coding before chunked', post('Transfer-Encoding: gzip, chunked\r\n', CHUNKED)],
  ['chunked before a coding', post('Transfer-Encoding: chunked, gzip\r\n', CHUNKED)],
  ['xchunked', post('Transfer-Encoding: xchunked\r\n', CHUNKED)],
  ['quoted chunked', post('Transfer-Encoding: "chunked"\r\n', CHUNKED)],
  ['chunked with a vertical tab', post('Transfer-Encoding: \u000bchunked\r\n', CHUNKED)],
  ['chunked with a form feed', post('Transfer-Encoding: chunked\u000c\r\n', CHUNKED)],
  ['chunked with a NUL', post('Transfer-Encoding: chunked\0\r\n', CHUNKED)],
  [
    'a blank before the colon of Transfer-Encoding',
    post('Transfer-Encoding : chunked\r\n', CHUNKED),
  ],
  ['a tab before the colon', post('Transfer-Encoding\t: chunked\r\n', CHUNKED)],
  ['a blank before the name', post(' Transfer-Encoding: chunked\r\n', CHUNKED)],
  ['a NUL in a name', post('Transfer\0-Encoding: chunked\r\n', CHUNKED)],
  ['a folded coding', post('Transfer-Encoding:\r\n chunked\r\n', CHUNKED)],
  ['a folded header before the coding', post('X: a\r\n Transfer-Encoding: chunked\r\n', CHUNKED)],
  ['a bare CR between headers', post('X: a\rTransfer-Encoding: chunked\r\n', CHUNKED)],
  ['a bare CR before the line end', post('X: a\r\r\nTransfer-Encoding: chunked\r\n', CHUNKED)],
  ['a name without a colon', post('Transfer-Encoding\r\n', CHUNKED)],
  ['an empty name', post(': chunked\r\n', CHUNKED)],
  ['two different lengths', post('Content-Length: 5\r\nContent-Length: 6\r\n', 'hello')],
  ['two equal lengths', post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello')],
  ['a list of lengths', post('Content-Length: 5, 5\r\n', 'hello')],
  ['a signed length', post('Content-Length: +5\r\n', 'hello')],
  ['a negative length', post('Content-Length: -5\r\n', 'hello')],
  ['a length in hex', post('Content-Length: 0x5\r\n', 'hello')],
  ['a length with a blank inside', post('Content-Length: 5 0\r\n', 'hello')],
  ['a length with a point', post('Content-Length: 5.0\r\n', 'hello')],
  ['an empty length', post('Content-Length:\r\n', 'hello')],
  ['a length that is too long', post('Content-Length: 99999999999999999999\r\n', 'hello')],
  ['a blank before the colon of Content-Length', post('Content-Length : 5\r\n', 'hello')],
  [
    'Connection that takes the length away',
    post('Connection: content-length\r\nContent-Length: 5\r\n', 'hello'),
  ],
  [
    'Connection that takes the coding away',
    post('Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n', CHUNKED),
  ],
  ['a coding in HTTP/1.0', post('Transfer-Encoding: chunked\r\n', CHUNKED, 'POST /a HTTP/1.0')],
  ['a chunk size with a sign', post('Transfer-Encoding: chunked\r\n', '+5\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size in 0x form', post('Transfer-Encoding: chunked\r\n', '0x5\r\nhello\r\n0\r\n\r\n')],
  [
    'a chunk size with an underscore',
    post('Transfer-Encoding: chunked\r\n', '0_5\r\nhello\r\n0\r\n\r\n'),
  ],
  [
    'a chunk size that overflows',
    post('Transfer-Encoding: chunked\r\n', '10000000000000005\r\nhello\r\n0\r\n\r\n'),
  ],
  ['an empty chunk size', post('Transfer-Encoding: chunked\r\n', '\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size that ends in LF', post('Transfer-Encoding: chunked\r\n', '5\nhello\r\n0\r\n\r\n')],
  ['a chunk size that ends in CR', post('Transfer-Encoding: chunked\r\n', '5\rhello\r\n0\r\n\r\n')],
  ['a chunk without its line end', post('Transfer-Encoding: chunked\r\n', '5\r\nhello0\r\n\r\n')],
  [
    'a chunk longer than its size',
    post('Transfer-Encoding: chunked\r\n', '4\r\nhello\r\n0\r\n\r\n'),
  ],
  [
    'a bare LF in a chunk extension',
    post('Transfer-Encoding: chunked\r\n', '5;a\nb\r\nhello\r\n0\r\n\r\n'),
  ],
  [
    'a coding among trailers',
    post('Transfer-Encoding: chunked\r\n', '0\r\nTransfer-Encoding: chunked\r\n\r\n'),
  ],
  ['a Host among trailers', post('Transfer-Encoding: chunked\r\n', '0\r\nHost: other\r\n\r\n')],
  ['two Hosts', 'GET /a HTTP/1.1\r\nHost: h\r\nHost: other\r\n\r\n'],
  ['an empty Host', 'GET /a HTTP/1.1\r\nHost:\r\n\r\n'],
  ['no Host', 'GET /a HTTP/1.1\r\n\r\n'],
  ['a Host with a path', 'GET /a HTTP/1.1\r\nHost: h/b\r\n\r\n'],
  ['a Host with a blank', 'GET /a HTTP/1.1\r\nHost: h other\r\n\r\n'],
  ['a tab in the request line', 'GET\t/a\tHTTP/1.1\r\nHost: h\r\n\r\n'],
  ['two blanks in the request line', 'GET  /a HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['a blank behind the version', 'GET /a HTTP/1.1 \r\nHost: h\r\n\r\n'],
  ['no version', 'GET /a\r\nHost: h\r\n\r\n'],
  ['a version that there is not', 'GET /a HTTP/1.10\r\nHost: h\r\n\r\n'],
  ['HTTP/2 in the request line', 'GET /a HTTP/2.0\r\nHost: h\r\n\r\n'],
  ['a NUL in the target', 'GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['a NUL in a value', 'GET /a HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n'],
  ['another scheme', 'GET ftp://h/a HTTP/1.1\r\nHost: h\r\n\r\n'],
  [
    'an upgrade that is not configured',
    post('Connection: upgrade\r\nUpgrade: other\r\nContent-Length: 5\r\n', 'hello'),
  ],
  ['a coding and a comma', coded(' chunked,')],
  ['a comma and a coding', coded(' ,chunked')],
  ['a coding with a parameter', coded(' chunked;q=1')],
  ['an empty coding', coded('')],
  ['an empty coding beside a length', post('Content-Length: 5\r\nTransfer-Encoding:\r\n', 'hello')],
  ['a coding behind a no-break blank', coded(' \xa0chunked')],
  ['a coding before a next-line byte', coded(' chunked\x85')],
  ['a coding before a bare CR', coded(' chunked\r')],
  [
    'a coding behind a bare LF in a value',
    post('Content-Length: 5\r\nX: a\nTransfer-Encoding: chunked\r\n', CHUNKED),
  ],
  [
    'a length of 0 beside chunks',
    post('Content-Length: 0\r\nTransfer-Encoding: chunked\r\n', CHUNKED),
  ],
  [
    'codings that differ in case',
    post('Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\n', CHUNKED),
  ],
  ['trailers as coding', coded(' trailers')],
  ['a name behind a vertical tab', post('\x0bTransfer-Encoding: chunked\r\n', CHUNKED)],
  ['a name before a no-break blank', post('Content-Length\xa0: 5\r\n', 'hello')],
  ['a name before a vertical tab', post('Content-Length\x0b: 5\r\n', 'hello')],
  ['a name before a bare CR', post('Content-Length\r: 5\r\n', 'hello')],
  ['a name in quotes', post('"Content-Length": 5\r\n', 'hello')],
  ['a name in brackets', post('[Content-Length]: 5\r\n', 'hello')],
  ['a name in parentheses', post('(x)Content-Length: 5\r\n', 'hello')],
  ['a name over two lines', post('Content-\r\nLength: 5\r\n', 'hello')],
  ['a name with a slash', post('Content/Length: 5\r\n', 'hello')],
  ['a length behind a vertical tab', long(' \x0b5')],
  ['a length before a form feed', long(' 5\x0c')],
  ['a length before a NUL', long(' 5\0')],
  ['a length before a no-break blank', long(' 5\xa0')],
  ['a length with an exponent', long(' 5e0')],
  ['a length with an underscore', long(' 0_5')],
  ['a length and a comma', long(' 5,')],
  ['a comma and a length', long(' ,5')],
  ['a list of different lengths', long(' 5, 6')],
  ['a length and a semicolon', long(' 5;')],
  ['a length in quotes', long(' "5"')],
  ['a length of minus zero', long(' -0')],
  ['a length that wraps at 64 bits', long(' 18446744073709551621')],
  ['a folded length', long('\r\n 5')],
  [
    'lengths that differ in case of the name',
    post('Content-Length: 5\r\ncontent-length: 0\r\n', 'hello'),
  ],
  ['a folded first header', 'POST /a HTTP/1.1\r\n Content-Length: 5\r\nHost: h\r\n\r\nhello'],
  ['a fold with a tab', post('X: a\r\n\tContent-Length: 5\r\n', 'hello')],
  ['a line of one blank', post('X: a\r\n \r\nContent-Length: 5\r\n', 'hello')],
  [
    'a bare CR for the empty line',
    'POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\r\nhello\r\n\r\n',
  ],
  ['a bare CR in a name', post('X\rContent-Length: 5\r\n', 'hello')],
  ['a bare CR behind the request line', 'GET /a HTTP/1.1\rHost: h\r\n\r\n'],
  ['a blank before a chunk size', chunks(' 5\r\nhello\r\n0\r\n\r\n')],
  ['a minus before a chunk size', chunks('-5\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size with a NUL', chunks('5\0\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size with a vertical tab', chunks('5\x0b\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size behind many zeros', chunks(`${'0'.repeat(64)}5\r\nhello\r\n0\r\n\r\n`)],
  ['a chunk size with a letter behind g', chunks('5g\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size with a comma', chunks('5,5\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size with a blank inside', chunks('1 0\r\nhello\r\n0\r\n\r\n')],
  ['two CRs behind a chunk size', chunks('5\r\r\nhello\r\n0\r\n\r\n')],
  ['a chunk extension that ends in LF', chunks(`5;\nhello\r\n0\r\n\r\n${SMUGGLED}`)],
  ['a bare CR in a chunk extension', chunks('5;a\rb\r\nhello\r\n0\r\n\r\n')],
  ['a NUL in a chunk extension', chunks('5;a\0b\r\nhello\r\n0\r\n\r\n')],
  ['endless chunk extensions', chunks(`5;${'a'.repeat(20_000)}\r\nhello\r\n0\r\n\r\n`)],
  ['a chunk that ends in LF', chunks('5\r\nhello\n0\r\n\r\n')],
  ['a chunk that ends in CR', chunks('5\r\nhello\r0\r\n\r\n')],
  ['a chunk that ends in two other bytes', chunks('5\r\nhelloXX0\r\n\r\n')],
  ['a last chunk that ends in LF', chunks('5\r\nhello\r\n0\n\r\n')],
  ['a trailer section that ends in LF', chunks('5\r\nhello\r\n0\r\n\n')],
  ['a length among trailers', chunks('5\r\nhello\r\n0\r\nContent-Length : 5\r\n\r\n')],
  ['a folded trailer', chunks('5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n')],
  ['a request among trailers', chunks(`5\r\nhello\r\n0\r\n${SMUGGLED}`)],
  ['Connection that takes Host away', get('Host: h\r\nConnection: host\r\n')],
  ['Connection that takes a pseudo-header away', get('Host: h\r\nConnection: :authority\r\n')],
  ['a Host and a comma with a blank', get('Host: h, other\r\n')],
  ['a Host behind a vertical tab', get('Host: \x0bh\r\n')],
  ['a Host with a fragment', get('Host: h#other\r\n')],
  ['a Host with a question mark', get('Host: h?other\r\n')],
  ['a Host with a backslash', get('Host: h\\other\r\n')],
  ['a folded Host', get('Host:\r\n h\r\n')],
  ['two equal Hosts', get('Host: h\r\nHost: h\r\n')],
  ['two Hosts that differ in case of the name', get('Host: h\r\nhOST: other\r\n')],
  [
    'a Host beside an absolute target, twice',
    get('Host: h\r\nHost: i\r\n', 'GET http://h/a HTTP/1.1'),
  ],
  ['a method in lower case', get('Host: h\r\n', 'get /a HTTP/1.1')],
  ['a method behind a blank', get('Host: h\r\n', ' GET /a HTTP/1.1')],
  ['a method before a NUL', get('Host: h\r\n', 'GET\0 /a HTTP/1.1')],
  ['an unknown method', get('Host: h\r\n', 'SMUGGLE /a HTTP/1.1')],
  ['a vertical tab in the request line', get('Host: h\r\n', 'GET /a\x0bHTTP/1.1')],
  ['a bare CR in the request line', get('Host: h\r\n', 'GET /a\rHTTP/1.1')],
  ['a blank in the target', get('Host: h\r\n', 'GET /a b HTTP/1.1')],
  ['two versions', get('Host: h\r\n', 'GET /a HTTP/1.1 HTTP/1.1')],
  ['a version in lower case', get('Host: h\r\n', 'GET /a http/1.1')],
  ['a version with a blank inside', get('Host: h\r\n', 'GET /a HTTP /1.1')],
  ['a version with a leading zero', get('Host: h\r\n', 'GET /a HTTP/01.1')],
  ['a version with a comma', get('Host: h\r\n', 'GET /a HTTP/1,1')],
  ['a version with a sign', get('Host: h\r\n', 'GET /a HTTP/+1.1')],
  ['a target without a slash', get('Host: h\r\n', 'GET a HTTP/1.1')],
  ['a target with a backslash first', get('Host: h\r\n', 'GET \\a HTTP/1.1')],
  ['a target with a byte above 127', get('Host: h\r\n', 'GET /\xe9 HTTP/1.1')],
  ['an absolute target without a host', get('Host: h\r\n', 'GET http:///a HTTP/1.1')],
  ['an absolute target with a backslash', get('Host: h\r\n', 'GET http://h\\other/a HTTP/1.1')],
  ['an asterisk for GET', get('Host: h\r\n', 'GET * HTTP/1.1')],
  ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
  ['CONNECT with a length', get('Host: h:1\r\nContent-Length: 5\r\n', 'CONNECT h:1 HTTP/1.1')],
  [
    'CONNECT with chunks',
    get('Host: h:1\r\nTransfer-Encoding: chunked\r\n', 'CONNECT h:1 HTTP/1.1'),
  ],
  ['CONNECT to a path', get('Host: h\r\n', 'CONNECT /a HTTP/1.1')],
  [
    'a websocket that is not configured, with a request behind it',
    `${get('Host: h\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 777\r\n')}${SMUGGLED}`,
  ],
];

/** Requests that reach the upstream as exactly one, with the simplest framing. */
export const PASSED_REQUESTS: readonly Framed[] = [
  [
    'a chunk extension, which is dropped',
    post('Transfer-Encoding: chunked\r\n', '5;x="\\"\r\nhello\r\n0\r\n\r\n'),
    CHUNKED,
  ],
  ['a coding in capitals', post('Transfer-Encoding: CHUNKED\r\n', CHUNKED), CHUNKED],
  ['a length with zeros before it', post('Content-Length: 005\r\n', 'hello'), 'hello'],
  ['lines that end in LF', 'POST /a HTTP/1.1\nHost: h\nContent-Length: 5\n\nhello', 'hello'],
  [
    'a body on a GET (CL.0)',
    post('Content-Length: 34\r\n', SMUGGLED.slice(0, 34), 'GET /a HTTP/1.1'),
    SMUGGLED.slice(0, 34),
  ],
  ['an absolute target whose host wins', 'GET http://target/a HTTP/1.1\r\nHost: h\r\n\r\n', ''],
  ['names with underscores', post('Content_Length: 9\r\nContent-Length: 5\r\n', 'hello'), 'hello'],
  ['a coding behind a tab', coded('\tchunked'), CHUNKED],
  ['a coding without a blank', coded('chunked \t'), CHUNKED],
  ['a length between blanks and tabs', long(' \t5\t '), 'hello'],
  [
    'a coding behind a line that ends in LF',
    post('X: a\nTransfer-Encoding: chunked\r\n', CHUNKED),
    CHUNKED,
  ],
  ['blanks behind a chunk size', chunks('5 \t\r\nhello\r\n0\r\n\r\n'), CHUNKED],
  ['a chunk size with a leading zero', chunks('05\r\nhello\r\n00\r\n\r\n'), CHUNKED],
  ['trailers, which are dropped', chunks('5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n'), CHUNKED],
  [
    'a length among trailers, which is dropped',
    chunks('5\r\nhello\r\n0\r\nContent-Length: 9\r\n\r\n'),
    CHUNKED,
  ],
  ['a quoted chunk extension with a semicolon', chunks('5;a="b;c"\r\nhello\r\n0\r\n\r\n'), CHUNKED],
  ['empty lines before the request', `\r\n\r\n${get('Host: h\r\n')}`, ''],
  [
    'names with underscores for a coding',
    post('Transfer_Encoding: chunked\r\nContent-Length: 5\r\n', 'hello'),
    'hello',
  ],
  [
    'a longer name that begins like the coding',
    post('Transfer-Encodings: chunked\r\nContent-Length: 5\r\n', 'hello'),
    'hello',
  ],
  ['TE in place of the coding', post('TE: chunked\r\nContent-Length: 5\r\n', 'hello'), 'hello'],
  [
    'an upgrade to h2c, which is ignored',
    get(
      'Host: h\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n',
    ),
    '',
  ],
  ['an absolute target with a user', get('Host: h\r\n', 'GET http://u:p@h/a HTTP/1.1'), ''],
  ['a target with two slashes first', get('Host: h\r\n', 'GET //other/a HTTP/1.1'), ''],
  [
    'Connection that names a header, which is removed',
    post('Connection: close, X-Secret\r\nX-Secret: 1\r\nContent-Length: 5\r\n', 'hello'),
    'hello',
  ],
  [
    'Keep-Alive and Proxy-Connection, which are removed',
    post('Keep-Alive: timeout=5\r\nProxy-Connection: keep-alive\r\nContent-Length: 5\r\n', 'hello'),
    'hello',
  ],
];

const OK = 'HTTP/1.1 200 OK\r\n';

function answer(headers: string, body = '', line = OK): string {
  return `${line}${headers}\r\n${body}`;
}

function answerChunks(body: string): string {
  return answer('Transfer-Encoding: chunked\r\n', body);
}

/** What a response hides behind its end; a client must never see it as an answer. */
const HIDDEN = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden';

/** Responses that are not passed on whole: 502, or a message that breaks off. */
export const REFUSED_RESPONSES: readonly Ambiguous[] = [
  ['CL.TE', answer('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`)],
  ['TE.CL', answer('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${HIDDEN}`)],
  ['two different lengths', answer('Content-Length: 0\r\nContent-Length: 58\r\n', HIDDEN)],
  ['two equal lengths', answer('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello')],
  ['a list of lengths', answer('Content-Length: 5, 5\r\n', 'hello')],
  ['a signed length', answer('Content-Length: +5\r\n', 'hello')],
  ['a negative length', answer('Content-Length: -5\r\n', 'hello')],
  ['an empty length', answer('Content-Length:\r\n', 'hello')],
  ['a length in hex', answer('Content-Length: 0x5\r\n', 'hello')],
  ['a length before a vertical tab', answer('Content-Length: 5\x0b\r\n', 'hello')],
  ['a length that wraps at 64 bits', answer('Content-Length: 18446744073709551621\r\n', 'hello')],
  ['a blank before the colon', answer('Content-Length : 5\r\n', 'hello')],
  ['a folded length', answer('Content-Length:\r\n 5\r\n', 'hello')],
  ['a folded header', answer('X: a\r\n b\r\nContent-Length: 5\r\n', 'hello')],
  ['a bare CR in a value', answer('X: a\rb\r\nContent-Length: 5\r\n', 'hello')],
  ['a NUL in a value', answer('X: a\0b\r\nContent-Length: 5\r\n', 'hello')],
  ['a NUL in a name', answer('Content\0-Length: 5\r\n', 'hello')],
  ['an empty name', answer(': 5\r\nContent-Length: 5\r\n', 'hello')],
  ['another coding', answer('Transfer-Encoding: gzip\r\n', CHUNKED)],
  ['a coding before chunked', answer('Transfer-Encoding: gzip, chunked\r\n', CHUNKED)],
  [
    'chunked twice',
    answer('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', CHUNKED),
  ],
  ['chunked behind a vertical tab', answer('Transfer-Encoding: \x0bchunked\r\n', CHUNKED)],
  ['identity as coding', answer('Transfer-Encoding: identity\r\nContent-Length: 5\r\n', 'hello')],
  [
    'a coding in HTTP/1.0',
    answer('Transfer-Encoding: chunked\r\n', CHUNKED, 'HTTP/1.0 200 OK\r\n'),
  ],
  ['a chunk size with a sign', answerChunks('+5\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size in 0x form', answerChunks('0x5\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size that overflows', answerChunks('10000000000000005\r\nhello\r\n0\r\n\r\n')],
  ['a chunk size that ends in LF', answerChunks('5\nhello\r\n0\r\n\r\n')],
  ['a chunk without its line end', answerChunks('5\r\nhello0\r\n\r\n')],
  ['a bare LF in a chunk extension', answerChunks(`5;a\nb\r\nhello\r\n0\r\n\r\n`)],
  [
    'Connection that names the length',
    answer('Connection: content-length\r\nContent-Length: 5\r\n', 'hello'),
  ],
  ['a length in 204', answer('Content-Length: 58\r\n', HIDDEN, 'HTTP/1.1 204 No Content\r\n')],
  [
    'chunks in 204',
    answer('Transfer-Encoding: chunked\r\n', CHUNKED, 'HTTP/1.1 204 No Content\r\n'),
  ],
  [
    'a length in an early hint',
    `HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n${answer('Content-Length: 5\r\n', 'hello')}`,
  ],
  [
    'chunks in an early hint',
    `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n${answer('Content-Length: 5\r\n', 'hello')}`,
  ],
  ['a status of two digits', answer('Content-Length: 5\r\n', 'hello', 'HTTP/1.1 20 OK\r\n')],
  ['a status of four digits', answer('Content-Length: 5\r\n', 'hello', 'HTTP/1.1 2000 OK\r\n')],
  ['a status with a sign', answer('Content-Length: 5\r\n', 'hello', 'HTTP/1.1 +20 OK\r\n')],
  [
    'two blanks before the status',
    answer('Content-Length: 5\r\n', 'hello', 'HTTP/1.1  200 OK\r\n'),
  ],
  ['a version that there is not', answer('Content-Length: 5\r\n', 'hello', 'HTTP/1.10 200 OK\r\n')],
  ['HTTP/2 in the status line', answer('Content-Length: 5\r\n', 'hello', 'HTTP/2.0 200 OK\r\n')],
  ['a version in lower case', answer('Content-Length: 5\r\n', 'hello', 'http/1.1 200 OK\r\n')],
  ['an empty line before it', `\r\n${answer('Content-Length: 5\r\n', 'hello')}`],
  ['no status line', 'Content-Length: 5\r\n\r\nhello'],
  [
    'a switch of protocols that nobody asked for',
    `HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n${HIDDEN}`,
  ],
];

/**
 * Responses that the client gets as one, with this body, and nothing of what is hidden behind them.
 */
export const PASSED_RESPONSES: readonly Framed[] = [
  ['a second answer behind the first', answer('Content-Length: 5\r\n', `hello${HIDDEN}`), 'hello'],
  [
    'a body behind 304',
    answer('Content-Length: 58\r\n', HIDDEN, 'HTTP/1.1 304 Not Modified\r\n'),
    '',
  ],
  [
    'chunks behind 304',
    answer('Transfer-Encoding: chunked\r\n', CHUNKED, 'HTTP/1.1 304 Not Modified\r\n'),
    '',
  ],
  ['a second answer behind the last chunk', answerChunks(`${CHUNKED}${HIDDEN}`), CHUNKED],
  ['a length with zeros before it', answer('Content-Length: 005\r\n', 'hello'), 'hello'],
  ['lines that end in LF', 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello', 'hello'],
  ['a coding in capitals', answer('Transfer-Encoding: CHUNKED\r\n', CHUNKED), CHUNKED],
  ['a chunk extension, which is dropped', answerChunks('5;a=b\r\nhello\r\n0\r\n\r\n'), CHUNKED],
  [
    'a body behind an early hint',
    `HTTP/1.1 103 Early Hints\r\n\r\n${answer('Content-Length: 5\r\n', 'hello')}`,
    'hello',
  ],
];
