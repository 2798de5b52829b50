import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { versionHash } from '../../../../supervisor/xds/subscriptions/version-hash.ts';

const cases: readonly (readonly [string, bigint])[] = [
  ['', 17241709254077376921n],
  ['1', 13237225503670494420n],
  ['c2', 17012810558893514520n],
  ['r2', 8003343158660992332n],
  ['l2', 8053302475590014425n],
  ['Nobody inspects the spammish repetition', 18144624926692707313n],
];

describe('the hash of a version', () => {
  for (const [text, hash] of cases) {
    it(`is that of XXH64: ${JSON.stringify(text)}`, () => {
      assert.equal(versionHash(text), hash);
    });
  }
});
