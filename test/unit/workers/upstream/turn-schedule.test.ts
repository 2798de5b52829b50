import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { TurnSchedule } from '../../../../workers/upstream/balancing/turn-schedule.ts';

/** Turns by looking through all deadlines: the deadline of each turn. */
function turnsOf(delays: readonly number[], count: number): readonly number[] {
  const deadlines = [...delays];
  return Array.from({ length: count }, () => {
    const first = Math.min(...deadlines);
    const at = deadlines.indexOf(first);
    deadlines[at] = first + (delays[at] ?? 0);
    return first;
  });
}

describe('a schedule of turns', () => {
  it('gives each turn to the earliest deadline, whether the delays are few or many', () => {
    const delay = fc.integer({ min: 1, max: 200 });
    const few = fc.subarray([1, 2, 5, 7, 10, 64], { minLength: 1 });
    const lists = fc.oneof(
      few.chain((some) => fc.array(fc.constantFrom(...some), { minLength: 1, maxLength: 60 })),
      fc.array(delay, { minLength: 1, maxLength: 60 }),
    );
    fc.assert(
      fc.property(lists, (weights) => {
        const delays = weights.map((weight) => 1 / weight);
        const schedule = new TurnSchedule(delays);
        const deadlines = [...delays];
        for (const expected of turnsOf(delays, 200)) {
          const at = schedule.first;
          const deadline = deadlines[at] ?? Number.NaN;
          assert.equal(deadline, expected);
          deadlines[at] = deadline + (delays[at] ?? 0);
          schedule.delayFirst(delays[at] ?? 0);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps equals in their order, round after round', () => {
    const schedule = new TurnSchedule([1, 1, 1]);
    const turns = Array.from({ length: 7 }, () => {
      const at = schedule.first;
      schedule.delayFirst(1);
      return at;
    });
    assert.deepEqual(turns, [0, 1, 2, 0, 1, 2, 0]);
  });

  it('goes on where the delays of one thing become many', () => {
    const schedule = new TurnSchedule([1, 3]);
    let [of0, of1] = [1, 3];
    for (let turn = 0; turn < 300; turn++) {
      const by = 1 + (turn % 97) / 100;
      assert.equal(schedule.first, of1 < of0 ? 1 : 0);
      if (of1 < of0) of1 += by;
      else of0 += by;
      schedule.delayFirst(by);
    }
  });

  it('has a first as long as there is anybody, and nobody where there is not', () => {
    assert.equal(new TurnSchedule([]).first, -1);
    new TurnSchedule([]).delayFirst(1);
    assert.equal(new TurnSchedule([Infinity]).first, 0);
    const schedule = new TurnSchedule([1]);
    schedule.delayFirst(Infinity);
    assert.equal(schedule.first, 0);
  });
});

describe('the counts of open requests', () => {
  it('begin at nothing for each host, and are not used again while something is open', () => {
    const active = new ActiveRequests();
    const slots = Array.from({ length: 100 }, () => active.take());
    assert.equal(new Set(slots).size, 100);
    const [first = 0, second = 0] = slots;
    active.add(first, 1);
    active.giveBack(first);
    active.giveBack(second);
    assert.equal(active.take(), second);
    assert.equal(active.of(second), 0);
    assert.notEqual(active.take(), first);
    assert.equal(active.of(first), 1);
  });
});
