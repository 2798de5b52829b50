/** Descriptors that any value fits: a bucket for each value, the last used ones, in all workers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BucketState, OwnState } from '../../../../workers/filters/common/token-bucket.ts';
import { WildcardBuckets } from '../../../../workers/filters/http/local-rate-limit/wildcard-buckets.ts';

const NOW_MS = 1;
const LIMIT = {
  entries: [
    { key: 'who', value: '' },
    { key: 'what', value: 'read' },
  ],
  bucket: { maxTokens: 2, tokensPerFill: 1, fillIntervalMs: 3_600_000, place: 'here' },
};

/** Numbers that several workers have in common. */
function sharedNumbers(): { state(name: string): BucketState } {
  const states = new Map<string, BucketState>();
  return {
    state(name) {
      const state = states.get(name) ?? new OwnState();
      states.set(name, state);
      return state;
    },
  };
}

function descriptor(who: string, what = 'read', extra: readonly string[] = []) {
  return [
    { key: 'who', value: who },
    { key: 'what', value: what },
    ...extra.map((key) => ({ key, value: 'v' })),
  ];
}

function workers(count: number, kept: number): ((who: string) => boolean | undefined)[] {
  const numbers = sharedNumbers();
  return Array.from({ length: count }, () => {
    const buckets = new WildcardBuckets(LIMIT, kept, numbers);
    return (who: string) => buckets.find(descriptor(who))?.take(NOW_MS);
  });
}

describe('buckets of a descriptor that any value fits', () => {
  it('fit by keys, order, number and the values that are given', () => {
    const buckets = new WildcardBuckets(LIMIT, 2, sharedNumbers());
    assert.ok(buckets.find(descriptor('a')) !== undefined);
    assert.ok(buckets.find(descriptor('')) !== undefined);
    assert.equal(buckets.find(descriptor('a', 'write')), undefined);
    assert.equal(buckets.find(descriptor('a', 'read', ['more'])), undefined);
    assert.equal(buckets.find(descriptor('a').toReversed()), undefined);
    assert.equal(buckets.find([]), undefined);
  });

  it('are kept by their last use, and full again when they come back', () => {
    // The same requests to Envoy, with max_dynamic_descriptors 2, pass likewise.
    const [take = () => undefined] = workers(1, 2);
    const asked = ['p', 'q', 'p', 'q', 'p', 'r', 'q', 'p', 'r', 'r', 'r', 'q'];
    const refused = asked.flatMap((who, at) => (take(who) === true ? [] : [at]));
    assert.deepEqual(refused, [4, 10]);
  });

  it('are the same for all workers', () => {
    const all = workers(3, 20);
    const taken = ['a', 'b'].flatMap((who) => all.map((take) => take(who)));
    assert.deepEqual(taken, [true, true, false, true, true, false]);
  });

  it('never give more than a bucket holds while there is a place for each value', () => {
    const all = workers(4, 8);
    const passed = new Map<string, number>();
    for (let turn = 0; turn < 400; turn++) {
      const who = `v${(turn * 7) % 8}`;
      if (all[turn % 4]?.(who) === true) passed.set(who, (passed.get(who) ?? 0) + 1);
    }
    assert.deepEqual(
      [...passed.values()],
      Array.from({ length: 8 }, () => 2),
    );
  });

  it('are found among many, of which none takes more time than another', () => {
    const [take = () => undefined, other = () => undefined] = workers(2, 10_000);
    for (let who = 0; who < 5_000; who++) assert.equal(take(`v${who}`), true);
    const kept = Array.from({ length: 5_000 }, (_, who) => other(`v${who}`) === true);
    assert.ok(kept.every(Boolean));
    // Their two tokens are gone, so a name that has one again lost its place; sets fill unevenly.
    const again = Array.from({ length: 5_000 }, (_, who) => take(`v${who}`) === true);
    assert.ok(
      again.filter(Boolean).length <= 5,
      `${again.filter(Boolean).length} lost their place`,
    );
  });

  it('are none where none are permitted', () => {
    const [take = () => true] = workers(1, 0);
    assert.equal(take('a'), undefined);
  });
});
