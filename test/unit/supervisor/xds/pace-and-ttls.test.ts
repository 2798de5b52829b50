import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock, type Clock } from '../../../../shared/process/clock.ts';
import { RefusalPace } from '../../../../supervisor/xds/subscriptions/refusal-pace.ts';
import { ResourceTtls } from '../../../../supervisor/xds/subscriptions/resource-ttls.ts';

/** Keeps what shall happen later, with its delay. */
function lateClock(): { readonly clock: Clock; readonly due: Map<() => void, number> } {
  const due = new Map<() => void, number>();
  const after: Clock['after'] = (delayMs, callback) => {
    due.set(callback, delayMs);
    return { cancel: () => void due.delete(callback) };
  };
  return { clock: { ...systemClock, after }, due };
}

describe('refusals in a row', () => {
  it('are sent at once three times, then twice as late each time, up to ten seconds', () => {
    const { clock, due } = lateClock();
    const pace = new RefusalPace(clock);
    const waits: number[] = [];
    let sent = 0;
    for (let count = 0; count < 12; count += 1) {
      pace.pace(true, () => (sent += 1));
      waits.push(...due.values());
    }
    assert.equal(sent, 3);
    assert.deepEqual(waits, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
    pace.pace(false, () => (sent += 1));
    pace.pace(true, () => (sent += 1));
    assert.equal(sent, 5);
    assert.equal(due.size, 0);
  });
});

describe('a resource with a time to live', () => {
  it('goes when it is not heard of again, and stays when it has none any more', () => {
    const { clock, due } = lateClock();
    const gone: string[] = [];
    const ttls = new ResourceTtls(clock, (name) => gone.push(name));
    ttls.set('a', 1000);
    ttls.set('b', 1000);
    ttls.set('b', 2000);
    ttls.set('c', 1000);
    ttls.set('c', undefined);
    assert.deepEqual([...due.values()], [1000, 2000]);
    due.forEach((_, expire) => expire());
    assert.deepEqual(gone, ['a', 'b']);
  });
});
