import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { backtrackingBounds } from '../../../../supervisor/regex/backtracking.ts';
import { STEP_LIMIT } from '../../../../supervisor/regex/compile-regex.ts';
import { valueAt } from '../../../../supervisor/regex/growth.ts';
import { parseRegex } from '../../../../supervisor/regex/parse.ts';
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import { attackParameters } from '../../../support/attack.ts';
import { BacktrackingCounter } from '../../../support/parts/backtracking-counter.ts';
import {
  compiled,
  generatedPattern,
  SLOW_PATTERNS,
} from '../../../support/parts/regex-patterns.ts';

const WAYS = ['whole', 'part', 'every'] as const;

/** Fails when counting takes more steps than the bound says. */
function checkBounds(pattern: string, text: string): void {
  const { root } = parseRegex(toByteString(pattern));
  for (const oneLine of [false, true]) {
    if (oneLine && text.includes('\n')) continue;
    const bounds = backtrackingBounds(root, { oneLine });
    for (const way of WAYS) {
      const bound = valueAt(bounds[way], text.length + 1);
      // V8 is never asked for so much.
      if (!(bound <= 2 * STEP_LIMIT)) continue;
      const counter = new BacktrackingCounter(root, text, bound);
      try {
        counter[way]();
      } catch {
        assert.fail(
          `${way} of ${pattern} takes more than ${bound} steps on ${JSON.stringify(text)}`,
        );
      }
    }
  }
}

const ANY = Number.MAX_SAFE_INTEGER;

/** Who runs what, for asking of the whole text and of a part (or all matches, of replacements). */
const table: readonly [string, 'match' | 'replace', [number, number], [number, number]][] = [
  ['.*', 'match', [ANY, ANY], [ANY, ANY]],
  ['/api/v[0-9]+/.*', 'match', [ANY, ANY], [70, 70]],
  ['/users/([^/]+)/items/[0-9]+', 'match', [ANY, ANY], [59, 59]],
  ['^/service/([^/]+)(/.*)$', 'replace', [ANY, ANY], [ANY, ANY]],
  ['(?s).*/items/.*', 'match', [ANY, ANY], [40, 40]],
  ['.*/items/.*', 'match', [69, ANY], [40, 40]],
  ['.*(a|b).*c', 'match', [60, 60], [-1, -1]],
  ['(/[^/]+)*', 'match', [202, 202], [-1, -1]],
  ['^(a+)+$', 'match', [-1, -1], [-1, -1]],
  ['(?m)^a$', 'match', [-1, -1], [-1, -1]],
  ['(a|aa)+', 'match', [-1, -1], [-1, -1]],
  ['(a|a?)+', 'match', [-1, -1], [-1, -1]],
  ['(?:(a)|b)*', 'replace', [-1, -1], [-1, -1]],
];

describe('the texts for which V8 is sure to be fast', () => {
  for (const [pattern, use, whole, part] of table) {
    it(`are those of a proved length for ${pattern}`, () => {
      const regex = compiled(pattern, use);
      assert.deepEqual([regex.whole.anyText, regex.whole.oneLine], whole);
      assert.deepEqual([regex.part.anyText, regex.part.oneLine], part);
    });
  }
});

/** Texts that repeat something short are the ones that make patterns slow. */
const repeating = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('a', 'b', 'A', '\n', '/', ' '), maxLength: 3 }),
    fc.string({ unit: fc.constantFrom('a', 'b', '/', '\n'), minLength: 1, maxLength: 3 }),
    fc.nat(20),
    fc.string({ unit: fc.constantFrom('a', 'b', '\n', '!'), maxLength: 2 }),
  )
  .map(([head, unit, count, tail]) => head + unit.repeat(count) + tail);

describe('the bound of a backtracking engine', () => {
  it('holds for every pattern and text', () => {
    fc.assert(fc.property(generatedPattern, repeating, checkBounds), {
      ...attackParameters(4000, 400_000),
    });
  });
  it('holds for sequences of classes and loops, where most choices are decided', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '/',
      '[^/]+',
      '[^/]*',
      '([^/]+)',
      'a*',
      'b+',
      '(?:/a)*',
      '(?:/[^/]+)+',
      '.*',
      '(.*)',
      '(?:a|b)',
      '(?:a|ab)',
      '(?:a[^b]*b|c)?',
      '(?s:.*)',
      '[ab]{2,4}',
      '.*?',
      '$',
      '^',
      '(?:a|)',
    );
    const sequence = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(fc.property(sequence, repeating, checkBounds), {
      ...attackParameters(6000, 600_000),
    });
  });
  for (const [pattern, seed, tail] of SLOW_PATTERNS) {
    it(`holds for ${pattern}`, () => {
      for (const count of [1, 10, 60]) checkBounds(pattern, seed.repeat(count) + tail);
    });
  }
});
