import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { EpochSet, type Effect } from '../../../../src/restarter/epoch-set.ts';

const brief = (effects: readonly Effect[]): string[] =>
  effects.map((effect) => {
    switch (effect.kind) {
      case 'start':
        return `start ${effect.epoch}`;
      case 'signal':
        return `${effect.signal} ${effect.pid}`;
      case 'report':
        return effect.event;
      case 'exit':
        return `exit ${effect.code}`;
    }
  });

/** Epoch n has pid 100 + n. */
function liveAt(epoch: number): EpochSet {
  const set = new EpochSet();
  for (let number = 0; number <= epoch; number++) {
    if (number > 0) set.restart();
    set.started(number, 100 + number);
    set.becameLive(number);
  }
  return set;
}

describe('the restarter decides', () => {
  it('a restart starts the next epoch', () => {
    assert.deepEqual(brief(liveAt(0).restart()), ['reloading', 'start 1']);
  });

  it('a restart while one is on its way is refused', () => {
    const set = new EpochSet();
    assert.deepEqual(brief(set.restart()), ['refused']);
    set.started(0, 100);
    assert.deepEqual(brief(set.restart()), ['refused']);
    set.becameLive(0);
    set.restart();
    assert.deepEqual(brief(set.restart()), ['refused']);
  });

  it('a live epoch makes the one before it drain, whose end changes nothing', () => {
    const set = liveAt(1);
    assert.deepEqual(
      set.epochs.map(({ state }) => state),
      ['draining', 'live'],
    );
    assert.deepEqual(brief(set.exited(0, 0)), []);
  });

  it('an epoch that ends before it is live is rolled back, and its number is used again', () => {
    const set = liveAt(0);
    set.restart();
    set.started(1, 101);
    assert.deepEqual(brief(set.exited(1, 1)), ['rolled_back']);
    assert.deepEqual(brief(set.restart()), ['reloading', 'start 1']);
  });

  it('an epoch that is not live in time is killed, then rolled back', () => {
    const set = liveAt(0);
    set.restart();
    set.started(1, 101);
    assert.deepEqual(brief(set.startTimedOut(1)), ['failed', 'SIGKILL 101']);
    assert.deepEqual(brief(set.restart()), ['refused']);
    assert.deepEqual(brief(set.exited(1, 137)), ['rolled_back']);
  });

  it('a first epoch that fails ends it with a code', () => {
    const set = new EpochSet();
    set.started(0, 100);
    assert.deepEqual(brief(set.exited(0, 0)), ['stopping', 'exit 1']);
  });

  it('a program that cannot be started at all is a failed start', () => {
    assert.deepEqual(brief(new EpochSet().startFailed(0, 'ENOENT')), ['stopping', 'exit 1']);
  });

  it('a crash of the live epoch takes the rest along', () => {
    const set = liveAt(1);
    assert.deepEqual(brief(set.exited(1, 139)), ['stopping', 'SIGTERM 100']);
    assert.deepEqual(brief(set.exited(0, 0)), ['exit 139']);
  });

  it('a clean end of the live epoch ends it with 0', () => {
    assert.deepEqual(brief(liveAt(0).exited(0, 0)), ['stopping', 'exit 0']);
  });

  it('SIGTERM ends all, and the second one at once', () => {
    const set = liveAt(1);
    assert.deepEqual(brief(set.terminate()), ['stopping', 'SIGTERM 100', 'SIGTERM 101']);
    assert.deepEqual(brief(set.terminate()), ['SIGKILL 100', 'SIGKILL 101']);
    assert.deepEqual(brief(set.restart()), ['refused']);
    set.exited(0, 0);
    assert.deepEqual(brief(set.exited(1, 0)), ['exit 0']);
  });

  it('SIGUSR1 spares an epoch that is starting', () => {
    const set = liveAt(1);
    set.restart();
    set.started(2, 102);
    assert.deepEqual(brief(set.reopenLogs()), ['SIGUSR1 100', 'SIGUSR1 101']);
  });
});
