/** The watchdog over one worker. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../../../../shared/process/clock.ts';
import { WorkerWatchdog } from '../../../../supervisor/processes/worker-watchdog.ts';

describe('the worker watchdog', () => {
  it('lets a worker live that answers', () => {
    const { clock, advance } = manualClock();
    const expired: number[] = [];
    const dog: WorkerWatchdog = new WorkerWatchdog({
      clock,
      ping: () => dog.heard(),
      expire: (limitMs) => expired.push(limitMs),
    });
    dog.start(30_000);
    advance(300_000);
    assert.deepEqual(expired, []);
  });

  it('says once when a worker has not answered for the limit', () => {
    const { clock, advance } = manualClock();
    const expired: number[] = [];
    const dog = new WorkerWatchdog({
      clock,
      ping: () => undefined,
      expire: (limitMs) => expired.push(limitMs),
    });
    dog.start(30_000);
    advance(30_000);
    assert.deepEqual(expired, []);
    advance(60_000);
    assert.deepEqual(expired, [30_000]);
  });

  it('still hears the answer that waited while the supervisor itself was stuck', () => {
    const { clock, advance, jump } = manualClock();
    const expired: number[] = [];
    const dog = new WorkerWatchdog({
      clock,
      ping: () => undefined,
      expire: (limitMs) => expired.push(limitMs),
    });
    dog.start(30_000);
    advance(5_000);
    jump(60_000);
    advance(1);
    dog.heard();
    advance(1_000);
    assert.deepEqual(expired, []);
  });

  it('with limit 0 does nothing', () => {
    const { clock, advance } = manualClock();
    const dog = new WorkerWatchdog({
      clock,
      ping: () => assert.fail('no ping is due'),
      expire: () => assert.fail('nothing expires'),
    });
    dog.start(0);
    advance(1_000_000);
  });
});

interface Entry {
  at: number;
  readonly period: number | undefined;
  readonly callback: () => void;
}

/** `advance` runs timers as they fall due; `jump` lets time pass while none can run. */
function manualClock(): {
  readonly clock: Clock;
  readonly advance: (ms: number) => void;
  readonly jump: (ms: number) => void;
} {
  let now = 0;
  const entries = new Set<Entry>();
  const add = (delay: number, callback: () => void, period?: number): { cancel(): void } => {
    const entry: Entry = { at: now + delay, period, callback };
    entries.add(entry);
    return { cancel: () => void entries.delete(entry) };
  };
  const advance = (ms: number): void => {
    const end = now + ms;
    for (;;) {
      const due = [...entries].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      now = Math.max(now, due.at);
      if (due.period === undefined) entries.delete(due);
      else due.at = now + due.period;
      due.callback();
    }
    now = Math.max(now, end);
  };
  return {
    clock: {
      monotonicNs: () => BigInt(now) * 1_000_000n,
      monotonicMs: () => now,
      wallMs: () => now,
      after: (delay, callback) => add(delay, callback),
      every: (period, callback) => add(period, callback, period),
    },
    advance,
    jump: (ms) => {
      now += ms;
    },
  };
}
