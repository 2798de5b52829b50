import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../../../../shared/process/clock.ts';
import { HeldBytes, TELLING_STEP_BYTES } from '../../../../workers/loop/held-bytes.ts';
import { OverloadGate } from '../../../../workers/loop/overload-gate.ts';
import { RequestCopy } from '../../../../workers/router/retry/request-copy.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { WorkerLoop } from '../../../../workers/loop/worker-loop.ts';

const CEILING = 4 * TELLING_STEP_BYTES;

describe('what a worker holds for its connections', () => {
  it('is told in steps, and when nothing is held any more', () => {
    const told: number[] = [];
    const held = new HeldBytes({ ceilingBytes: CEILING, tell: (change) => told.push(change) });
    held.add(TELLING_STEP_BYTES - 1);
    assert.deepEqual(told, []);
    held.add(1);
    held.add(1);
    held.add(-2);
    assert.deepEqual(told, [TELLING_STEP_BYTES]);
    held.add(1 - TELLING_STEP_BYTES);
    assert.deepEqual(told, [TELLING_STEP_BYTES, -TELLING_STEP_BYTES]);
  });

  it('makes it refuse requests at the ceiling, count them, and take them again below it', () => {
    const stats = new WorkerStatStore();
    const held = new HeldBytes({ ceilingBytes: CEILING, tell: () => undefined });
    const { timers } = new WorkerLoop(systemClock, held);
    const gate = new OverloadGate({ random: () => 0, stats, timers, held });
    const bypassing = new OverloadGate({ random: () => 0, stats, timers });
    held.add(CEILING - 1);
    assert.equal(gate.refusesRequest(), false);
    held.add(1);
    assert.equal(gate.refusesRequest(), true);
    assert.equal(bypassing.refusesRequest(), false);
    assert.equal(stats.valueOf(stats.defineCounter('sluice.held_bytes.refused_requests')), 1);
    held.add(-1);
    assert.equal(gate.refusesRequest(), false);
  });

  it('counts bodies that are kept to be sent again until they are let go, and takes no more at the ceiling', () => {
    const held = new HeldBytes({ ceilingBytes: CEILING, tell: () => undefined });
    const copy = new RequestCopy(CEILING, held);
    assert.equal(copy.add(Buffer.alloc(10)), true);
    assert.equal(held.bytes, 10);
    held.add(CEILING);
    assert.equal(copy.add(Buffer.alloc(1)), false);
    copy.release();
    copy.release();
    assert.equal(held.bytes, CEILING);
  });
});
