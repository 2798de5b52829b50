import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createRateLimitPage,
  RATE_LIMIT_SLOTS_MAX,
  RateLimitPage,
} from '../../../../shared/limits/rate-limit-page.ts';
import { sharedBucket, TokenBucket } from '../../../../workers/filters/common/token-bucket.ts';

const OPTIONS = { maxTokens: 100, tokensPerFill: 3, fillIntervalMs: 1000, place: 'filters[0]' };
const NOW = 123_456.7;

/** How many of 200 tries in a row get a token. */
function drain(bucket: TokenBucket, nowMs: number): number {
  let taken = 0;
  for (let i = 0; i < 200; i++) if (bucket.take(nowMs)) taken++;
  return taken;
}

describe('a token bucket', () => {
  it('gives as many tokens as it holds, then each at its time', () => {
    const bucket = new TokenBucket(OPTIONS);
    assert.equal(drain(bucket, NOW), 100);
    assert.equal(bucket.secondsToNext(NOW), 1);
    assert.equal(bucket.take(NOW + 333), false);
    assert.equal(bucket.take(NOW + 334), true);
    assert.equal(bucket.take(NOW + 600), false);
    assert.equal(bucket.remaining(NOW + 2334), 6);
    assert.equal(bucket.secondsToNext(NOW + 2334), 0);
    assert.equal(drain(bucket, NOW + 2334), 6);
  });

  it('holds no more than it may, however long nobody takes', () => {
    const bucket = new TokenBucket(OPTIONS);
    assert.equal(drain(bucket, NOW), 100);
    assert.equal(bucket.remaining(NOW + 1e9), 100);
    assert.equal(drain(bucket, NOW + 1e9), 100);
  });

  it('is one for all workers, and another for another place, listener or rate', () => {
    const fd = createRateLimitPage();
    const worker = (): RateLimitPage => RateLimitPage.map(fd);
    const one = sharedBucket(OPTIONS, worker(), 'web');
    const other = sharedBucket(OPTIONS, worker(), 'web');
    assert.equal(one.take(NOW), true);
    assert.equal(drain(other, NOW), 99);
    assert.equal(one.take(NOW), false);
    assert.equal(one.remaining(NOW + 1000), 3);
    const page = worker();
    for (const bucket of [
      sharedBucket({ ...OPTIONS, place: 'filters[1]' }, page, 'web'),
      sharedBucket(OPTIONS, page, 'api'),
      sharedBucket({ ...OPTIONS, tokensPerFill: 4 }, page, 'web'),
    ]) {
      assert.equal(drain(bucket, NOW), 100);
    }
  });

  it('looks at few slots of a page that is nearly full, and finds what is there', () => {
    const page = RateLimitPage.map(createRateLimitPage());
    const slots = new Map<string, number>();
    let refused = 0;
    for (let at = 0; refused === 0; at++) {
      const slot = page.slotOf(`limit ${at}`);
      if (slot === undefined) refused++;
      else slots.set(`limit ${at}`, slot);
    }
    assert.ok(new Set(slots.values()).size < RATE_LIMIT_SLOTS_MAX, 'there are free ones elsewhere');
    for (const [name, slot] of slots) assert.equal(page.slotOf(name), slot);
  });

  it('loses no token and makes none when another worker takes in between', () => {
    const fd = createRateLimitPage();
    const page = RateLimitPage.map(fd);
    const slot = page.slotOf('raced') ?? assert.fail('no slot');
    const before = page.load(slot);
    assert.equal(page.exchange(slot, before, 1.5), true);
    assert.equal(page.exchange(slot, before, 2.5), false);
    assert.equal(page.load(slot), 1.5);
    let raced = 0;
    const state = {
      moment: 0,
      load: () => state.moment,
      exchange(expected: number, next: number): boolean {
        if (raced++ === 0) state.moment = expected === 0 ? NOW - 5_000 : expected;
        if (state.moment !== expected) return false;
        state.moment = next;
        return true;
      },
    };
    assert.equal(drain(new TokenBucket(OPTIONS, state), NOW), 15);
  });
});
