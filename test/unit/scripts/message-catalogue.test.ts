/** The reader of calls behind docs/messages.md. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { argumentsAt, callsOf, textsOf } from '../../../scripts/pages/source-calls.ts';

test('an expression has the texts that it may say', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["'plain'", ['plain']],
    ["`a ${b ? `c ${d}` : '}'} e`", ['a … e']],
    ["'one ' +\n  'two'", ['one two']],
    ["`one ${x}` + rest(y, ')') + 'two'", ['one …two']],
    ["x === undefined ? 'none' : `some ${x}`", ['none', 'some …']],
    ["a?.b ?? 'c'", ['…c']],
    ["'it\\'s'", ["it's"]],
  ];
  for (const [expression, texts] of cases) assert.deepEqual(textsOf(expression), texts, expression);
});

test('arguments are told apart whatever brackets, texts and comments they have', () => {
  const text =
    "scope.error('conflict', `a, ${f(1, [2, ',)'])}`, // no, not this\n  { x: (1, 2) });";
  const source = { path: 'x.ts', text };
  const [call] = [...callsOf(source, /\.error(?=\()/g)];
  assert.deepEqual(call?.args, ["'conflict'", "`a, ${f(1, [2, ',)'])}`", '{ x: (1, 2) }']);
  assert.deepEqual(argumentsAt('()', 0), []);
});
