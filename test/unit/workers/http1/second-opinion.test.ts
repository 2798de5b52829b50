/**
 * The codecs beside the runtime's own parser: where both accept the same bytes they must agree on
 * where each message ends, on its headers and on its body, and what this proxy makes of an accepted
 * request must have one reading. `SLUICE_FUZZ_RUNS` sets how many inputs each direction gets; the
 * seed is fixed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { ClientHarness, type SeenMessage, ServerHarness } from '../../../support/peers/http1.ts';
import { readAsRuntime, type ReadMessage } from '../../../support/peers/second-opinion.ts';
import { requestLine, statusLine, input } from './generated-messages.ts';

const SEED = 20_261_121;

const RUNS = Number(process.env['SLUICE_FUZZ_RUNS'] ?? 500);

/** Inputs up to this length are also cut at every place. */
const SHORT = 200;

/** Names of this hop, or kept elsewhere than among the headers. */
const HOP = new Set(
  `connection keep-alive proxy-connection transfer-encoding upgrade te host expect`.split(' '),
);

function serve(...pieces: readonly string[]): ServerHarness {
  return new ServerHarness((encoder, { error }) => {
    if (error === '') encoder.encodeHeaders(ok(), true);
  }).feed(...pieces);
}

function ask(method: string, ...pieces: readonly string[]): ClientHarness {
  return new ClientHarness().request(requestOf(method)).feed(...pieces);
}

/** All ways of cutting a short input, and single bytes for any. */
function* cuts(text: string): Iterable<readonly string[]> {
  yield text.split('');
  if (text.length > SHORT) return;
  for (let at = 1; at < text.length; at++) yield [text.slice(0, at), text.slice(at)];
}

/** Headers that both must read alike: what belongs to this hop is not passed on. */
function ordinary(
  list: readonly (readonly [string, string])[],
  isRequest: boolean,
): readonly string[] {
  const nominated = list
    .filter(([name]) => isRequest && name === 'connection')
    .flatMap(([, value]) => value.split(',').map((token) => token.trim().toLowerCase()));
  return list
    .filter(([name]) => !HOP.has(name) && !nominated.includes(name))
    .map(([name, value]) => `${name}: ${value}`);
}

function pairsOf(flat: readonly string[]): readonly (readonly [string, string])[] {
  const list: (readonly [string, string])[] = [];
  for (let at = 0; at < flat.length; at += 2) {
    list.push([flat[at]?.toLowerCase() ?? '', flat[at + 1] ?? '']);
  }
  return list;
}

function compare(seen: SeenMessage, other: ReadMessage): void {
  const isRequest = seen.start.includes(' ');
  const mine = ordinary(seen.headers, isRequest);
  const theirs = ordinary(pairsOf(other.headers), isRequest);
  assert.deepEqual([...mine].sort(), [...theirs].sort());
  if (other.isUpgrade) return;
  assert.equal(seen.body, other.body);
  assert.equal(seen.complete, other.isComplete, 'where the message ends');
  const trailers = pairsOf(other.trailers).filter(
    ([name]) => name !== 'content-length' && !HOP.has(name),
  );
  assert.deepEqual(seen.trailers, seen.complete ? trailers : []);
}

describe('beside the parser of node:http', () => {
  it('the server codec reads the same requests in what both accept, however they are cut', () => {
    let compared = 0;
    fc.assert(
      fc.property(input(requestLine, ['Host: h']), (bytes) => {
        const whole = serve(bytes);
        for (const pieces of cuts(bytes))
          assert.deepEqual(serve(...pieces).messages, whole.messages);
        const second = readAsRuntime('request', bytes);
        for (const [at, seen] of whole.messages.entries()) {
          const other = second.messages[at];
          if (seen.start === '' || seen.error !== '') break;
          assert.ok(other !== undefined || second.refusal !== '', 'a request that only one sees');
          if (other === undefined) break;
          if (second.refusal !== '' && !other.isComplete) break;
          if (!other.start.startsWith(seen.start.slice(0, seen.start.indexOf(' ')))) {
            assert.fail(`${seen.start} is not ${other.start}`);
          }
          compare(seen, other);
          compared++;
          if (other.isUpgrade) return;
        }
        // A refusal or an announced close ends the connection here.
        const goesOn = whole.finished === undefined && whole.messages.every(({ error }) => !error);
        if (goesOn) assert.ok(second.messages.length <= whole.messages.length, 'a hidden request');
      }),
      { seed: SEED, numRuns: RUNS },
    );
    assert.ok(compared > RUNS / 10, `only ${compared} messages were accepted by both`);
  });

  it('the client codec reads the same response in what both accept, however it is cut', () => {
    let compared = 0;
    fc.assert(
      fc.property(
        input(statusLine, []),
        fc.constantFrom('GET', 'HEAD'),
        fc.boolean(),
        (bytes, method, isClosed) => {
          const whole = ask(method, bytes);
          for (const pieces of cuts(bytes)) {
            const { message, reusable } = ask(method, ...pieces);
            assert.deepEqual([message, reusable], [whole.message, whole.reusable]);
          }
          if (isClosed) whole.close();
          const { message: seen } = whole;
          if (seen.start === '' || seen.error !== '') return;
          const options = { isToHead: method === 'HEAD', isClosed };
          const second = readAsRuntime('response', bytes, options);
          const other = second.messages.find(({ start }) => !start.startsWith('1'));
          if (other === undefined || (second.refusal !== '' && !other.isComplete)) return;
          assert.equal(seen.start, other.start);
          compare(seen, other);
          compared++;
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
    assert.ok(compared > RUNS / 10, `only ${compared} messages were accepted by both`);
  });

  it('what the client codec writes for an accepted request is read as that one request', () => {
    fc.assert(
      fc.property(input(requestLine, ['Host: h']), (bytes) => {
        const [seen] = serve(bytes).messages;
        if (seen === undefined || !seen.complete) return;
        const [method = '', authority = '', path = ''] = seen.start.split(' ');
        const request = requestOf(method);
        request.authority = authority;
        request.path = path;
        for (const [name, value] of seen.headers) request.add(name, value);
        const client = new ClientHarness().request(request, seen.body === '');
        if (seen.body !== '') client.codec.encodeData(Buffer.from(seen.body, 'latin1'), true);
        const { messages, refusal } = readAsRuntime('request', client.wire.written);
        assert.equal(refusal, '', client.wire.written);
        assert.equal(messages.length, 1);
        assert.equal(messages[0]?.isComplete, true);
        assert.equal(messages[0].body, seen.body);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

function ok(): HeaderMap {
  const map = new HeaderMap();
  map.status = 200;
  return map;
}

function requestOf(method: string): HeaderMap {
  const map = new HeaderMap();
  map.method = method;
  map.path = '/';
  map.authority = 'h';
  return map;
}
