/**
 * Requests that two parsers could read differently, as published corpora on request smuggling and
 * desynchronisation list them: each is either refused, with nothing of it upstream, or reaches a raw
 * upstream as exactly one request with framing that has one reading.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startDataPlane } from '../../support/data-plane.ts';
import { openRaw } from '../../support/raw-client.ts';
import { startRawUpstream } from '../../support/upstream.ts';

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n';
const CHUNKED = `5\r\nhello\r\n0\r\n\r\n`;

function post(headers: string, body = '', line = 'POST /a HTTP/1.1'): string {
  return `${line}\r\nHost: h\r\n${headers}\r\n${body}`;
}

/** What is refused: a title and the bytes. */
const REFUSED: readonly (readonly [string, string])[] = [
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
];

/** What is passed on: a title, the bytes, and what the upstream gets behind the head. */
const PASSED: readonly (readonly [string, string, string])[] = [
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
];

async function send(bytes: string): Promise<{ readonly answer: string; readonly got: string }> {
  await using upstream = await startRawUpstream((socket, received) => {
    socket.on('data', () => {
      if (!isWhole(received())) return;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    });
  });
  await using plane = await startDataPlane({
    upstreamPorts: [upstream.port],
    manager: { delayedCloseTimeoutMs: 1 },
  });
  const client = await openRaw(plane.port);
  client.send(Buffer.from(bytes, 'latin1'));
  const answer = await client.until(/^HTTP\/1\.[01] \d+ [^]*\r\n\r\n/);
  client.destroy();
  return { answer, got: upstream.received.join('') };
}

/** A request whose framing is the simplest there is: what this proxy writes. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/.exec(text)?.[1];
  if (length !== undefined) return text.length >= end + 4 + Number(length);
  return !/\r\ntransfer-encoding: chunked\r\n/.test(text) || text.endsWith('0\r\n\r\n');
}

describe('an ambiguous request', () => {
  for (const [title, bytes] of REFUSED) {
    it(`is refused and sends nothing whole upstream: ${title}`, async () => {
      const { answer, got } = await send(bytes);
      assert.match(answer, /^HTTP\/1\.[01] (400|403|404|426|501) /);
      assert.ok(!isWhole(got), JSON.stringify(got));
      assert.doesNotMatch(got, /smuggled/);
    });
  }

  for (const [title, bytes, body] of PASSED) {
    it(`reaches the upstream as one request: ${title}`, async () => {
      const { answer, got } = await send(bytes);
      assert.match(answer, /^HTTP\/1\.1 200 /);
      assert.equal(got.slice(got.indexOf('\r\n\r\n') + 4), body);
      const framings = got.match(/\r\n(content-length|transfer-encoding):/g) ?? [];
      assert.ok(framings.length <= 1, got);
    });
  }
});
