/**
 * The checks of one host: when the next one runs and what its outcome means, with the thresholds of
 * the configuration. The supervisor is told of every change and decides what the host's state is.
 */
import { ACTIVE_CHECK_BITS, HEALTH_BITS } from '../../shared/resources/clusters/host-health.ts';
import type { CheckEvent, CheckFailureType } from '../../shared/health/check-event.ts';
import type { HealthCheckResource } from '../../shared/resources/clusters/health-check.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import { HEALTH_CHECK } from '../../shared/stats/templates/cluster-features.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { Probe, ProbeOutcome } from './probe.ts';

export interface HealthSessionOptions {
  readonly check: HealthCheckResource;
  readonly probe: Probe;
  readonly clock: Clock;
  readonly runtime: Pick<Runtime, 'snapshot'>;
  readonly stats: { readonly writer: StatWriter; readonly base: number };
  /** The host's state as it is known; without a check so far the next one decides alone. */
  readonly bits: number;
  readonly wasChecked: boolean;
  hasTraffic(): boolean;
  /** The bits of active checks from now on. */
  report(bits: number): void;
  /** For the event log; undefined: there is none. */
  readonly log: ((event: CheckEvent) => void) | undefined;
}

type Counter = 'attempt' | 'success' | 'failure' | 'network_failure';

export class HealthSession {
  readonly #options: HealthSessionOptions;
  #bits: number;
  #isFirst: boolean;
  /** By outlier detection, which wants to hear of each check that the host passes then. */
  #isEjected: boolean;
  #passedInARow = 0;
  #failedInARow = 0;
  #timer: Timer | undefined;

  constructor(options: HealthSessionOptions) {
    this.#options = options;
    this.#bits = options.bits & ACTIVE_CHECK_BITS;
    this.#isEjected = (options.bits & HEALTH_BITS.failed_outlier_check) !== 0;
    this.#isFirst = !options.wasChecked;
    const { initialJitterMs, intervalMs } = options.check;
    // A host may move twice when its worker dies, the second time to the one in its place: it waits
    // no longer than one interval all the same.
    const spreadMs = this.#isFirst ? initialJitterMs : intervalMs / 2;
    this.#wait(Math.floor(Math.random() * spreadMs));
  }

  /** What all workers know of the host now: a later check changes that, not what was found here. */
  noteBits(bits: number): void {
    this.#isEjected = (bits & HEALTH_BITS.failed_outlier_check) !== 0;
    const fails = (bits & ~this.#bits & HEALTH_BITS.failed_active_hc) !== 0;
    if (fails) this.#passedInARow = 0;
    this.#bits = bits & ACTIVE_CHECK_BITS;
  }

  close(): void {
    this.#timer?.cancel();
    this.#options.probe.cancel();
  }

  #wait(delayMs: number): void {
    this.#timer = this.#options.clock.after(delayMs, () => this.#check(), { unref: true });
  }

  #check(): void {
    const { probe, clock, check } = this.#options;
    this.#count('attempt');
    this.#timer = clock.after(
      check.timeoutMs,
      () => {
        probe.cancel();
        this.#decide({ kind: 'unreachable', isTimeout: true });
      },
      { unref: true },
    );
    probe.run((outcome) => {
      this.#timer?.cancel();
      this.#decide(outcome);
    });
  }

  #decide(outcome: ProbeOutcome): void {
    const before = this.#bits;
    const wasFirst = this.#isFirst;
    const isPending = outcome.kind === 'passed' ? this.#pass(outcome) : this.#fail(outcome);
    this.#isFirst = false;
    this.#bits &= ~HEALTH_BITS.pending_active_hc;
    const passesEjected = this.#isEjected && outcome.kind === 'passed';
    if (wasFirst || passesEjected || this.#bits !== before) this.#options.report(this.#bits);
    this.#wait(this.#intervalMs(outcome.kind === 'passed', isPending));
  }

  /** Returns whether a threshold is being counted. */
  #pass({ isDegraded }: Extract<ProbeOutcome, { kind: 'passed' }>): boolean {
    this.#count('success');
    this.#failedInARow = 0;
    const wasFailed = (this.#bits & HEALTH_BITS.failed_active_hc) !== 0;
    const isPending = this.#countPass();
    // Below the threshold it stays out of what the others are seen against.
    if (!isPending) this.#bits &= ~HEALTH_BITS.excluded_via_immediate_hc_fail;
    this.#noteDegraded(isDegraded);
    // A host that comes back says so by another event.
    const isSteady = isPending || !wasFailed;
    if (isSteady && this.#options.check.eventLog?.successes === true)
      this.#log({ kind: 'success' });
    return isPending;
  }

  #countPass(): boolean {
    if ((this.#bits & HEALTH_BITS.failed_active_hc) === 0) return false;
    this.#passedInARow += 1;
    if (!this.#isFirst && this.#passedInARow < this.#options.check.healthyThreshold) return true;
    this.#bits &= ~(HEALTH_BITS.failed_active_hc | HEALTH_BITS.active_hc_timeout);
    this.#log({ kind: 'add_healthy', isFirst: this.#isFirst });
    return false;
  }

  /**
   * An answer that says no counts at once; silence and retriable answers count up to a threshold.
   */
  #fail(outcome: Exclude<ProbeOutcome, { kind: 'passed' }>): boolean {
    this.#count('failure');
    if (outcome.kind === 'unreachable') this.#count('network_failure');
    this.#passedInARow = 0;
    if (outcome.kind === 'failed' && outcome.isImmediate) {
      this.#bits |= HEALTH_BITS.excluded_via_immediate_hc_fail;
    }
    const isPending = this.#countFailure(outcome);
    if (this.#isFirst || this.#options.check.eventLog?.failures === true) {
      this.#log({ kind: 'failure', ...failureOf(outcome), isFirst: this.#isFirst });
    }
    return isPending;
  }

  #countFailure(outcome: Exclude<ProbeOutcome, { kind: 'passed' }>): boolean {
    const isTimeout = outcome.kind === 'unreachable' && outcome.isTimeout;
    if ((this.#bits & HEALTH_BITS.failed_active_hc) !== 0) {
      this.#noteTimeout(isTimeout);
      return false;
    }
    const isPatient = outcome.kind === 'unreachable' || outcome.isRetriable;
    this.#failedInARow += 1;
    const { unhealthyThreshold } = this.#options.check;
    if (isPatient && this.#failedInARow < unhealthyThreshold) return true;
    this.#bits |= HEALTH_BITS.failed_active_hc;
    this.#log({ kind: 'eject_unhealthy', ...failureOf(outcome) });
    this.#noteTimeout(isTimeout);
    return false;
  }

  /** What the last failure was. */
  #noteTimeout(isTimeout: boolean): void {
    this.#bits &= ~HEALTH_BITS.active_hc_timeout;
    if (isTimeout) this.#bits |= HEALTH_BITS.active_hc_timeout;
  }

  #noteDegraded(isDegraded: boolean): void {
    const was = (this.#bits & HEALTH_BITS.degraded_active_hc) !== 0;
    if (was === isDegraded) return;
    this.#bits ^= HEALTH_BITS.degraded_active_hc;
    this.#log({ kind: isDegraded ? 'degraded' : 'no_longer_degraded' });
  }

  #log(event: CheckEvent): void {
    this.#options.log?.(event);
  }

  #intervalMs(hasPassed: boolean, isPending: boolean): number {
    const { check } = this.#options;
    const { intervalJitterMs, intervalJitterPercent } = check;
    const baseMs = this.#options.hasTraffic()
      ? trafficIntervalMs(check, hasPassed, isPending)
      : hasPassed && !isPending
        ? check.noTrafficHealthyIntervalMs
        : check.noTrafficIntervalMs;
    const jitterMs = intervalJitterMs + (baseMs * intervalJitterPercent) / 100;
    const { snapshot } = this.#options.runtime;
    const wantedMs = baseMs + Math.floor(Math.random() * jitterMs);
    const mostMs = readInteger(snapshot, 'health_check.max_interval', wantedMs);
    const leastMs = readInteger(snapshot, 'health_check.min_interval', 0);
    return Math.max(Math.min(wantedMs, mostMs), leastMs, 1);
  }

  #count(counter: Counter): void {
    const { writer, base } = this.#options.stats;
    writer.increment(base + HEALTH_CHECK.index[counter]);
  }
}

function failureOf(outcome: Exclude<ProbeOutcome, { kind: 'passed' }>): {
  readonly failureType: CheckFailureType;
  readonly status: number;
} {
  if (outcome.kind === 'failed') return { failureType: 'ACTIVE', status: outcome.status };
  return { failureType: outcome.isTimeout ? 'NETWORK_TIMEOUT' : 'NETWORK', status: 0 };
}

function trafficIntervalMs(
  check: HealthCheckResource,
  hasPassed: boolean,
  isPending: boolean,
): number {
  if (hasPassed) return isPending ? check.healthyEdgeIntervalMs : check.intervalMs;
  return isPending ? check.unhealthyEdgeIntervalMs : check.unhealthyIntervalMs;
}
