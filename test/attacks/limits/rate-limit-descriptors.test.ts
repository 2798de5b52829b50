/**
 * Descriptors of rate limits made of what clients send: none is taken for another one, and however
 * many values clients think of, a wildcard holds as many buckets as it may.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type Descriptor,
  descriptorKey,
} from '../../../workers/filters/common/rate-limit-descriptors.ts';
import { type BucketState, OwnState } from '../../../workers/filters/common/token-bucket.ts';
import { WildcardBuckets } from '../../../workers/filters/http/local-rate-limit/wildcard-buckets.ts';
import { attackParameters, attackRandom, attackTurns } from '../../support/attack.ts';

const NOW_MS = 1;
const PERMITTED = 1000;
/** A set more than there have to be places for, each with three numbers, and one for all. */
const NUMBERS_MAX = (PERMITTED + 64) * 3 + 1;

/** What separators of any kind would be made of. */
const text = fc.string({
  unit: fc.constantFrom('', 'a', 'b', '=', ',', '\0', '\u0001', '"', '\\', '[', ']', '1', ':', 'é'),
  maxLength: 6,
});
const entries = fc.array(fc.record({ key: text, value: text }), { maxLength: 3 });

function isSame(one: Descriptor, other: Descriptor): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

describe('attacks by descriptors of rate limits', () => {
  it('takes no descriptor for another one', () => {
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        assert.equal(descriptorKey(one) === descriptorKey(other), isSame(one, other));
      }),
      attackParameters(20_000, 1_000_000),
    );
  });

  it('holds no more buckets than it may, whatever values come', () => {
    const states = new Map<string, BucketState>();
    const state = (name: string): BucketState => {
      const known = states.get(name) ?? new OwnState();
      states.set(name, known);
      return known;
    };
    const bucket = { maxTokens: 1, tokensPerFill: 1, fillIntervalMs: 3_600_000, place: 'here' };
    const limit = { entries: [{ key: 'who', value: '' }], bucket };
    const buckets = new WildcardBuckets(limit, PERMITTED, { state });
    const random = attackRandom();
    for (const turn of attackTurns(5_000, 1_000_000)) {
      const value = turn % 50 === 0 ? 'x'.repeat(60_000) + String(turn) : String(random());
      const found = buckets.find([{ key: 'who', value }]);
      assert.ok(found?.take(NOW_MS) !== undefined);
    }
    assert.ok(states.size <= NUMBERS_MAX, `${states.size} numbers`);
  });
});
