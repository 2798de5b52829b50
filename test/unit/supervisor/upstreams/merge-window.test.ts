import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MergeWindow } from '../../../../supervisor/upstreams/merge-window.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** `h`: a health changes, `s`: the set does; numbers: milliseconds pass. */
type Steps = readonly ('h' | 's' | number)[];

/** Updates told at once, told later, cancelled, and outside of a window. */
type Counts = readonly [updated: number, merged: number, cancelled: number, outside: number];

function countsOf(windowMs: number, steps: Steps): Counts {
  const counts = {
    cluster_updated: 0,
    cluster_updated_via_merge: 0,
    update_merge_cancelled: 0,
    update_out_of_merge_window: 0,
  };
  const clock = new ManualClock();
  const window = new MergeWindow({ windowMs, clock, count: (counter) => void counts[counter]++ });
  for (const step of steps) {
    if (step === 'h') window.healthChanged();
    else if (step === 's') window.setChanged();
    else clock.pass(step);
  }
  window.close();
  return Object.values(counts) as unknown as Counts;
}

describe('updates of hosts', () => {
  const cases: readonly [title: string, windowMs: number, steps: Steps, counts: Counts][] = [
    ['count a first change of health outside of a window', 1000, ['h'], [1, 0, 0, 1]],
    ['merge those that follow into one', 1000, ['h', 'h', 'h', 1000], [1, 1, 0, 1]],
    ['end the wait when the set changes', 1000, ['h', 'h', 's', 1000], [2, 0, 1, 1]],
    ['wait from a change of the set on, too', 1000, ['s', 500, 'h', 1000], [1, 1, 0, 0]],
    ['are outside again when a window has passed', 1000, ['h', 1001, 'h'], [2, 0, 0, 2]],
    ['are all counted at once without a window', 0, ['h', 'h', 's'], [3, 0, 0, 0]],
  ];
  for (const [title, windowMs, steps, counts] of cases) {
    it(title, () => {
      assert.deepEqual(countsOf(windowMs, steps), counts);
    });
  }
});
