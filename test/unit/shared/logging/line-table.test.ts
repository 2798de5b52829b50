import assert from 'node:assert/strict';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import {
  encodeLineTable,
  LineTable,
  type LineEntry,
} from '../../../../shared/logging/line-table.ts';
import { makeScratch } from '../../../support/scratch.ts';

describe('a line table', () => {
  it('names the last line that begins at or before a place', () => {
    using scratch = makeScratch();
    const path = scratch.file('table');
    const place = fc.nat(2 ** 32 - 1);
    const entry = fc.record({ step: fc.integer({ min: 1, max: 100_000 }), place });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 300 }), fc.nat(), (steps, first) => {
        let offset = first % 1000;
        const entries = steps.map(({ step, place }): LineEntry => ({
          offset: (offset += step),
          place,
        }));
        writeFileSync(path, encodeLineTable(entries));
        const fd = openSync(path, 'r');
        const table = new LineTable(fd);
        const ends = entries.flatMap((entry) => [entry.offset - 1, entry.offset]);
        for (const position of [0, ...ends, offset + 1]) {
          const expected = entries.findLast((entry) => entry.offset <= position)?.place;
          assert.equal(table.placeAt(position), expected);
        }
        closeSync(fd);
      }),
      { numRuns: 40 },
    );
  });

  it('takes less than three bytes for a line', () => {
    const entries = Array.from({ length: 10_000 }, (_, at) => ({ offset: at * 30, place: at }));
    assert.ok(encodeLineTable(entries).length < 30_000);
  });

  it('names nothing where the file is empty', () => {
    using scratch = makeScratch();
    writeFileSync(scratch.file('table'), '');
    const fd = openSync(scratch.file('table'), 'r');
    assert.equal(new LineTable(fd).placeAt(5), undefined);
    closeSync(fd);
  });
});
