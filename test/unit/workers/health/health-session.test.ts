import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Timer } from '../../../../shared/process/clock.ts';
import type { HealthCheckResource } from '../../../../shared/resources/clusters/health-check.ts';
import { flagsOf, HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import { HEALTH_CHECK } from '../../../../shared/stats/templates/cluster-features.ts';
import { HealthSession } from '../../../../workers/health/health-session.ts';
import type { ProbeOutcome } from '../../../../workers/health/probe.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { TCP_CHECK } from '../../../support/parts/health-checks.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const PASSED: ProbeOutcome = { kind: 'passed', isDegraded: false };
const SILENT: ProbeOutcome = { kind: 'unreachable', isTimeout: true };
const BROKEN: ProbeOutcome = { kind: 'unreachable', isTimeout: false };
const REFUSED: ProbeOutcome = { kind: 'failed', isRetriable: false, isImmediate: false, status: 0 };
const OUT: ProbeOutcome = { ...REFUSED, isImmediate: true };

class RecordingClock extends ManualClock {
  readonly #note: (delayMs: number) => void;

  constructor(note: (delayMs: number) => void) {
    super();
    this.#note = note;
  }

  override after(delayMs: number, fire: () => void): Timer {
    this.#note(delayMs);
    return super.after(delayMs, fire);
  }
}

/**
 * A session whose host answers with these, one check after the other; `delays` are those between
 * them.
 */
function sessionOf(
  outcomes: readonly ProbeOutcome[],
  changes: Partial<HealthCheckResource> = {},
  hasTraffic = true,
): { readonly flags: readonly string[]; readonly delays: readonly number[] } {
  const left = [...outcomes];
  const delays: number[] = [];
  const clock = new RecordingClock((delayMs) => delays.push(delayMs));
  const flags: string[] = [];
  let bits = HEALTH_BITS.failed_active_hc;
  const writer = new WorkerStatStore();
  const session = new HealthSession({
    check: { ...TCP_CHECK, ...changes },
    probe: {
      run: (done) => {
        const outcome = left.shift();
        if (outcome !== undefined) done(outcome);
      },
      cancel: () => undefined,
    },
    clock,
    runtime: { snapshot: new Map() },
    stats: { writer, base: writer.defineBlock(HEALTH_CHECK, 'cluster.c.health_check.') },
    bits,
    wasChecked: false,
    hasTraffic: () => hasTraffic,
    report: (now) => {
      bits = now;
    },
    log: () => undefined,
  });
  for (const _ of outcomes) {
    clock.pass(delays.at(-1) ?? 0);
    flags.push(flagsOf(bits).join(' ') || 'healthy');
  }
  session.close();
  // Between two waits there is the time limit of a check.
  return { flags, delays: delays.filter((_, at) => at > 0 && at % 2 === 0) };
}

const FAILED = 'failed_active_hc';
const TIMED_OUT = 'failed_active_hc active_hc_timeout';

describe('what checks of a host find', () => {
  it('tells of a timeout while the last failure was one', () => {
    const { flags } = sessionOf([SILENT, REFUSED, SILENT, BROKEN, SILENT, PASSED, PASSED], {
      healthyThreshold: 2,
    });
    assert.deepEqual(flags, [
      TIMED_OUT,
      FAILED,
      TIMED_OUT,
      FAILED,
      TIMED_OUT,
      TIMED_OUT,
      'healthy',
    ]);
  });

  it('keeps a host excluded until enough checks have passed', () => {
    const excluded = 'failed_active_hc excluded_via_immediate_hc_fail';
    const { flags } = sessionOf([PASSED, OUT, PASSED, PASSED], { healthyThreshold: 2 });
    assert.deepEqual(flags, ['healthy', excluded, excluded, 'healthy']);
  });

  it('decides the time until the next check, with traffic and without', () => {
    const intervals = {
      intervalMs: 1,
      unhealthyIntervalMs: 2,
      unhealthyEdgeIntervalMs: 3,
      healthyEdgeIntervalMs: 4,
      noTrafficIntervalMs: 5,
      noTrafficHealthyIntervalMs: 6,
      unhealthyThreshold: 2,
      healthyThreshold: 2,
      timeoutMs: 100,
    };
    const outcomes = [PASSED, SILENT, SILENT, SILENT, PASSED, PASSED, PASSED];
    assert.deepEqual(sessionOf(outcomes, intervals).delays, [1, 3, 2, 2, 4, 1, 1]);
    assert.deepEqual(sessionOf(outcomes, intervals, false).delays, [6, 5, 5, 5, 5, 6, 6]);
  });
});
