import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atOnce, type Steps } from '../../../../supervisor/loop/loop-turns.ts';
import { SharedSteps } from '../../../../supervisor/loop/shared-steps.ts';

describe('shared steps', () => {
  const counted = (length: number) => {
    const work = { steps: 0 };
    function* make(): Steps<string> {
      for (; work.steps < length; work.steps++) yield;
      return 'made';
    }
    return { work, shared: new SharedSteps(make()) };
  };

  it('are taken by those who wait alone, and go on with the next one', () => {
    const { work, shared } = counted(10);
    const gone = shared.result();
    for (let step = 0; step < 4; step++) gone.next();
    gone.return?.('');
    assert.ok(work.steps <= 4);
    assert.equal(atOnce(shared.result()), 'made');
    assert.equal(work.steps, 10);
  });

  it('are made once for all', () => {
    const { work, shared } = counted(10);
    const [one, other] = [shared.result(), shared.result()];
    for (let step = 0; step < 3; step++) {
      one.next();
      other.next();
    }
    assert.deepEqual([atOnce(one), atOnce(other), atOnce(shared.result())], Array(3).fill('made'));
    assert.equal(work.steps, 10);
  });

  it('fail for all of them', () => {
    function* fail(): Steps<string> {
      yield;
      throw new Error('no');
    }
    const shared = new SharedSteps(fail());
    const [one, other] = [shared.result(), shared.result()];
    assert.throws(() => atOnce(one), /no/);
    assert.throws(() => atOnce(other), /no/);
    assert.ok(shared.hasFailed);
  });
});
