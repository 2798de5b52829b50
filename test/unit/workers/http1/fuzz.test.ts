import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { ClientHarness, pairs, ServerHarness } from '../../../support/peers/http1.ts';

const SEED = 20_261_121;

const token = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
/** Names without a meaning for framing or for this hop. */
const name = token.map((text) => `x-${text}`);
const value = fc.stringMatching(/^(?:[!-~\x80-\xff](?:[ !-~\x80-\xff]{0,20}[!-~\x80-\xff])?)?$/);
const headers = fc.array(fc.tuple(name, value), { maxLength: 8 });
const byte = fc.nat(255).map((code) => String.fromCharCode(code));
const bytes = fc.array(byte, { minLength: 1, maxLength: 30 }).map((list) => list.join(''));
const body = fc.array(bytes, { maxLength: 5 });
const cuts = fc.array(fc.nat(), { maxLength: 6 });

function cut(text: string, positions: readonly number[]): readonly string[] {
  const places = [...new Set(positions.map((position) => position % (text.length + 1)))].sort(
    (left, right) => left - right,
  );
  return [...places, text.length].map((place, at) => text.slice(places[at - 1] ?? 0, place));
}

function message(list: readonly (readonly [string, string])[]): HeaderMap {
  const map = new HeaderMap();
  for (const [key, text] of list) map.add(key, text);
  return map;
}

describe('the HTTP/1 codec', () => {
  it('reads every request that it writes, however it is cut', () => {
    fc.assert(
      fc.property(headers, body, headers, cuts, (sent, pieces, trailers, positions) => {
        const request = message(sent);
        request.method = 'POST';
        request.path = '/a';
        request.authority = 'h';
        const client = new ClientHarness().request(request, false);
        for (const piece of pieces) client.codec.encodeData(Buffer.from(piece, 'latin1'), false);
        if (trailers.length > 0) client.codec.encodeTrailers(message(trailers));
        else client.codec.encodeData(Buffer.alloc(0), true);
        const server = new ServerHarness().feed(...cut(client.wire.written, positions));
        const [seen] = server.messages;
        assert.equal(seen?.complete, true, seen?.error);
        assert.deepEqual(seen.headers, pairs(request));
        assert.equal(seen.body, pieces.join(''));
        assert.deepEqual(seen.trailers, trailers);
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  it('reads every response that it writes, however it is cut', () => {
    const status = fc
      .integer({ min: 200, max: 599 })
      .filter((code) => code !== 204 && code !== 304);
    fc.assert(
      fc.property(headers, body, status, cuts, (sent, pieces, code, positions) => {
        const response = message(sent);
        response.status = code;
        const server = new ServerHarness((encoder) => {
          encoder.encodeHeaders(response, false);
          for (const piece of pieces) encoder.encodeData(Buffer.from(piece, 'latin1'), false);
          encoder.encodeData(Buffer.alloc(0), true);
        });
        server.feed('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
        const request = message([]);
        request.method = 'GET';
        request.path = '/';
        const client = new ClientHarness().request(request);
        client.feed(...cut(server.wire.written, positions));
        assert.equal(client.message.complete, true, client.message.error);
        assert.equal(client.message.start, String(code));
        assert.deepEqual(client.message.headers, sent);
        assert.equal(client.message.body, pieces.join(''));
        assert.equal(client.reusable, true);
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });

  /** Bytes that matter to a parser, between arbitrary ones. */
  const scrap = fc.constantFrom(
    'GET ',
    'POST ',
    '/',
    ' HTTP/1.1',
    ' HTTP/1.0',
    '\r\n',
    '\n',
    '\r',
    ' ',
    '\t',
    ':',
    'Host: h',
    ';',
    'Content-Length: ',
    'Transfer-Encoding: ',
    'chunked',
    '0',
    '3',
    'a',
    '\0',
    'Connection: close',
    'abc',
    '\r\n\r\n',
    '0\r\n\r\n',
    'Expect: 100-continue',
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 100 \r\n',
  );
  const noise = fc.array(fc.oneof(scrap, byte), { maxLength: 40 });

  it('comes to the same end with any bytes, however they are cut, and throws at none', () => {
    fc.assert(
      fc.property(noise, cuts, (scraps, positions) => {
        const text = `${scraps[0] === undefined ? '' : 'POST / HTTP/1.1\r\nHost: h\r\n'}${scraps.join('')}`;
        const whole = new ServerHarness((encoder) => encoder.encodeHeaders(ok(), true)).feed(text);
        const inPieces = new ServerHarness((encoder) => encoder.encodeHeaders(ok(), true));
        inPieces.feed(...cut(text, positions));
        assert.deepEqual(inPieces.messages, whole.messages);
        assert.equal(inPieces.wire.written, whole.wire.written);
        const client = new ClientHarness().request(get()).feed(text.slice(26));
        const clientInPieces = new ClientHarness().request(get());
        clientInPieces.feed(...cut(text.slice(26), positions));
        assert.deepEqual(clientInPieces.message, client.message);
      }),
      { seed: SEED, numRuns: 50_000 },
    );
  });
});

function ok(): HeaderMap {
  const map = new HeaderMap();
  map.status = 200;
  return map;
}

function get(): HeaderMap {
  const map = new HeaderMap();
  map.method = 'GET';
  map.path = '/';
  return map;
}
