import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileRegex } from '../../../../supervisor/regex/compile-regex.ts';
import { parseRegex } from '../../../../supervisor/regex/parse.ts';
import { programSize } from '../../../../supervisor/regex/program-size.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';

/** Patterns with Envoy's own words about them. */
const refused: readonly [pattern: string, error: string][] = [
  ['a(', 'missing ): a('],
  ['a)', 'unexpected ): a)'],
  ['[', 'missing ]: ['],
  ['[a', 'missing ]: [a'],
  ['[b-a]', 'invalid character class range: b-a'],
  ['*a', 'no argument for repetition operator: *'],
  ['a**', 'bad repetition operator: **'],
  ['a{2}{3}', 'bad repetition operator: {2}{3}'],
  ['a{1001}', 'invalid repetition size: {1001}'],
  ['a{2,1}', 'invalid repetition size: {2,1}'],
  ['(?P=n)', 'invalid perl operator: (?P'],
  ['(?=a)', 'invalid perl operator: (?='],
  ['(?!a)', 'invalid perl operator: (?!'],
  ['(?<=a)', 'invalid perl operator: (?<='],
  ['\\1', 'invalid escape sequence: \\1'],
  ['\\8', 'invalid escape sequence: \\8'],
  ['\\Z', 'invalid escape sequence: \\Z'],
  ['\\p{Foo}', 'invalid character class range: \\p{Foo}'],
  ['[[:foo:]]', 'invalid character class range: [:foo:]'],
  ['[a-\\d]', 'invalid escape sequence: \\d'],
  ['\\x{10FFFF}', 'invalid escape sequence: \\x{10F'],
  ['\\x{110000}', 'invalid escape sequence: \\x{110'],
  ['\\xZZ', 'invalid escape sequence: \\xZZ'],
  ['\\x4', 'invalid escape sequence: \\x4'],
  ['\\q', 'invalid escape sequence: \\q'],
  ['(?z)a', 'invalid perl operator: (?z'],
  ['(?', 'invalid perl operator: (?'],
  ['(?i', 'invalid perl operator: (?i'],
  ['(?:', 'missing ): (?:'],
  ['a|*', 'no argument for repetition operator: *'],
  ['[]', 'missing ]: []'],
  ['(a{500}){500}', 'invalid repetition size: {500}'],
  ['((a{100}){100}){100}', 'invalid repetition size: {100}'],
  [
    '(?:a{1000})',
    "regex '(?:a{1000})' RE2 program size of 1004 > max program size of 100 set for the error level threshold. Increase configured max program size if necessary.",
  ],
  [
    '\\d{1,500}',
    "regex '\\d{1,500}' RE2 program size of 1003 > max program size of 100 set for the error level threshold. Increase configured max program size if necessary.",
  ],
  [
    '.{1000}',
    "regex '.{1000}' RE2 program size of 2004 > max program size of 100 set for the error level threshold. Increase configured max program size if necessary.",
  ],
  ['a++', 'bad repetition operator: ++'],
  ['a?+', 'bad repetition operator: ?+'],
  ['a{2}+', 'bad repetition operator: {2}+'],
  ['a*?*', 'bad repetition operator: *?*'],
  ['\\é', 'invalid escape sequence: \\Ã'],
  ['[\\é]', 'invalid escape sequence: \\Ã'],
  ['(?P<é>a)', 'invalid named capture group: (?P<Ã©>'],
  ['(?-)a', 'invalid perl operator: (?-)'],
  ['(?i-)a', 'invalid perl operator: (?i-)'],
  ['(?--i)a', 'invalid perl operator: (?--'],
  ['\\h', 'invalid escape sequence: \\h'],
  ['\\R', 'invalid escape sequence: \\R'],
  ['\\X', 'invalid escape sequence: \\X'],
  ['\\K', 'invalid escape sequence: \\K'],
  ['\\G', 'invalid escape sequence: \\G'],
  ['\\k<n>', 'invalid escape sequence: \\k'],
  ['(?#c)', 'invalid perl operator: (?#'],
  ['(?>a)', 'invalid perl operator: (?>'],
  ['(?|a)', 'invalid perl operator: (?|'],
  ["(?'n'a)", "invalid perl operator: (?'"],
  ['\\e', 'invalid escape sequence: \\e'],
  ['\\cA', 'invalid escape sequence: \\c'],
  ['\\u0041', 'invalid escape sequence: \\u'],
  ['[\\Q]\\E]', 'invalid escape sequence: \\Q'],
  ['[\\b]', 'invalid escape sequence: \\b'],
  ['[\\B]', 'invalid escape sequence: \\B'],
  ['[\\z]', 'invalid escape sequence: \\z'],
  ['(?P<n', 'invalid named capture group: (?P<n'],
  ['(?P<n>', 'missing ): (?P<n>'],
  ['(?P', 'invalid perl operator: (?P'],
  ['(?P>n)', 'invalid perl operator: (?P'],
  ['(?<', 'invalid perl operator: (?<'],
  ['\\x{}', 'invalid escape sequence: \\x{}'],
  ['\\x{zz', 'invalid escape sequence: \\x{z'],
  ['\\p', 'invalid character class range: \\p'],
  ['\\p{', 'invalid character class range: \\p{'],
  ['\\p{L', 'invalid character class range: \\p{L'],
  ['{2}', 'no argument for repetition operator: {2}'],
  ['a|{2}', 'no argument for repetition operator: {2}'],
  ['({2})', 'no argument for repetition operator: {2}'],
];

const accepted: readonly string[] = [
  'a{,2}',
  '(?P<n>a)',
  '(?<n>a)',
  '(?P<n>a)(?P<n>b)',
  '(?P<1n>a)',
  '\\01',
  '\\C',
  '\\z',
  '\\A',
  '\\Q.\\E',
  '\\Qab',
  '\\pN',
  '\\p{Greek}',
  '\\pZ',
  '\\P{^L}',
  '[[:alpha:]]',
  '[[:^alpha:]]',
  '[\\d-z]',
  'a\\\\',
  '\\_',
  '(?i)a',
  '(?i:a)',
  '(?s-i)a',
  '(?U)a*',
  '(?m)^a$',
  '|',
  '()',
  'x{2',
  'x{',
  '[]a]',
  '[^]a]',
  '[a-]',
  '[-a]',
  '[--a]',
  '(((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))',
  '\\b\\B\\w\\W\\s\\S\\d\\D\\a\\f\\t\\n\\r\\v',
  '\\ ',
  '^*',
  '$+',
  '\\b*',
  '(?i)(?-i)(?i)',
  '\\_',
  'é',
  '[[.a.]]',
  '[[=a=]]',
  'a{,}',
  '\\Aa\\z',
  '[a&&b]',
  '\\0',
  '\\07',
  '\\018',
  '[\\w-z]',
  '[\\pL]',
  '[\\p{^Greek}]',
  'x{2}{',
  'x{2,}y{2,3}?',
];

/** As Envoy states it when the limit is 0. */
const sizes: readonly [pattern: string, size: number][] = [
  ['a', 5],
  ['(.)', 8],
  ['(/)', 7],
  ['.', 6],
  ['(((?:\\d|^|x))|\\w)a', 15],
  ['(?:[aA]|(?:\\b[^/]a){2}|(?:^){2})', 14],
  ['(?:(?:.)+(?:$){2})??(?:[aA])+?ab(?i)a', 15],
  ['(?:é|\\w|ab)', 11],
  ['(?:\\b|b|é)', 8],
  ['([aA])', 7],
  ['(?:b(?:.)?((^|^))){2}', 22],
  ['^', 2],
  ['$', 4],
  ['(((\\w)kabc|(\\b)(\\b)))', 23],
  ['é', 6],
  ['(?:[aA]|(?:(?:$\\w)??)?|[aA](^(?i)a))', 15],
  ['\\d', 5],
  ['((?:(?:[aA]){2,}k){2,})', 15],
  ['((((abc)|é)))', 17],
  ['k', 5],
  ['(k/(\\b|a))\\d', 13],
  ['\\b$', 5],
  ['b', 5],
  ['(?:(?:é)??)+?', 6],
  ['\\b', 5],
  ['(?:[^/])?', 7],
  ['(?:\\b){2,}', 6],
  ['(((x)))é', 13],
  ['(?:(?:[aA]|(?:b)*$|((^|\\b)|(\\b)))){1,3}', 45],
  ['(?:x|((?://)+)|(k|(?:abc){1,3}))', 24],
  ['(^)', 4],
  ['\\b', 5],
  ['(\\d(?i)a)é', 10],
  ['ab((?:[a-c]$){1,3}|a)', 17],
  ['(($|$)|(?i)ak)', 11],
  ['x', 5],
  ['((?:(?:\\b)*?)?(?:\\d[aA]){1,3})', 19],
  ['(?:^(b))*?(?:b.)*', 12],
  ['((^$|x))(((é))|[^/])', 21],
  ['(?:(?:(([aA])|b))*){2,}', 17],
];

describe('a regular expression', () => {
  for (const [pattern, error] of refused) {
    it(`is refused in Envoy's words: ${pattern}`, () => {
      const result = compileRegex(pattern, { use: 'match', maxProgramSize: 100 });
      assert.deepEqual(result, { ok: false, error });
    });
  }
  for (const pattern of accepted) {
    it(`is accepted as by Envoy: ${pattern}`, () => {
      const result = compileRegex(pattern, { use: 'match', maxProgramSize: 100 });
      assert.equal(result.ok, true);
    });
  }
  for (const [pattern, size] of sizes) {
    it(`has Envoy's program size ${size}: ${pattern}`, () => {
      assert.equal(programSize(parseRegex(toByteString(pattern)).root), size);
    });
  }
  it('names the limit of its own message apart from that of the runtime', () => {
    const options = { use: 'match', maxProgramSize: 3, isOwnLimit: true } as const;
    assert.deepEqual(compileRegex('abc', options), {
      ok: false,
      error:
        "regex 'abc' RE2 program size of 7 > max program size of 3. Increase configured max program size if necessary.",
    });
  });
});
