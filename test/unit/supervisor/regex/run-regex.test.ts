import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compileRegex, type RegexOptions } from '../../../../supervisor/regex/compile-regex.ts';
import { makeRegexRunner, type RegexRunner } from '../../../../shared/regex/run-regex.ts';

function runner(pattern: string, use: RegexOptions['use'] = 'match'): RegexRunner {
  const result = compileRegex(pattern, { use });
  assert.ok(result.ok, pattern);
  return makeRegexRunner(result.regex);
}

const matches: readonly [pattern: string, text: string, matches: boolean][] = [
  ['a', 'a', true],
  ['a', 'ab', false],
  ['a|ab', 'ab', true],
  ['a$', 'a\n', false],
  ['a.c', 'a\nc', false],
  ['(?s)a.c', 'a\nc', true],
  ['a.c', 'a\u2028c', true],
  ['[^a]', '\n', true],
  ['\\s', '\v', false],
  ['\\s', '\u00a0', false],
  ['[[:space:]]', '\v', true],
  ['(?i)k', '\u212a', false],
  ['(?i)[^k]', 'K', false],
  ['(?i:a)b', 'Ab', true],
  ['(?i:a)b', 'AB', false],
  ['(?P<name>a)b', 'ab', true],
  ['\\Aa\\z', 'a', true],
  ['\\Qa.b\\E', 'a.b', true],
  ['\\Qa.b\\E', 'axb', false],
  ['(?m)^a$', 'a', true],
  ['a{17,20}', 'a'.repeat(16), false],
  ['a{17,20}', 'a'.repeat(17), true],
  ['a{17,20}', 'a'.repeat(20), true],
  ['a{17,20}', 'a'.repeat(21), false],
  ['a{20,}', 'a'.repeat(50), true],
  ['é', Buffer.from('é').toString('latin1'), true],
  ['..', Buffer.from('é').toString('latin1'), true],
];

const replacements: readonly [string, string, string, string][] = [
  ['^/service/([^/]+)(/.*)$', '/service/foo/v1/api', '\\2/instance/\\1', '/v1/api/instance/foo'],
  ['one', '/xxx/one/yyy/one/zzz', 'two', '/xxx/two/yyy/two/zzz'],
  ['(?i)/xxx/', '/aaa/XxX/bbb', '/yyy/', '/aaa/yyy/bbb'],
  ['a*', 'baaac', '-', '-b-c-'],
  ['(?:(a)|b)*', 'ab', '[\\1]', '[a]'],
  ['x', 'axb', '\\\\', 'a\\b'],
  ['(a)|b', 'b', '<\\1>', '<>'],
  ['a', 'a', '\\2', 'a'],
  ['a', 'ba', '<\\x>', 'b<'],
  ['a', 'ba', '<\\', 'b<'],
];

describe('running a regular expression', () => {
  for (const [pattern, text, expected] of matches) {
    it(`${expected ? 'matches' : 'does not match'} ${JSON.stringify(text)} by ${pattern}`, () => {
      assert.equal(runner(pattern).test(text), expected);
    });
  }
  for (const [pattern, text, substitution, expected] of replacements) {
    it(`replaces ${pattern} in ${text} by ${substitution}`, () => {
      assert.equal(runner(pattern, 'replace').replaceAll(text, substitution), expected);
    });
  }
  it('searches parts of a text', () => {
    assert.equal(runner('b+').search('abbc'), true);
    assert.equal(runner('^b').search('ab'), false);
  });
  it('stays fast on a text made to backtrack', () => {
    const slow = runner('^(a|a)*$');
    const started = performance.now();
    assert.equal(slow.test(`${'a'.repeat(3000)}!`), false);
    // An engine that backtracks would not end in this life.
    assert.ok(performance.now() - started < 10_000);
  });
});

/** Patterns over a small alphabet, so that random texts match often. */
const atom = fc.constantFrom('a', 'b', 'ab', '.', '[ab]', '[^a]', '\\w', '(?i:a)', '\\b', '^', '$');
const pattern = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    atom,
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => a + b),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(?:${a}|${b})`),
    tie('tree').map((a) => `(${a})`),
    fc
      .tuple(tie('tree'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{0,3}', '{1,}'))
      .map(([a, quantifier]) => `(?:${a})${quantifier}`),
  ),
})).tree;
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '\n', ' '), maxLength: 8 });

describe('a translated pattern', () => {
  it('matches and finds what re2js matches and finds', () => {
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        const ours = runner(source);
        const theirs = RE2JS.compile(source);
        assert.equal(ours.test(input), theirs.matches(input));
        assert.equal(ours.search(input), theirs.matcher(input).find());
      }),
      { numRuns: 2000 },
    );
  });
  it('captures what re2js captures', () => {
    fc.assert(
      fc.property(pattern, text, (source, input) => {
        const theirs = RE2JS.compile(`(?:${source})(?:$)`).matcher(input);
        if (!theirs.find()) return;
        const expected = Array.from(
          { length: theirs.groupCount() },
          (_, n) => theirs.group(n + 1) ?? '',
        );
        const substitution = expected.map((_, n) => (n < 9 ? `<\\${n + 1}>` : '')).join('');
        const shown = expected.map((group, n) => (n < 9 ? `<${group}>` : '')).join('');
        const prefix = input.slice(0, theirs.start());
        const replaced = runner(`(?:${source})(?:$)`, 'replace').replaceAll(input, substitution);
        assert.ok(
          replaced.startsWith(prefix + shown),
          `${source} on ${JSON.stringify(input)}: ${replaced}`,
        );
      }),
      { numRuns: 1000 },
    );
  });
});
