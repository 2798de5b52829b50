/** JSON as protobuf's printer writes it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../../../shared/api/well-known.ts';
import { quoteJson } from '../../../../shared/json/quote-json.ts';
import {
  printJson,
  printJsonInSteps,
  printNumber,
} from '../../../../supervisor/admin/json-printer.ts';

test('objects and lists are indented by one space, empty ones stay on their line', () => {
  assert.equal(
    printJson({ a: [], b: {}, c: [1, 'x'], d: { e: null, f: true } }),
    '{\n "a": [],\n "b": {},\n "c": [\n  1,\n  "x"\n ],\n "d": {\n  "e": null,\n  "f": true\n }\n}\n',
  );
});

test('strings are escaped as protobuf does, angle brackets and invisible characters too', () => {
  const cases = {
    '<b>': '"\\u003cb\\u003e"',
    é: '"é"',
    '"\\\n\r\t\f\b': '"\\"\\\\\\n\\r\\t\\f\\b"',
    '\x00\x7f\x85': '"\\u0000\\u007f\\u0085"',
    '\u2028\u200b\ufeff': '"\\u2028\\u200b\\ufeff"',
    '\u{e0001}': '"\\udb40\\udc01"',
    '😀': '"😀"',
  };
  for (const [text, printed] of Object.entries(cases)) assert.equal(quoteJson(text), printed);
});

test('numbers have as many digits as they need and exponents of two digits', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0'],
    [1, '1'],
    [-3, '-3'],
    [0.1, '0.1'],
    [1.5, '1.5'],
    [4294967295, '4294967295'],
    [1e15, '1e+15'],
    [1e20, '1e+20'],
    [1e-7, '1e-07'],
    [0.0001, '0.0001'],
    [0.1 + 0.2, '0.30000000000000004'],
    [Number.NaN, '"NaN"'],
    [-Infinity, '"-Infinity"'],
  ];
  for (const [value, printed] of cases) assert.equal(printNumber(value), printed);
});

test('what is printed reads back as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      // JSON has no negative zero.
      const wanted: unknown = JSON.parse(JSON.stringify(value));
      const printed = printJson(value as JsonValue);
      assert.deepEqual(JSON.parse(printed), wanted);
    }),
    { seed: 7, numRuns: 500 },
  );
});

test('a value printed in small pieces is the same text as printed whole', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ index, name: `n${index}`, of: [1] }));
  fc.assert(
    fc.property(fc.jsonValue(), fc.boolean(), (value, isList) => {
      const inner = [value as JsonValue, many, {}, []];
      const large = isList ? inner : { a: inner, b: { c: many, d: value as JsonValue } };
      const pieces = [...printJsonInSteps(large)];
      assert.equal(pieces.join(''), printJson(large));
      assert.ok(pieces.length > 1000 && pieces.every(({ length }) => length < 50_000));
    }),
    { seed: 7, numRuns: 100 },
  );
});
