/** The phases of a server's life. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LifeCycle, type Phase } from '../../../../supervisor/life-cycle/life-cycle.ts';

describe('the life cycle', () => {
  const ways: readonly (readonly Phase[])[] = [
    ['warming', 'initializing', 'live', 'terminating', 'ended'],
    ['warming', 'initializing', 'live', 'draining', 'live', 'draining', 'terminating', 'ended'],
    ['warming', 'initializing', 'terminating', 'ended'],
    ['terminating', 'ended'],
  ];
  for (const way of ways) {
    it(`may go from loading by ${way.join(', ')}`, () => {
      const life = new LifeCycle();
      const seen: Phase[] = [];
      life.subscribe(({ to }) => seen.push(to));
      for (const phase of way) life.transition(phase);
      assert.deepEqual(seen, way);
    });
  }

  const wrong: readonly (readonly Phase[])[] = [
    ['live'],
    ['warming', 'initializing', 'draining'],
    ['terminating', 'live'],
    ['terminating', 'ended', 'terminating'],
  ];
  for (const way of wrong) {
    it(`never goes from loading by ${way.join(', ')}`, () => {
      const life = new LifeCycle();
      assert.throws(() => way.forEach((phase) => life.transition(phase)), /no way from phase/);
    });
  }

  it('tells nobody who has unsubscribed', () => {
    const life = new LifeCycle();
    const unsubscribe = life.subscribe(() => assert.fail('unsubscribed'));
    unsubscribe();
    life.transition('warming');
    assert.equal(life.phase, 'warming');
    assert.equal(life.isEnding, false);
  });
});
