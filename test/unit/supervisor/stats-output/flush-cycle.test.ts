import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../../../../shared/process/clock.ts';
import { FlushCycle, type FlushSteps } from '../../../../supervisor/stats-output/flush-cycle.ts';

interface Recorded {
  readonly steps: FlushSteps;
  readonly log: string[];
}

function recordSteps(overrides: Partial<FlushSteps> = {}): Recorded {
  const log: string[] = [];
  const note = (text: string) => (): void => void log.push(text);
  const steps: FlushSteps = {
    collect: async (limitMs) => {
      log.push(`collect ${limitMs}`);
      return Promise.resolve([]);
    },
    refresh: async () => Promise.resolve(void log.push('refresh')),
    closeIntervals: note('close'),
    writeSinks: async () => Promise.resolve(void log.push('sinks')),
    onDropped: note('dropped'),
    onLate: (workers) => void log.push(`late ${workers.join(',')}`),
    onFailure: (error) => void log.push(`failed ${String(error)}`),
    ...overrides,
  };
  return { steps, log };
}

/** A clock whose only timer is fired by hand. */
function clockWith(timers: { period: number; fire: () => void }[]): Clock {
  return {
    monotonicNs: () => 0n,
    monotonicMs: () => 0,
    wallMs: () => 0,
    after: () => ({ cancel: () => undefined }),
    every(period, fire) {
      const timer = { period, fire };
      timers.push(timer);
      return { cancel: () => void timers.splice(timers.indexOf(timer), 1) };
    },
  };
}

test('the timer flushes: collect, then close the intervals, then the sinks', async () => {
  const { steps, log } = recordSteps();
  const timers: { period: number; fire: () => void }[] = [];
  const cycle = new FlushCycle({
    clock: clockWith(timers),
    intervalMs: 5000,
    onAdmin: false,
    steps,
  });
  cycle.start();
  assert.deepEqual(
    timers.map(({ period }) => period),
    [5000],
  );
  await cycle.flush();
  assert.deepEqual(log, ['collect 1000', 'refresh', 'close', 'sinks']);
  cycle.stop();
  assert.deepEqual(timers, []);
});

test('a flush that is due while one is under way is dropped and counted', async () => {
  const { steps, log } = recordSteps();
  const cycle = new FlushCycle({ clock: clockWith([]), intervalMs: 5000, onAdmin: false, steps });
  await Promise.all([cycle.flush(), cycle.flush()]);
  assert.equal(log.filter((entry) => entry === 'dropped').length, 1);
  assert.equal(log.filter((entry) => entry === 'sinks').length, 1);
});

test('an admin read waits 100 ms for workers at most and names those that are late', async () => {
  const { steps, log } = recordSteps({
    collect: async (limitMs) => {
      assert.equal(limitMs, 100);
      return Promise.resolve([1]);
    },
  });
  const cycle = new FlushCycle({ clock: clockWith([]), intervalMs: 5000, onAdmin: false, steps });
  await cycle.beforeRead();
  assert.deepEqual(log, ['late 1', 'refresh'], 'and closes no interval');
});

test('with stats_flush_on_admin reads flush and no timer runs', async () => {
  const { steps, log } = recordSteps();
  const timers: { period: number; fire: () => void }[] = [];
  const cycle = new FlushCycle({
    clock: clockWith(timers),
    intervalMs: 5000,
    onAdmin: true,
    steps,
  });
  cycle.start();
  assert.deepEqual(timers, []);
  await cycle.beforeRead();
  assert.deepEqual(log, ['collect 100', 'refresh', 'close', 'sinks']);
  log.length = 0;
  await cycle.collect();
  assert.deepEqual(log, ['collect 100', 'refresh'], 'other pages close no interval');
});

test('a flush that fails is reported and the next one runs', async () => {
  let fails = true;
  const { steps, log } = recordSteps({
    writeSinks: async () => (fails ? Promise.reject(new Error('no route')) : Promise.resolve()),
  });
  const timers: { period: number; fire: () => void }[] = [];
  const cycle = new FlushCycle({
    clock: clockWith(timers),
    intervalMs: 5000,
    onAdmin: false,
    steps,
  });
  cycle.start();
  const failed = new Promise<void>((resolve) => {
    Object.assign(steps, { onFailure: () => resolve() });
  });
  timers[0]?.fire();
  await failed;
  fails = false;
  await cycle.flush();
  assert.equal(log.filter((entry) => entry === 'close').length, 2);
});
