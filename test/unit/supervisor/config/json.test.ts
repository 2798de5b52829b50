import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../../../../supervisor/config/source/json-source.ts';
import type { SourceNode } from '../../../../supervisor/config/source/source-node.ts';

function valueOf(node: SourceNode | undefined): unknown {
  if (node === undefined) {
    return undefined;
  }
  switch (node.kind) {
    case 'map':
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, valueOf(value)]));
    case 'list':
      return node.items.map(valueOf);
    case 'number':
      return Number(node.value);
    default:
      return node.value;
  }
}

describe('JSON', () => {
  it('reads whatever JSON.stringify writes', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 5 }),
        fc.integer({ min: 0, max: 3 }),
        (value, indent) => {
          const parsed = parseJson(JSON.stringify(value, undefined, indent));
          assert.deepEqual(parsed.problems, []);
          assert.deepEqual(JSON.stringify(valueOf(parsed.root)), JSON.stringify(value));
        },
      ),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'{}[]",:\'\\u0019-+.eE tfn\n'.split('')) }),
        (text) => {
          const { root, problems } = parseJson(text);
          assert.equal(
            root === undefined,
            problems.some((problem) => problem.rule !== 'duplicate_key'),
          );
        },
      ),
    );
  });

  const accepted: [text: string, value: unknown][] = [
    ["{'a': 'b'}", { a: 'b' }],
    ['{a: 1}', { a: 1 }],
    ['{"a": [1, 2,],}', { a: [1, 2] }],
    ['{"a": "x\ty\nz"}', { a: 'x\ty\nz' }],
    ['{"a": "\\u0041\\ud83d\\ude00\\/"}', { a: 'A😀/' }],
    ['{"a": -1.5e-3}', { a: -0.0015 }],
  ];
  for (const [text, value] of accepted) {
    it(`accepts ${JSON.stringify(text)}`, () => {
      assert.deepEqual(valueOf(parseJson(text).root), value);
    });
  }

  const refused: [text: string, message: string, offset: number][] = [
    ['', 'unexpected EOF', 0],
    ['{"admin": ', 'unexpected EOF', 10],
    ['{} x', 'extraneous characters after end of JSON object', 3],
    ['// c\n{}', "unexpected character: '/'", 0],
    ['{"a": "\\x41"}', "invalid escape char: 'x'", 8],
    ['{"a": "\\u00g1"}', 'invalid Unicode escape', 8],
    ['{"a": "\\ud800"}', 'invalid Unicode escape: half of a surrogate pair', 8],
    ['{"a": True}', "unexpected character: 'T'", 6],
    ['{"a": 007}', 'number cannot have extraneous leading zero', 6],
    ['{"a": 5.}', 'number cannot have trailing period', 6],
    ['{"a": 1e}', "invalid number: '1e'", 6],
    ['{"a": 1e400}', "invalid number: '1e400'", 6],
    ['{"a": .5}', "unexpected character: '.'", 6],
    ['{"a" 5}', "unexpected character: '5'; expected ':'", 5],
    ['\ufeff{}', "unexpected character: '\ufeff'", 0],
  ];
  for (const [text, message, offset] of refused) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      const { root, problems } = parseJson(text);
      assert.equal(root, undefined);
      assert.deepEqual(
        problems.map((problem) => [problem.message, problem.offset]),
        [[message, offset]],
      );
    });
  }

  it('reports a duplicate key and keeps both values', () => {
    const { root, problems } = parseJson('{"a": 1, "a": 2}');
    assert.deepEqual(
      root?.kind === 'map' && root.entries.map(({ value }) => valueOf(value)),
      [1, 2],
    );
    assert.deepEqual(
      problems.map((problem) => [problem.message, problem.offset]),
      [["duplicate key 'a'", 9]],
    );
  });

  it('refuses nesting without end', () => {
    assert.match(parseJson('['.repeat(100_000)).problems[0]?.message ?? '', /nested too deeply/);
  });
});
