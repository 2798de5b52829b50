/** How bytes are divided between those who wait for them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { shareOut } from '../../../../workers/filters/http/bandwidth-limit/share-out.ts';

const wants = fc.array(
  fc.record({ wanted: fc.nat(1_000_000), weight: fc.integer({ min: 1, max: 2 ** 32 - 1 }) }),
  { maxLength: 30 },
);

describe('shares of bytes', () => {
  it('are by weight, and what one leaves goes to the others', () => {
    const plenty = 1_000_000;
    const rows: readonly [number, [number, number][], number[]][] = [
      [1000, [[plenty, 1], [plenty, 3], [plenty, 1]], [200, 600, 200]], // prettier-ignore
      [1000, [[100, 3], [plenty, 1]], [100, 900]], // prettier-ignore
      [1, [[5, 1], [5, 1]], [0, 1]], // prettier-ignore
      [10, [[3, 1], [4, 1]], [3, 4]], // prettier-ignore
      [10, [], []],
    ];
    for (const [bytes, asked, shares] of rows) {
      const wanted = asked.map(([each, weight]) => ({ wanted: each, weight }));
      assert.deepEqual(shareOut(bytes, wanted), shares);
    }
  });

  it('are never more than is wanted, and together all that there is', () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), wants, (bytes, asked) => {
        const shares = shareOut(bytes, asked);
        const all = asked.reduce((sum, { wanted }) => sum + wanted, 0);
        assert.equal(
          shares.reduce((sum, share) => sum + share, 0),
          Math.min(bytes, all),
        );
        for (const [index, share] of shares.entries()) {
          assert.ok(Number.isInteger(share) && share >= 0 && share <= (asked[index]?.wanted ?? 0));
        }
      }),
    );
  });
});
