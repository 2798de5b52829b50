/**
 * Headers that say which span a client's request belongs to, made at random: none throws, and what
 * goes on to a host is a context of the form that the next one reads, bounded in length.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import {
  hex64,
  readDatadogContext,
  writeDatadogContext,
} from '../../../workers/tracing/datadog/datadog-context.ts';
import { readSw8, writeSw8 } from '../../../workers/tracing/skywalking/sw8-context.ts';
import {
  readW3cContext,
  writeTraceparent,
  writeTracestate,
} from '../../../workers/tracing/w3c-context.ts';
import { readB3Context, writeB3Context } from '../../../workers/tracing/zipkin/b3-context.ts';
import { attackParameters } from '../../support/attack.ts';

const SHORT = 5_000;
const LONG = 100_000;
/** More than any of them passes on. */
const WRITTEN_MAX = 16_384;
/** The origin is a header of its own, which passes on as long as it came. */
const ORIGIN_MAX = 2_000;
const OWN_MEMBER_MAX = 256;

const digits = (most: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEFgx-'.split('')), maxLength: most });
const byte = fc
  .integer({ min: 0x20, max: 0xff })
  .filter((code) => code !== 0x7f)
  .map((code) => String.fromCharCode(code));
const garbage = fc.string({ unit: byte, maxLength: 60 });
const long = fc.constantFrom(8191, 8192, 8193, 60_000).map((length) => 'a,='.repeat(length / 3));
const value = fc.oneof(
  digits(34),
  garbage,
  long,
  fc.constantFrom('', '0', '1', 'd', 'true', '-1', '2', '00000000000000000000'),
  fc.bigInt({ min: -1n, max: 2n ** 64n }).map(String),
  fc
    .tuple(digits(32), digits(16), fc.constantFrom('0', '1', 'd', '01', '00', 'ff'))
    .map((parts) => parts.join('-')),
  fc.array(digits(8), { minLength: 6, maxLength: 10 }).map((parts) => `1-${parts.join('-')}`),
  fc
    .array(fc.tuple(fc.constantFrom('dd', 't.a', '__proto__', '_dd.p.tid'), garbage), {
      maxLength: 40,
    })
    .map((pairs) => pairs.map(([name, text]) => `${name}=${text}`).join(',')),
);

const NAMES = [
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'traceparent',
  'tracestate',
  'sw8',
  'x-datadog-trace-id',
  'x-datadog-parent-id',
  'x-datadog-sampling-priority',
  'x-datadog-tags',
  'x-datadog-origin',
];
const MOST = 6;
const entries = fc.array(fc.tuple(fc.constantFrom(...NAMES), value), { maxLength: MOST });

function headersOf(given: readonly (readonly [string, string])[]): HeaderMap {
  const headers = new HeaderMap();
  for (const [name, text] of given) headers.add(name, text);
  return headers;
}

/** What was written, and nothing that came. */
function written(write: (headers: HeaderMap) => void): HeaderMap {
  const headers = new HeaderMap();
  write(headers);
  assert.equal(headers.isSuspect, false, headers.entries.join());
  assert.ok(headers.entries.join('').length <= WRITTEN_MAX, 'what goes on is bounded');
  return headers;
}

describe('attacks by the headers of spans', () => {
  it('reads any B3 and writes one that it reads as the same', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const context = readB3Context(headersOf(given));
        if (context === 'broken' || context.ids === undefined) return;
        const { ids, isSingle } = context;
        const again = readB3Context(written((into) => writeB3Context(into, ids, true, isSingle)));
        assert.ok(again !== 'broken' && again.sampled === true);
        assert.deepEqual(again.ids, ids);
      }),
      attackParameters(SHORT, LONG),
    );
  });

  it('reads any W3C context and writes one that it reads as the same', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const context = readW3cContext(headersOf(given));
        if (context === undefined) return;
        const again = readW3cContext(
          written((into) => {
            const { traceId, parentId: spanId, isSampled } = context;
            writeTraceparent(into, { traceId, spanId, isSampled });
            writeTracestate(into, context.state);
          }),
        );
        assert.deepEqual(again, context);
      }),
      attackParameters(SHORT, LONG),
    );
  });

  it('reads any sw8 and writes one that it reads as the same', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const context = readSw8(headersOf(given));
        if (context === undefined || context === 'absent') return;
        assert.deepEqual(readSw8(written((into) => writeSw8(into, context))), context);
      }),
      attackParameters(SHORT, LONG),
    );
  });

  it('reads any context of Datadog and writes one of the same trace', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const context = readDatadogContext(headersOf(given));
        if (context === undefined) return;
        const { priority = 1, parentId, ...place } = context;
        const origin = place.origin.slice(0, ORIGIN_MAX);
        const headers = written((into) =>
          writeDatadogContext(into, { ...place, origin, priority, spanId: parentId || 1n }),
        );
        const state = headers.get('tracestate') ?? '';
        const own = state.split(',').find((member) => member.startsWith('dd=')) ?? '';
        assert.ok(own.length > 0 && own.length <= OWN_MEMBER_MAX, own);
        const again = readDatadogContext(headers);
        assert.equal(again?.traceLow, context.traceLow || undefined);
        const parent = headers.get('traceparent') ?? '';
        assert.match(parent, /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
        assert.ok(parent.includes(hex64(context.traceLow)));
      }),
      attackParameters(SHORT, LONG),
    );
  });
});
