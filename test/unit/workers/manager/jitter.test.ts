/** Timeouts with jitter: never shorter than configured, never longer than their share allows. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withJitter } from '../../../../workers/manager/jitter.ts';

/** The delays that `count` timers were armed with. */
function drawn(delayMs: number, share: number, count: number): readonly number[] {
  const delays: number[] = [];
  const timeout = withJitter(delayMs, share, (ms) => ({ arm: () => delays.push(ms) }) as never);
  for (let index = 0; index < count; index++) timeout?.arm({} as never);
  return delays;
}

describe('a timeout with jitter', () => {
  it('is spread over its share, above the configured time', () => {
    const delays = drawn(10_000, 0.5, 400);
    assert.ok(delays.every((ms) => ms >= 10_000 && ms <= 15_000));
    assert.ok(Math.min(...delays) < 11_000 && Math.max(...delays) > 14_000);
    assert.ok(new Set(delays).size > 30);
  });

  it('is the configured time without a share, and none where there is none', () => {
    assert.deepEqual(drawn(700, 0, 3), [700, 700, 700]);
    assert.equal(
      withJitter(0, 1, () => undefined),
      undefined,
    );
  });
});
