import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  HELD_MAX,
  HeldAnswers,
  type Answered,
} from '../../../../supervisor/xds/subscriptions/held-answers.ts';

function answers(count: number): readonly Answered[] {
  return Array.from({ length: count }, (_, index) => ({
    nonce: String(index),
    refusal: index % 2 === 0 ? undefined : 'refused',
  }));
}

describe('answers to a type that is held back', () => {
  it('wait in their order where each has to be acknowledged, the oldest of too many no longer', () => {
    const held = new HeldAnswers(true);
    const all = answers(HELD_MAX + 2);
    const early = all.flatMap((each) => held.add(each) ?? []);
    assert.equal(HELD_MAX, 1000);
    assert.deepEqual(early, all.slice(0, 2));
    assert.deepEqual(held.take(), all.slice(2));
    assert.ok(held.isEmpty);
    assert.deepEqual(held.take(), []);
  });

  it('are forgotten but for the latest where that says everything', () => {
    const held = new HeldAnswers(false);
    const all = answers(HELD_MAX + 2);
    assert.deepEqual(
      all.flatMap((each) => held.add(each) ?? []),
      [],
    );
    assert.deepEqual(held.take(), all.slice(-1));
  });
});
