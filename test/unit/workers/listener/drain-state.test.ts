/** How many connections are told to close while a listener drains. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChainDrain, DrainState } from '../../../../workers/listener/drain-state.ts';

/** The share of answers that say `connection: close` after each of these times. */
function shares(drainTimeS: number, timesMs: readonly number[]): readonly number[] {
  let nowMs = 0;
  let random = 0;
  const drains = new DrainState({
    drainTimeS,
    closeIdleAfterMs: undefined,
    nowMs: () => nowMs,
    random: () => random,
  });
  drains.start({ startedAtNs: 0n, immediate: false });
  const view = drains.viewOf({ name: 'web', drainsOnHealthCheckFailure: false }, new ChainDrain());
  return timesMs.map((timeMs) => {
    nowMs = timeMs;
    const told = Array.from({ length: 100 }, (_, at) => {
      random = at / 100;
      return view.shouldClose();
    });
    return told.filter((each) => each).length / told.length;
  });
}

describe('the share of connections that a drain tells to close', () => {
  const rows: readonly [seconds: number, timesMs: readonly number[], shares: readonly number[]][] =
    [
      [600, [0, 999, 30_000, 150_000, 300_000, 599_000], [0, 0, 0.1, 0.5, 1, 1]],
      [4, [0, 999, 1000, 1999, 2000], [0, 0, 0.5, 0.5, 1]],
      [2, [0, 999, 1000], [0, 0, 1]],
      [1, [0, 100, 250, 500, 900], [0, 0.2, 0.5, 1, 1]],
      [0, [0], [1]],
    ];
  for (const [seconds, timesMs, expected] of rows) {
    it(`grows in ${seconds} s`, () => assert.deepEqual(shares(seconds, timesMs), expected));
  }
});
