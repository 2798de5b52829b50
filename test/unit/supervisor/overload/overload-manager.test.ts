import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { systemClock, type Clock } from '../../../../shared/process/clock.ts';
import type { OverloadState } from '../../../../shared/resources/overload.ts';
import type { OverloadAction, Trigger } from '../../../../supervisor/overload/overload-config.ts';
import { OverloadManager } from '../../../../supervisor/overload/overload-manager.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { makeScratch } from '../../../support/scratch.ts';

const PREFIX = 'envoy.overload_actions.';

/** The state that one refresh finds at this pressure. */
function stateAt(content: string, actions: readonly OverloadAction[]): Refreshed {
  using scratch = makeScratch();
  const path = scratch.file('pressure');
  writeFileSync(path, content);
  let refresh: (() => void) | undefined;
  const clock: Clock = {
    ...systemClock,
    every: (_periodMs, callback) => {
      refresh = callback;
      return { cancel: () => undefined };
    },
  };
  const stats = new StatStore();
  const published: OverloadState[] = [];
  const manager = new OverloadManager({
    config: {
      refreshMs: 1000,
      monitors: [{ name: 'file', kind: 'file', path }],
      actions,
      shedPoints: [],
      leastTimeouts: [],
    },
    stats,
    clock,
    pids: () => [],
    publish: (state) => Promise.resolve(published.push(state)),
    holdConnections: () => undefined,
    log: () => undefined,
  });
  manager.start();
  refresh?.();
  const read = (name: string): number => stats.valueOf(stats.defineGauge(`overload.${name}`));
  const failures = stats.valueOf(stats.defineCounter('overload.file.failed_updates'));
  return { state: manager.state, published, read, failures };
}

interface Refreshed {
  readonly state: OverloadState;
  readonly published: readonly OverloadState[];
  readonly read: (name: string) => number;
  readonly failures: number;
}

function refusing(...triggers: readonly Trigger[]): readonly OverloadAction[] {
  return [{ name: `${PREFIX}stop_accepting_requests`, triggers }];
}

const THRESHOLD: Trigger = { monitor: 'file', kind: 'threshold', value: 0.5 };
const SCALED: Trigger = { monitor: 'file', kind: 'scaled', from: 0.5, to: 0.9 };

describe('what is refused at a pressure', () => {
  for (const [content, trigger, refused] of [
    ['0.49', THRESHOLD, 0],
    ['0.5', THRESHOLD, 1],
    ['1', THRESHOLD, 1],
    ['0.5', SCALED, 0],
    ['0.7', SCALED, 0.5],
    ['0.9', SCALED, 1],
    ['0.95', SCALED, 1],
  ] as const) {
    it(`is ${refused} of the requests at ${content} of a ${trigger.kind} trigger`, () => {
      const { state, published } = stateAt(content, refusing(trigger));
      assert.ok(Math.abs(state.refusedRequests - refused) < 1e-9);
      assert.equal(published.length, refused === 0 ? 0 : 1);
    });
  }

  it('is what the trigger says that is furthest', () => {
    const { read } = stateAt('0.7', refusing(SCALED, THRESHOLD));
    assert.equal(read(`${PREFIX}stop_accepting_requests.scale_percent`), 100);
    assert.equal(read(`${PREFIX}stop_accepting_requests.active`), 1);
  });

  it('shows a part of an action as a percentage that is not active', () => {
    const { read } = stateAt('0.7', refusing(SCALED));
    assert.equal(read(`${PREFIX}stop_accepting_requests.scale_percent`), 50);
    assert.equal(read(`${PREFIX}stop_accepting_requests.active`), 0);
  });
});

describe('a file with the pressure', () => {
  for (const content of ['', 'high', '1.5', '-0.1']) {
    it(`counts as failed when it holds ${JSON.stringify(content)}`, () => {
      const { state, failures } = stateAt(content, refusing(THRESHOLD));
      assert.equal(state.refusedRequests, 0);
      assert.equal(failures, 1);
    });
  }
});
