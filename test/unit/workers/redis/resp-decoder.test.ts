import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HeldBytes } from '../../../../workers/loop/held-bytes.ts';
import { RespDecoder } from '../../../../workers/redis/codec/resp-decoder.ts';
import { RespError } from '../../../../workers/redis/codec/resp-error.ts';
import {
  encodeValue,
  isSameValue,
  NOTHING,
  RespKind,
  RespValue,
} from '../../../../workers/redis/codec/resp-value.ts';

/** What the pieces bring, and whether the decoder refuses them. */
function decode(...pieces: readonly string[]): { values: RespValue[]; isRefused: boolean } {
  const values: RespValue[] = [];
  const held = new HeldBytes();
  const owner = { isClosed: false, onValue: (value: RespValue) => void values.push(value) };
  const decoder = new RespDecoder(owner, held);
  try {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece, 'latin1');
      decoder.decode(bytes, 0, bytes.length);
    }
  } catch (error) {
    assert.ok(error instanceof RespError, String(error));
    decoder.release();
    assert.equal(held.bytes, 0);
    return { values, isRefused: true };
  }
  decoder.release();
  assert.equal(held.bytes, 0);
  return { values, isRefused: false };
}

/** In RESP3's words. */
function read(...pieces: readonly string[]): string {
  const { values, isRefused } = decode(...pieces);
  return values.map((value) => encodeValue(value, 3)).join('') + (isRefused ? 'refused' : '');
}

const REFUSED = [
  '*x\r\n',
  '*\r\n',
  '*1\n',
  '*-2\r\n',
  '$-5\r\n',
  '$-0\r\n',
  '$+4\r\n',
  '$99999999999\r\n',
  '*2147483647\r\n',
  '%1048577\r\n%1000000000\r\n',
  '~-1\r\n',
  '!-1\r\n',
  '$1\r\nab\r\n',
  '+a\rb',
  ':\r\n',
  ':12a\r\n',
  ':9223372036854775808\r\n',
  ':-9223372036854775809\r\n',
  '_x\r\n',
  '#x\r\n',
  '#tt\r\n',
  ',1.5x\r\n',
  ', 1\r\n',
  `,${'1'.repeat(65)}\r\n`,
  '(1a\r\n',
  '=3\r\nabc\r\n',
  '\u0000',
  '!!!\r\n',
  'echo "un\r\n',
  'echo "a"b\r\n',
  'echo a"b"\r\n',
  `${'*1\r\n'.repeat(200)}`,
  `${'|0\r\n'.repeat(33)}`,
];

const READ: readonly (readonly [text: string, value: string])[] = [
  ['*-1\r\n', '_\r\n'],
  ['$-1\r\n', '_\r\n'],
  [':-0\r\n', ':0\r\n'],
  [':007\r\n', ':7\r\n'],
  [':-9223372036854775808\r\n', ':-9223372036854775808\r\n'],
  ['|1\r\n+a\r\n+b\r\n+c\r\n', '+c\r\n'],
  ['*1\r\n|1\r\n+a\r\n+b\r\n+c\r\n', '*1\r\n+c\r\n'],
  ['  ping \t a\r\n', '*2\r\n$4\r\nping\r\n$1\r\na\r\n'],
  ["echo 'a\\'b\\n'\r\n", "*2\r\n$4\r\necho\r\n$5\r\na'b\\n\r\n"],
  ['echo "a\\x41\\n\\q\\x4"\r\n', '*2\r\n$4\r\necho\r\n$6\r\naA\nqx4\r\n'],
  ['\r\n', '*0\r\n'],
];

const text = fc.string({ unit: 'binary-ascii', maxLength: 12 });
const line = text.map((each) => each.replace(/[\r\n]/g, ''));

const leaf: fc.Arbitrary<RespValue> = fc.oneof(
  text.map((each) => new RespValue(RespKind.bulk, each)),
  line.map((each) => new RespValue(RespKind.simple, each)),
  line.map((each) => new RespValue(RespKind.error, each)),
  fc
    .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    .map((each) => new RespValue(RespKind.integer, String(each))),
  fc.constant(NOTHING),
  fc.constantFrom('t', 'f').map((each) => new RespValue(RespKind.boolean, each)),
  fc
    .double()
    .map((each) => new RespValue(RespKind.double, String(each).replace('Infinity', 'inf'))),
  text.map((each) => new RespValue(RespKind.blobError, each)),
  text.map((each) => new RespValue(RespKind.verbatim, `txt:${each}`)),
);

const { value: anyValue } = fc.letrec<{ value: RespValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc
      .tuple(
        fc.constantFrom(RespKind.array, RespKind.set, RespKind.push),
        fc.array(tie('value'), { maxLength: 4 }),
      )
      .map(([kind, items]) => new RespValue(kind, '', items)),
    fc
      .array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 })
      .map((pairs) => new RespValue(RespKind.map, '', pairs.flat())),
  ),
}));

describe('the decoder of the Redis protocol', () => {
  it('refuses what is no value', () => {
    for (const bytes of REFUSED) assert.match(read(bytes), /refused$/, JSON.stringify(bytes));
  });

  it('reads every form of a value, whole or byte by byte', () => {
    for (const [bytes, value] of READ) {
      assert.equal(read(bytes), value, JSON.stringify(bytes));
      assert.equal(read(...bytes.split('')), value, `byte by byte: ${JSON.stringify(bytes)}`);
    }
  });

  it('gives back what was written, in whatever pieces it comes', () => {
    fc.assert(
      fc.property(
        fc.array(anyValue, { maxLength: 4 }),
        fc.infiniteStream(fc.nat(9)),
        (all, cuts) => {
          const bytes = all.map((value) => encodeValue(value, 3)).join('');
          const pieces: string[] = [];
          for (let at = 0; at < bytes.length;) {
            const size = 1 + (cuts.next().value as number);
            pieces.push(bytes.slice(at, at + size));
            at += size;
          }
          const { values, isRefused } = decode(...pieces);
          assert.ok(!isRefused);
          assert.equal(values.length, all.length);
          values.forEach((value, at) => assert.ok(isSameValue(value, all[at] as RespValue)));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('writes what a client of RESP2 reads', () => {
    const forms = new Map([
      ['%1\r\n+a\r\n_\r\n', '*2\r\n+a\r\n$-1\r\n'],
      ['~1\r\n#t\r\n', '*1\r\n:1\r\n'],
      [',1.5\r\n', '$3\r\n1.5\r\n'],
      ['(12\r\n', '$2\r\n12\r\n'],
      ['=5\r\ntxt:a\r\n', '$1\r\na\r\n'],
      ['!3\r\na\nb\r\n', '-a b\r\n'],
    ]);
    for (const [bytes, older] of forms) {
      const [value] = decode(bytes).values;
      assert.equal(value && encodeValue(value, 2), older);
    }
  });

  it('makes no room for what a length promises', () => {
    const before = process.memoryUsage().heapUsed;
    for (let turn = 0; turn < 50; turn++) decode('*2000000\r\n$1\r\na\r\n');
    assert.ok(process.memoryUsage().heapUsed - before < 100_000_000);
  });
});
