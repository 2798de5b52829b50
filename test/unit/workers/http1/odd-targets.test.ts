/**
 * Request targets, request lines and codings as Envoy 1.40.0 takes or refuses them: each row was
 * asked of it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServerHarness } from '../../../support/peers/http1.ts';

/** What `GET http://<authority>/` is answered: the authority that it is for, or the refusal. */
const ABSOLUTE: readonly (readonly [string, string])[] = [
  'x',
  'X',
  'x:80',
  'x:0',
  'x:65535',
  'x:080',
  'x:000080',
  'x:000000000000000000080',
  'x..y',
  '.x',
  'x.',
  '-',
  'x-',
  '1.2.3.4.5',
  '1.2.3.4:80',
  '256.1.1.1',
  'a.b-c.D9',
  '[::1]',
  '[::1]:80',
  '[::1]:0',
  '[::1.2.3.4]',
  '[1.2.3.4]',
  '[ffff::ABCD]',
  '[fe80::1%0]',
  '[fe80::1%250]',
  '[fe80::1%2]',
]
  .map((authority) => [authority, authority] as const)
  .concat([
    ['@x', 'x'],
    ['a@x', 'x'],
    ['a:b@x', 'x'],
    ['a:b@x:80', 'x:80'],
    ['a:99999@x', 'x'],
    ['a:b:c@x:1', 'x:1'],
    ['x:80@y', 'y'],
    ['a%40b@x', 'x'],
    ['u%@x', 'x'],
    ["u_~!$&'()*+,;=:-.@x", 'x'],
  ])
  .concat(
    [
      '',
      'x:99999',
      'x:abc',
      'x:',
      'x::80',
      'x:80:80',
      'x:65536',
      'x:00065536',
      'x:+80',
      'x:-1',
      'x:8a',
      'x:80a',
      'x:8_0',
      'x:8%30',
      ':80',
      ':',
      '@',
      'a@',
      'a@b@x',
      'a[b@x',
      '[::1]:',

      '[::1]:99999',
      '[::1]:abc',
      '[::1',
      '::1',
      '[]',
      '[]:80',
      '[x]',
      '[:]',
      '[.]',
      '[1]',
      '[g::]',
      '[::1]x',
      '[::1]x:80',
      'x]',
      'x[',
      '[fe80::1%25lo]',
      '[fe80::1%]',
      '[fe80::1%l_o]',

      '[::1%eth0]:80',
      'x%20y',
      'x%',
      'x_y',
      'x;y',
      'x,y',
      'x(y)',
      'x~y',
      "x!$&'()*+,;=",
      'x=',
      'x*',
    ].map((authority) => [authority, '400 http1.invalid_url'] as const),
  )
  .concat(
    [
      'x\\y',
      'x"y',
      'x<y',
      'x|y',
      'x{y',
      'x^y',
      'x`y',
      'a|b@x',
      'a"b@x',
      'a{b@x',
      '\xe9',
      'x#a',
    ].map((authority) => [authority, '400 http1.codec_error'] as const),
  );

const TARGETS: readonly (readonly [string, string])[] = [
  ['http://x', 'GET x /'],
  ['http://x:80', 'GET x:80 /'],
  ['HTTP://X/a', 'GET X /a'],
  ['https://x/?b', 'GET x /?b'],
  ['http://x/:99999', 'GET x /:99999'],
  ['http://x/"{|<', 'GET x /"{|<'],
  ['//x:99999/', 'GET h //x:99999/'],
  ['/x:99999/', 'GET h /x:99999/'],
  ['ftp://x/', '400 http1.invalid_scheme'],
  ['h-p://x/', '400 http1.invalid_scheme'],
  ['ftp://x:99999/', '400 http1.invalid_url'],
  ['x://', '400 http1.invalid_url'],
  ['x:///', '400 http1.invalid_url'],
  ['http://', '400 http1.invalid_url'],
  ['HTTP:///', '400 http1.invalid_url'],
  ['*', '400 http1.invalid_url'],
  ...['http:x', 'http:/x', 'x:80', 'x', '://x', '1http://x/', 'http://x#a', 'http://x:80#a'].map(
    (target) => [target, '400 http1.codec_error'] as const,
  ),
];

/** What a client is told that sends such a line and nothing else. */
const LINES: readonly (readonly [string, string])[] = [
  ...['GET /', 'GET / ', 'POST /', 'GET http://x/', 'CONNECT x:1'].map(
    (line) => [line, '426 low_version'] as const,
  ),
  ...[
    'GET',
    'GET ',
    'GET /a b',
    'GET / HTTP/1',
    'GET / http/1.1',
    'GET / HTTP/11',
    'GET / HTTP/1.10',
  ].map((line) => [line, '400 http1.codec_error'] as const),
  ...[
    'GET / HTTP/01.1',
    'GET / XTTP/1.1',
    'GET / HTTP 1.1',
    'GET x',
    'GET / FOO',
    'GET / HTTP/',
  ].map((line) => [line, '400 http1.codec_error'] as const),
  ['GET *', '400 http1.invalid_url'],
  ['GET\0/', '400 http1.codec_error'],
  // These wait for the rest of the head.
  ...['GET / HTTP/1.1', 'GET / HTTP/1.0', 'GET / HTTP/0.9', 'GET / HTTP/2.0'].map(
    (line) => [line, ''] as const,
  ),
];

const CODINGS: readonly (readonly [string, string])[] = [
  ...['chunked', 'Chunked', 'CHUNKED', 'chunked ', '\tchunked', 'chunked\t'].map(
    (coding) => [coding, 'POST h /'] as const,
  ),
  ...['chunked,', ',chunked', ', chunked', 'chunked,chunked', 'gzip, chunked', 'chunked, gzip'].map(
    (coding) => [coding, '501 http1.invalid_transfer_encoding'] as const,
  ),
  ...['gzip', 'identity', 'identity, chunked', '', 'x-chunked', 'chunkedx', 'chunked;a=b'].map(
    (coding) => [coding, '501 http1.invalid_transfer_encoding'] as const,
  ),
  ...['"chunked"', 'chunk', 'chun ked', 'chunked chunked', '\xe9', 'chunked\xa0', '*'].map(
    (coding) => [coding, '501 http1.invalid_transfer_encoding'] as const,
  ),
  ...['chunked\x0b', '\x0bchunked', 'chunked\0'].map(
    (coding) => [coding, '400 http1.invalid_characters'] as const,
  ),
];

function ask(text: string): string {
  const [message] = new ServerHarness().feed(text).messages;
  return message === undefined || message.error !== '' ? (message?.error ?? '') : message.start;
}

describe('an absolute target', () => {
  for (const [authority, expected] of ABSOLUTE) {
    it(`for ${JSON.stringify(authority)}`, () => {
      const answer = ask(`GET http://${authority}/ HTTP/1.1\r\nHost: h\r\n\r\n`);
      assert.equal(answer, expected.startsWith('400') ? expected : `GET ${expected} /`);
    });
  }
  for (const [target, expected] of TARGETS) {
    it(`${target} is what Envoy takes it for`, () => {
      assert.equal(ask(`GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`), expected);
    });
  }
});

describe('a request line without the rest of its head', () => {
  for (const [line, expected] of LINES) {
    it(JSON.stringify(line), () => {
      for (const end of ['\n', '\r\n']) assert.equal(ask(`${line}${end}`), expected);
      const pieces = `${line}\r\n`.split('');
      const [message] = new ServerHarness().feed(...pieces).messages;
      assert.equal(message?.error, expected);
    });
  }
});

describe('a transfer coding', () => {
  for (const [coding, expected] of CODINGS) {
    it(JSON.stringify(coding), () => {
      const head = `POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ${coding}\r\n`;
      assert.equal(ask(`${head}\r\n`), expected);
      if (expected.startsWith('501') || expected.startsWith('POST')) {
        const both = '400 http1.content_length_and_chunked_not_allowed';
        assert.equal(ask(`${head}Content-Length: 3\r\n\r\n`), both);
      }
    });
  }
});
