/** Blocks that were parsed before say the same as when they are parsed again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HeaderBlockParser } from '../../../../workers/http1/header-block.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';

const LINES = [
  'host: a.example',
  'Host: b.example',
  'content-length: 3',
  'Content-Length: 40',
  'transfer-encoding: chunked',
  'connection: close',
  'connection: keep-alive, x-one',
  'connection: upgrade',
  'upgrade: websocket',
  'upgrade: h2c',
  'te: trailers, deflate',
  'expect: 100-continue',
  'x-one: 1',
  'x-one:2',
  'cookie: a=b',
  'bad name: 1',
  'x-bad: \u0001',
  'x-long: ' + 'a'.repeat(1100),
];

const START = 'HTTP/1.1 200 OK\r\n';
const block = fc
  .tuple(fc.array(fc.constantFrom(...LINES), { maxLength: 6 }), fc.constantFrom('\r\n', '\n'))
  .map(([lines, end]) => [...lines, '', ''].join(end));

const usual = { maxHeaderCount: 100, allowChunkedLength: false };
/** Settings under which blocks are read. */
const limits = fc.constantFrom(
  usual,
  { ...usual, maxHeaderCount: 2 },
  { ...usual, allowChunkedLength: true },
  { ...usual, ignoresUpgrade: () => true },
);

/** Everything that a block says; `remembers`: by what is known too. */
function parsed(
  text: string,
  { isRequest, remembers, parser }: Asked,
): Readonly<Record<string, unknown>> {
  const headers = new HeaderMap();
  headers.authority = 'target.example';
  if (!remembers) headers.originalNames = [];
  const error = parser.parse(text, START.length, headers, isRequest)?.details;
  if (error !== undefined) return { error };
  const { contentLength, chunked, sawClose, sawKeepAlive, expectContinue, hostCount } = parser;
  const { entries, authority, isSuspect } = headers;
  const { end, headerBytes } = parser;
  const facts = { contentLength, chunked, sawClose, sawKeepAlive, expectContinue, hostCount };
  return { entries, authority, isSuspect, end, headerBytes, ...facts };
}

interface Asked {
  readonly isRequest: boolean;
  readonly remembers: boolean;
  readonly parser: HeaderBlockParser;
}

describe('a header block that came before', () => {
  it('says what it said, under all limits, of requests and responses, behind any first line', () => {
    const message = fc.tuple(
      fc.nat(5),
      fc.boolean(),
      limits,
      fc.constantFrom('', 'body', '\r\n\r\n'),
    );
    const run = fc.property(
      fc.array(block, { minLength: 6, maxLength: 6 }),
      fc.array(message, { minLength: 60, maxLength: 120 }),
      (blocks, messages) => {
        for (const [which, isRequest, options, rest] of messages) {
          const text = START + (blocks[which] ?? '') + rest;
          const asked = { isRequest, parser: new HeaderBlockParser(options) };
          const known = parsed(text, { ...asked, remembers: true });
          assert.deepEqual(known, parsed(text, { ...asked, remembers: false }), text);
        }
      },
    );
    fc.assert(run, { numRuns: 60 });
  });

  it('is recalled, with the same text for its fields', () => {
    const text = `${START}x-recalled: ${'v'.repeat(40)}\r\nhost: recalled.example\r\n\r\n`;
    const parser = new HeaderBlockParser(usual);
    const seen = new Set<string>();
    for (let at = 0; at < 100; at++) {
      const headers = new HeaderMap();
      assert.equal(parser.parse(text, START.length, headers, true), undefined);
      assert.deepEqual(headers.entries, ['x-recalled', 'v'.repeat(40)]);
      headers.set('x-recalled', 'changed');
      seen.add(headers.authority);
    }
    assert.deepEqual([...seen], ['recalled.example']);
  });

  it('does not hide what is wrong with the first line', () => {
    const good = `${START}x-line: 1\r\n\r\n`;
    const bad = good.replace('OK', 'O\u0001');
    const parser = new HeaderBlockParser(usual);
    for (let at = 0; at < 20; at++) {
      assert.equal(parser.parse(good, START.length, new HeaderMap(), false), undefined);
      const error = parser.parse(bad, START.length, new HeaderMap(), false);
      assert.equal(error?.details, 'http1.invalid_characters');
    }
  });
});
