import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { KeptNames } from '../../../../supervisor/dns/kept-names.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { waitUntil } from '../../../support/wait.ts';

const FIRST = { address: '10.0.0.1', ttlS: 30 };
const SECOND = { address: '::1', ttlS: 7 };

describe('names that are kept in a file', () => {
  it('are there for the next start, the oldest one gone for one too many', async () => {
    using scratch = makeScratch();
    const path = scratch.file('names');
    const settings = { path, flushMs: 60_000, maxEntries: 2 };
    const names = new KeptNames(settings, systemClock);
    assert.deepEqual(names.load(), []);
    names.put('old.test:80', 80, [FIRST]);
    names.put('a.test:80', 80, [FIRST]);
    names.put('b.test:443', 443, [FIRST, SECOND]);
    names.close();
    await waitUntil('a change of the file', () => readOr(path).includes('b.test'));
    assert.match(readOr(path), /^9\na\.test:80\d+\n10\.0\.0\.1:80\|30\|\d+10\nb\.test:443\d+\n/);
    const later = new KeptNames(settings, systemClock);
    assert.deepEqual(later.load(), [
      { host: 'a.test:80', addresses: [FIRST] },
      { host: 'b.test:443', addresses: [FIRST, SECOND] },
    ]);
    later.close();
  });

  it('are written at once without an interval, and forgotten when they are removed', async () => {
    using scratch = makeScratch();
    const path = scratch.file('names');
    const names = new KeptNames({ path, flushMs: 0, maxEntries: 0 }, systemClock);
    names.put('a.test:80', 80, [FIRST]);
    await waitUntil('a change of the file', () => readOr(path) !== '');
    names.remove('a.test:80');
    await waitUntil('a change of the file', () => readOr(path) === '');
    names.close();
  });

  const good = '8\na.test:120\n10.0.0.1:1|30|12345';
  const damaged = [
    ['another length', `${good}9\nb.test:1`],
    ['no time to live', `${good}8\nb.test:110\n10.0.0.1:1`],
    ['no number', `${good}x\nb.test:1`],
    ['nothing to look up', `${good}0\n20\n10.0.0.1:1|30|12345`],
  ] as const;
  for (const [title, text] of damaged) {
    it(`are read up to an entry with ${title}`, () => {
      using scratch = makeScratch();
      const path = scratch.file('names');
      writeFileSync(path, text);
      const names = new KeptNames({ path, flushMs: 0, maxEntries: 0 }, systemClock);
      assert.deepEqual(names.load(), [{ host: 'a.test:1', addresses: [FIRST] }]);
      names.close();
    });
  }
});

function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
