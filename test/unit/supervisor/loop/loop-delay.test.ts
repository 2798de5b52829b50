import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import type { Clock } from '../../../../shared/process/clock.ts';
import type { StatWriter } from '../../../../shared/stats/stat-writer.ts';
import { LoopDelay } from '../../../../supervisor/loop/loop-delay.ts';
import { waitUntil } from '../../../support/wait.ts';

/** A clock whose periodic timer fires when told, at the time told. */
function manualClock(): { clock: Clock; fireAt: (ms: number) => void; isCancelled: () => boolean } {
  let nowMs = 0;
  let isCancelled = false;
  let fire = (): void => undefined;
  const clock: Clock = {
    monotonicNs: () => BigInt(nowMs) * 1_000_000n,
    monotonicMs: () => nowMs,
    wallMs: () => nowMs,
    after: () => ({ cancel: () => undefined }),
    every: (_periodMs, callback) => {
      fire = callback;
      return { cancel: () => void (isCancelled = true) };
    },
  };
  const fireAt = (ms: number): void => {
    nowMs = ms;
    fire();
  };
  return { clock, fireAt, isCancelled: () => isCancelled };
}

function namedStats(): { writer: StatWriter; values: Map<string, number> } {
  const names: string[] = [];
  const values = new Map<string, number>();
  const define = (name: string): number => {
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  };
  const nameOf = (index: number): string => names[index] ?? '';
  const writer = {
    defineCounter: define,
    defineGauge: define,
    increment: (index: number) => values.set(nameOf(index), (values.get(nameOf(index)) ?? 0) + 1),
    setGauge: (index: number, value: number) => values.set(nameOf(index), value),
  } as unknown as StatWriter;
  return { writer, values };
}

describe('the supervisor’s loop delay', () => {
  it('shows nothing while the loop runs in time', () => {
    const { clock, fireAt } = manualClock();
    const { writer, values } = namedStats();
    const delay = new LoopDelay(clock, writer);
    for (const ms of [100, 205, 309]) fireAt(ms);
    delay.stop();
    assert.equal(values.size, 0);
  });

  it('counts what blocked it, with the quantiles', async () => {
    const { clock, fireAt, isCancelled } = manualClock();
    const { writer, values } = namedStats();
    const delay = new LoopDelay(clock, writer);
    fireAt(150);
    const max = 'sluice.main_thread.blocked_max_ms';
    await waitUntil('the first delay', () => values.get(max) === 50);
    fireAt(250 + 700);
    fireAt(1050 + 30);
    delay.stop();
    assert.equal(values.get('sluice.main_thread.blocked'), 3);
    assert.equal(values.get(max), 700);
    assert.equal(values.get('sluice.main_thread.blocked_p50_ms'), 50);
    assert.ok(isCancelled());
  });
});
