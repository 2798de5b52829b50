import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resetInSteps } from '../../../../supervisor/stats/reset-steps.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';

test('all counters are reset, a few in each step, and those that come meanwhile do no harm', () => {
  const store = new StatStore();
  const counters = Array.from({ length: 500 }, (_, at) => store.defineCounter(`a.${at}`));
  const gauge = store.defineGauge('b');
  for (const index of [...counters, gauge]) store.add(index, 3);
  let steps = 1;
  for (const _ of resetInSteps(store)) {
    if (steps++ === 1) store.defineCounter('late');
  }
  assert.ok(steps > 5, String(steps));
  assert.deepEqual(new Set(counters.map((index) => store.valueOf(index))), new Set([0]));
  assert.equal(store.valueOf(gauge), 3);
});
