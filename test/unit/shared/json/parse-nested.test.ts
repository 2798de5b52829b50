import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'node:test';
import { parseNested } from '../../../../shared/json/parse-nested.ts';

const PADDING = ' '.repeat(1001);

test('what is not nested deeply is read as the runtime reads it', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.deepEqual(parseNested(text + PADDING), JSON.parse(text));
    }),
  );
});

test('brackets count outside of strings, 500 at most', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok(parseNested(nested(500) + PADDING));
  assert.throws(() => parseNested(nested(501)), SyntaxError);
  assert.throws(() => parseNested('{"a":'.repeat(501)), /more than 500 levels/);
  const text = JSON.stringify(`\\"${'['.repeat(600)}\\`);
  assert.equal(parseNested(text), JSON.parse(text));
  assert.throws(() => parseNested(`"${'['.repeat(1200)}`), SyntaxError);
  const many = `[${'[1],'.repeat(2000)}1]`;
  assert.deepEqual(parseNested(many), JSON.parse(many));
});
