import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { memoryHeld, PROCESS_BYTES } from '../../../../shared/regex/linear/memory.ts';
import { makeRegexRunner } from '../../../../shared/regex/run-regex.ts';
import { attackParameters, attackRandom } from '../../../support/attack.ts';
import {
  compiled,
  generatedPattern,
  generatedText,
  linearOf,
  RE2_BENCHMARKS,
  SLOW_PATTERNS,
  USUAL_PATTERNS,
} from '../../../support/parts/regex-patterns.ts';

/** All matches with their groups, as RE2's replacement finds them. */
function matchesByRe2(pattern: string, text: string): number[][] {
  const matcher = RE2JS.compile(pattern).matcher(text);
  const matches: number[][] = [];
  let lastEnd = -1;
  while (matcher.find()) {
    if (matcher.start() === matcher.end() && matcher.start() === lastEnd) continue;
    lastEnd = matcher.end();
    matches.push(
      Array.from({ length: matcher.groupCount() + 1 }, (_, group) => [
        matcher.start(group),
        matcher.end(group),
      ]).flat(),
    );
  }
  return matches;
}

/** re2js has no name for one byte. */
const forRe2 = (pattern: string): string => pattern.replaceAll('\\C', '(?s:.)');

function checkAgainstRe2(pattern: string, text: string, dfaBytes?: number): void {
  const ours = linearOf(pattern, dfaBytes);
  const theirs = RE2JS.compile(forRe2(pattern));
  assert.equal(ours.test(text), theirs.matches(text), 'whole');
  assert.equal(ours.search(text), theirs.matcher(text).find(), 'part');
  const matches: number[][] = [];
  ours.eachMatch(text, (slots) => matches.push([...slots]));
  assert.deepEqual(matches, matchesByRe2(forRe2(pattern), text));
}

/** Less than three states: tables are forgotten, or not used, all the time. */
const TINY = 1000;

describe('the linear engine', () => {
  it('matches, finds and captures what RE2 does', () => {
    fc.assert(
      fc.property(generatedPattern, generatedText, (pattern, text) => {
        checkAgainstRe2(pattern, text);
      }),
      attackParameters(4000, 400_000),
    );
  });
  it('does so without memory for its tables', () => {
    fc.assert(
      fc.property(generatedPattern, generatedText, (pattern, text) => {
        checkAgainstRe2(pattern, text.repeat(4), TINY);
      }),
      attackParameters(1500, 150_000),
    );
  });
  it('does so in texts long enough to skip what no match begins with', () => {
    const literal = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 9 });
    const piece = fc.oneof(
      fc.tuple(fc.constantFrom('x', 'a', 'b', '\n', 'ab'), fc.nat(700)),
      fc.tuple(generatedText, fc.constant(1)),
      fc.tuple(literal, fc.nat(3)),
    );
    const text = fc
      .array(piece, { minLength: 1, maxLength: 8 })
      .map((pieces) => pieces.map(([unit, count]) => unit.repeat(count)).join(''));
    fc.assert(
      fc.property(literal, generatedPattern, literal, text, (begin, middle, end, given) => {
        const found = [given, `${given}${begin}${begin}${end}`, `${begin}${end}${given}`][
          given.length % 3
        ]!;
        for (const pattern of [`${begin}(?:${middle})${end}`, `${begin}${end}`, `[^a]*${end}`]) {
          checkAgainstRe2(pattern, found);
          checkAgainstRe2(pattern, found, TINY);
        }
      }),
      attackParameters(150, 100_000),
    );
  });
  for (const [pattern, seed, tail] of SLOW_PATTERNS) {
    it(`does what RE2 does on texts that make ${pattern} slow`, () => {
      for (const count of [0, 1, 7, 40]) checkAgainstRe2(pattern, seed.repeat(count) + tail);
      checkAgainstRe2(pattern, seed.repeat(20) + tail, TINY);
    });
  }
  it('does what RE2 does on texts of several blocks', () => {
    const long = `${'/a'.repeat(3000)}\n${'/b'.repeat(3000)}!`;
    for (const pattern of [
      '/[ab]+',
      '(?:(/a)|(/b))*!',
      '(/a)(/a)',
      '\\b',
      'b!$',
      '(?s).*(a)\n.*',
    ]) {
      checkAgainstRe2(pattern, long);
    }
  });
  it('keeps the tables of all patterns within the limit of the process', () => {
    const random = attackRandom();
    const letters = (): string =>
      Array.from({ length: 4000 }, () => (random() < 0.5 ? 'a' : 'b')).join('');
    for (let pattern = 0; pattern < 30; pattern++) {
      const matcher = linearOf(`(?:a|b)*a(?:a|b){14}c{${pattern}}x`);
      for (let text = 0; text < 3; text++) assert.equal(matcher.search(letters()), false);
      assert.ok(memoryHeld() <= PROCESS_BYTES);
    }
    assert.ok(memoryHeld() > PROCESS_BYTES / 4, 'the patterns did not fill the tables');
  });
  it('takes alternations of a thousand words and counts of a thousand', () => {
    const words = Array.from({ length: 1000 }, (_, index) => `w${(index * 7919).toString(36)}`);
    const matcher = linearOf(`/(?:(${words.join('|')}))/end`);
    for (const word of words) assert.equal(matcher.test(`/${word}/end`), true);
    assert.equal(matcher.test('/none/end'), false);
    const counted = linearOf('(?:[^/]{1,1000})(x)');
    assert.equal(counted.test(`${'x'.repeat(1000)}x`), true);
    assert.equal(counted.test(`${'x'.repeat(1001)}x`), false);
  });
});

describe('a runner', () => {
  it('answers alike by either engine', () => {
    const patterns = [...USUAL_PATTERNS, ...RE2_BENCHMARKS.map(([, pattern]) => pattern)];
    const texts = fc.oneof(generatedText, fc.constantFrom('/service/a/b', 'http.1.rq', 'a.b.c'));
    fc.assert(
      fc.property(fc.constantFrom(...patterns), texts, (pattern, text) => {
        const regex = compiled(pattern, 'replace');
        const runner = makeRegexRunner(regex);
        const linear = linearOf(pattern);
        assert.equal(runner.test(text), linear.test(text));
        assert.equal(runner.search(text), linear.search(text));
        const parts: string[] = [];
        let end = 0;
        linear.eachMatch(text, (slots) => {
          const [from = 0, to = 0] = slots;
          parts.push(text.slice(end, from), `<${text.slice(from, to)}>`);
          end = to;
        });
        assert.equal(runner.replaceAll(text, '<\\0>'), parts.join('') + text.slice(end));
      }),
      attackParameters(1500, 150_000),
    );
  });
  it('never gives a text to V8 that could make it slow', () => {
    for (const [pattern, seed, tail] of SLOW_PATTERNS) {
      for (const use of ['match', 'replace'] as const) {
        const regex = compiled(pattern, use);
        const { length } = seed.repeat(59_000 / seed.length) + tail;
        const isProved = regex.whole.anyText >= length && regex.part.anyText >= length;
        assert.ok(isProved || regex.program !== '', `${pattern} has no program`);
      }
    }
  });
});
