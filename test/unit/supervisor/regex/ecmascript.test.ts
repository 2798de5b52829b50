import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeRegexRunner } from '../../../../shared/regex/run-regex.ts';
import { compileEcmaScript } from '../../../../supervisor/regex/ecmascript.ts';
import { attackParameters } from '../../../support/attack.ts';

const ATOMS: readonly string[] =
  'a b _ \\. . [ab] [^a.] [\\w-] \\d \\W ^ $ \\b (?=a) \\1 [^] \\x61 \\v [[:alpha:]] { é \\Qa\\E (?<n>a)'.split(
    ' ',
  );

/** Expressions of both kinds: those that are the same in RE2, and those that are not. */
const pattern = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('tree'), tie('tree')).map((both) => both.join('')),
    fc.tuple(tie('tree'), tie('tree')).map((both) => both.join('|')),
    tie('tree').map((tree) => `(${tree})`),
    tie('tree').map((tree) => `(?:${tree})`),
    fc
      .tuple(tie('tree'), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{0,}?'))
      .map((both) => both.join('')),
  ),
})).tree;

const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '_', '0', 'é'), maxLength: 12 });

function inV8(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'd');
  } catch {
    return undefined;
  }
}

/** What is matched byte by byte in one engine is matched by UTF-16 in the other. */
const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

test('an expression that is the same in RE2 finds what V8 finds', () => {
  let same = 0;
  fc.assert(
    fc.property(pattern, name, (source, text) => {
      const v8 = inV8(source);
      if (v8 === undefined || !isAscii(text)) return;
      const found = compileEcmaScript(source, 'match');
      if (found !== undefined) assert.equal(makeRegexRunner(found).search(text), v8.test(text));
      const placed = compileEcmaScript(source, 'replace');
      if (placed === undefined) return;
      same += 1;
      const theirs = v8.exec(text)?.indices?.map((place?: number[]) => place ?? [-1, -1]);
      assert.deepEqual(makeRegexRunner(placed).groups(text), theirs?.flat());
      // The linear engine, which long texts go to, sees the same.
      const linear = makeRegexRunner({ ...placed, part: { anyText: -1, oneLine: -1 } });
      if (placed.program !== '') assert.deepEqual(linear.groups(text), theirs?.flat());
    }),
    attackParameters(4500, 400_000),
  );
  assert.ok(same > 400, `${same} were compared`);
});

test('what RE2 does not know or reads otherwise is not taken', () => {
  const others = ['(?=a)b', '(a)\\1', '(?<n>a)', '[^]', '[]', '\\s', '\\v', '\\Qa\\E', '\\pN', 'é'];
  for (const source of [...others, '[[:alpha:]]', 'a{', '(', 'a)', '\\']) {
    assert.equal(compileEcmaScript(source, 'match'), undefined, source);
  }
  assert.equal(compileEcmaScript('(?:(a)|b)*', 'replace'), undefined);
  assert.notEqual(compileEcmaScript('(?:(a)|b)*', 'match'), undefined);
});
