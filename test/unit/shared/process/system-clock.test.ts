import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';

const LONGEST_MS = 2_147_483_647;
const REST_MS = 1000;

describe('timers that are longer than the runtime has them', () => {
  it('run out when their time has come, once or again and again', () => {
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    try {
      let once = 0;
      let often = 0;
      systemClock.after(LONGEST_MS + REST_MS, () => (once += 1));
      const period = systemClock.every(LONGEST_MS + REST_MS, () => (often += 1));
      for (const expected of [1, 2]) {
        mock.timers.tick(LONGEST_MS);
        mock.timers.tick(REST_MS - 1);
        assert.equal(often, expected - 1);
        mock.timers.tick(1);
        assert.deepEqual([once, often], [1, expected]);
      }
      period.cancel();
      mock.timers.tick(LONGEST_MS);
      mock.timers.tick(REST_MS);
      assert.equal(often, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it('can be cancelled after their first part', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      let fired = 0;
      const timer = systemClock.after(LONGEST_MS + REST_MS, () => (fired += 1));
      mock.timers.tick(LONGEST_MS);
      timer.cancel();
      mock.timers.tick(REST_MS);
      assert.equal(fired, 0);
    } finally {
      mock.timers.reset();
    }
  });
});
