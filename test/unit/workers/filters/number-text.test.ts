import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeBase64, parseDouble } from '../../../../workers/filters/common/number-text.ts';

/** What Envoy writes for a header with `type: NUMBER`; undefined: nothing. */
const NUMBERS: readonly (readonly [text: string, number: number | undefined])[] = [
  ['12', 12],
  ['abc', undefined],
  ['', undefined],
  ['1e3', 1000],
  ['1E+2', 100],
  ['0x10', 16],
  ['-0x10', -16],
  ['0X1F', 31],
  ['0x1p3', 8],
  ['0x1.8p-2', 0.375],
  ['0x.8', 0.5],
  ['0x1e5', 485],
  ['0xffffffffffffffffffff', 1.2089258196146292e24],
  [`0x${'f'.repeat(2000)}`, Infinity],
  [`0x0p${'9'.repeat(400)}`, 0],
  [`0x1p-${'9'.repeat(400)}`, 0],
  ['0x8p-1077', 5e-324],
  ['0x', undefined],
  ['0x.', undefined],
  ['0x1p', undefined],
  ['inf', Infinity],
  ['-inf', -Infinity],
  ['Infinity', Infinity],
  ['infinit', undefined],
  ['nan', NaN],
  ['-nan', NaN],
  ['NaN(a_1)', NaN],
  ['nan(', undefined],
  ['nan(-)', undefined],
  ['1.', 1],
  ['.5', 0.5],
  ['.', undefined],
  ['+7', 7],
  ['+-7', undefined],
  ['+', undefined],
  ['1e999', Infinity],
  ['1e-999', 0],
  ['1e', undefined],
  ['1e5.5', undefined],
  ['1_0', undefined],
  ['1 2', undefined],
  ['1,2', undefined],
  ['1f', undefined],
  ['0b1', undefined],
  ['00012', 12],
  ['\t5\n', 5],
  ['\v5\f', 5],
  ['5\0', undefined],
  ['\u00a05', undefined],
  ['2.2250738585072011e-308', 2.225073858507201e-308],
];

describe('a number in a text', () => {
  for (const [text, number] of NUMBERS) {
    it(`is ${number} in ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.equal(parseDouble(text), number);
    });
  }
});

describe('base64 in a text', () => {
  for (const [text, decoded] of [
    ['aGVsbG8=', 'hello'],
    ['aGVsbG8', 'hello'],
    ['aGVsbG8==', 'hello'],
    ['aGk=', 'hi'],
    ['/+8=', '\xff\xef'],
    ['aGVsbG9=', undefined],
    ['aGVsbG8===', undefined],
    ['a', undefined],
    ['=', undefined],
    ['', undefined],
    ['!!!!', undefined],
    ['a-_b', undefined],
    ['aGVs bG8=', undefined],
    ['aGk=,aGk=', undefined],
    ['aGk=\n', undefined],
  ] as const) {
    it(`is ${JSON.stringify(decoded)} in ${JSON.stringify(text)}`, () => {
      assert.equal(decodeBase64(text)?.toString('latin1'), decoded);
    });
  }
});
