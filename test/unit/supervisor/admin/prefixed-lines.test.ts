/** Lines as bytes that are written again for each prefix, against lines that are joined. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LinesRoom, PrefixedLines } from '../../../../supervisor/admin/endpoints/prefixed-lines.ts';

const line = fc.string({ unit: fc.constantFrom('a', ':', '0', '\n', 'é', '€', '😀') });
// Mostly of the same few lengths, so that bytes of earlier prefixes are there to be left behind.
const prefix = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 3 }),
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\0', '\u007f', '\u0080'), maxLength: 4 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 254, maxLength: 258 }),
);

test('lines with any prefix after any other are those with that prefix', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(prefix), (lines, prefixes) => {
      const prefixed = new PrefixedLines(lines, new LinesRoom());
      for (const one of prefixes) {
        const expected = lines.map((text) => one + text).join('');
        assert.equal(String(prefixed.withPrefix(one)), expected);
      }
    }),
  );
});

test('a page keeps a limited number of bytes, however many lengths its prefixes have', () => {
  const room = new LinesRoom();
  const long = 'x'.repeat(100_000);
  let kept = 0;
  for (let length = 0; length < 60; length++) {
    const lines = new PrefixedLines([`${long}\n`], room);
    const piece = lines.withPrefix('p'.repeat(length));
    if (typeof piece !== 'string') kept += piece.length;
    assert.equal(String(piece), `${'p'.repeat(length)}${long}\n`);
  }
  assert.ok(kept > 1_000_000 && kept <= 2 * 1024 * 1024, `${kept} bytes are kept`);
});
