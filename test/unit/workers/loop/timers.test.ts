import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Clock } from '../../../../shared/process/clock.ts';
import { LoopClock } from '../../../../workers/loop/loop-clock.ts';
import { LoopTimer, LoopTimers } from '../../../../workers/loop/timers.ts';

/** Time that stands still until a test moves it. */
class ManualClock implements Clock {
  nowMs = 1000;
  wakes: { atMs: number; callback: () => void }[] = [];
  armed = 0;

  monotonicNs = (): bigint => BigInt(this.nowMs) * 1_000_000n;
  monotonicMs = (): number => this.nowMs;
  wallMs = (): number => this.nowMs;
  every = (): { cancel(): void } => ({ cancel: () => undefined });

  after = (delayMs: number, callback: () => void): { cancel(): void } => {
    const wake = { atMs: this.nowMs + delayMs, callback };
    this.armed++;
    this.wakes.push(wake);
    return { cancel: () => (this.wakes = this.wakes.filter((each) => each !== wake)) };
  };

  moveTo(ms: number): void {
    for (;;) {
      const due = this.wakes.filter(({ atMs }) => atMs <= ms).sort((a, b) => a.atMs - b.atMs)[0];
      if (due === undefined) break;
      this.nowMs = Math.max(this.nowMs, due.atMs);
      this.wakes = this.wakes.filter((each) => each !== due);
      due.callback();
    }
    this.nowMs = ms;
  }
}

function setUp() {
  const source = new ManualClock();
  const clock = new LoopClock(source);
  const fired: string[] = [];
  let events = 0;
  const timers = new LoopTimers(source, clock, {
    failed: (error) => {
      throw error;
    },
    afterTimers: () => events++,
  });
  const timer = (name: string): LoopTimer =>
    new LoopTimer(
      {
        onTimer: (kind) => fired.push(`${name}${kind}@${source.nowMs}`),
        onException: () => fired.push(`${name} ended`),
      },
      1,
    );
  return { source, clock, timers, fired, timer, events: () => events };
}

describe("the data path's timers", () => {
  it('fire once, in order of their deadlines, whatever their lists', () => {
    const { source, timers, fired, timer } = setUp();
    timers.list(50).arm(timer('late'));
    timers.list(10).arm(timer('early'));
    timers.list(30).arm(timer('middle'));
    source.moveTo(2000);
    assert.deepEqual(fired, ['early1@1010', 'middle1@1030', 'late1@1050']);
  });

  it('begin again when they are armed again and stay silent when disarmed', () => {
    const { source, clock, timers, fired, timer } = setUp();
    const again = timer('again');
    const never = timer('never');
    timers.list(10).arm(again);
    timers.list(10).arm(never);
    source.nowMs = 1005;
    clock.refresh();
    timers.list(10).arm(again);
    never.disarm();
    never.disarm();
    source.moveTo(2000);
    assert.deepEqual(fired, ['again1@1015']);
    assert.equal(never.isArmed, false);
    assert.equal(again.isArmed, false);
  });

  it('wake the process once for many timers of one delay', () => {
    const { source, timers, fired, timer, events } = setUp();
    for (let at = 0; at < 100; at++) timers.list(10).arm(timer(`t${at}-`));
    assert.equal(source.armed, 1);
    source.moveTo(1010);
    assert.equal(fired.length, 100);
    assert.equal(events(), 1);
    assert.deepEqual(source.wakes, [], 'nothing is left to wake for');
  });

  it('may be armed and disarmed while others fire', () => {
    const { source, timers, fired, timer } = setUp();
    const victim = timer('victim');
    const list = timers.list(10);
    const killer = new LoopTimer(
      {
        onException: () => undefined,
        onTimer: () => {
          fired.push('killer');
          victim.disarm();
          list.arm(killer);
        },
      },
      0,
    );
    list.arm(killer);
    list.arm(victim);
    source.moveTo(1025);
    assert.deepEqual(fired, ['killer', 'killer']);
  });

  it('of very many delays are rounded up, never down', () => {
    const { source, timers, fired, timer } = setUp();
    for (let delay = 1; delay <= 600; delay++) timers.list(delay);
    timers.list(1234).arm(timer('rounded'));
    source.moveTo(5000);
    assert.deepEqual(fired, ['rounded1@2300']);
  });
});

describe('a list whose delay changes', () => {
  it('moves those that are armed with it, sooner and later, and keeps their order', () => {
    const { source, clock, timers, fired, timer } = setUp();
    const list = timers.ownList(1000);
    list.arm(timer('first'));
    source.moveTo(1100);
    clock.refresh();
    list.arm(timer('second'));
    list.setDelay(300);
    source.moveTo(1301);
    assert.deepEqual(fired, ['first1@1300']);
    list.setDelay(500);
    source.moveTo(1500);
    assert.deepEqual(fired, ['first1@1300']);
    source.moveTo(1601);
    assert.deepEqual(fired, ['first1@1300', 'second1@1600']);
  });
});
