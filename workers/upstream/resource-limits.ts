/**
 * Circuit breakers: how much a cluster may have open at a time, per priority. The interface is what
 * the router and the pools ask; the implementation here counts within one worker.
 */
import type { CircuitBreakerThresholds } from '../../shared/resources/cluster.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import {
  CIRCUIT_BREAKER,
  CIRCUIT_BREAKER_REMAINING,
} from '../../shared/stats/templates/cluster.ts';

export type LimitedResource = 'connections' | 'pendingRequests' | 'requests' | 'retries' | 'pools';

export interface ResourceLimits {
  /** True when one more may be opened. */
  canOpen(resource: LimitedResource): boolean;
  /** Counts one more, even beyond the limit: the caller asked `canOpen` or has a reason not to. */
  open(resource: LimitedResource): void;
  /** Counts one more when it may be opened; false when not. */
  tryOpen(resource: LimitedResource): boolean;
  close(resource: LimitedResource): void;
}

export interface BreakerStats {
  readonly stats: StatWriter;
  /** Index of the priority's first breaker gauge. */
  readonly base: number;
  /** Base of the block of remaining figures, when they are tracked. */
  readonly remainingBase: number | undefined;
}

interface Gate {
  readonly limit: number;
  readonly openGauge: number;
  readonly remainingGauge: number | undefined;
  count: number;
  /** Undefined until the gauge was set for the first time: an unused breaker's stays untouched. */
  isFull: boolean | undefined;
}

/** More than any limit that is not meant as one. */
const NO_LIMIT = 0xffff_ffff;

export class LocalResourceLimits implements ResourceLimits {
  readonly #stats: StatWriter;
  readonly #retryBudget: CircuitBreakerThresholds['retryBudget'];
  readonly #gates: Readonly<Record<LimitedResource, Gate>>;

  constructor(thresholds: CircuitBreakerThresholds, breaker: BreakerStats) {
    this.#stats = breaker.stats;
    this.#retryBudget = thresholds.retryBudget;
    const gate = (
      limit: number,
      open: keyof typeof CIRCUIT_BREAKER,
      remaining: keyof typeof CIRCUIT_BREAKER_REMAINING.index,
    ): Gate => ({
      limit,
      openGauge: breaker.base + CIRCUIT_BREAKER[open],
      remainingGauge:
        breaker.remainingBase === undefined
          ? undefined
          : breaker.remainingBase + CIRCUIT_BREAKER_REMAINING.index[remaining],
      count: 0,
      isFull: limit === 0 ? true : undefined,
    });
    this.#gates = {
      connections: gate(thresholds.maxConnections, 'cx_open', 'remaining_cx'),
      pendingRequests: gate(thresholds.maxPendingRequests, 'rq_pending_open', 'remaining_pending'),
      requests: gate(thresholds.maxRequests, 'rq_open', 'remaining_rq'),
      retries: gate(thresholds.maxRetries, 'rq_retry_open', 'remaining_retries'),
      pools: gate(thresholds.maxConnectionPools ?? NO_LIMIT, 'cx_pool_open', 'remaining_cx_pools'),
    };
    for (const each of Object.values(this.#gates)) {
      if (each.isFull === true) this.#stats.setGauge(each.openGauge, 1);
      this.#showRemaining(each);
    }
  }

  canOpen(resource: LimitedResource): boolean {
    const gate = this.#gates[resource];
    return gate.count < (resource === 'retries' ? this.#retryLimit(gate) : gate.limit);
  }

  tryOpen(resource: LimitedResource): boolean {
    if (!this.canOpen(resource)) return false;
    this.open(resource);
    return true;
  }

  open(resource: LimitedResource): void {
    const gate = this.#gates[resource];
    gate.count++;
    this.#changed(gate);
  }

  close(resource: LimitedResource): void {
    const gate = this.#gates[resource];
    gate.count--;
    this.#changed(gate);
  }

  /** With a budget: a share of the requests that are open or wait, but never below a minimum. */
  #retryLimit(gate: Gate): number {
    if (this.#retryBudget === undefined) return gate.limit;
    const { budgetPercent, minRetryConcurrency } = this.#retryBudget;
    const active = this.#gates.requests.count + this.#gates.pendingRequests.count;
    return Math.max(Math.floor((active * budgetPercent) / 100), minRetryConcurrency);
  }

  #changed(gate: Gate): void {
    const isFull = gate.count >= gate.limit;
    if (isFull !== gate.isFull) {
      gate.isFull = isFull;
      this.#stats.setGauge(gate.openGauge, isFull ? 1 : 0);
    }
    this.#showRemaining(gate);
  }

  /** Without a limit the reference counts down from 2^64 - 1, which is -1 to the statistics. */
  #showRemaining({ remainingGauge, limit, count }: Gate): void {
    if (remainingGauge === undefined) return;
    const remaining = limit === NO_LIMIT ? -1 - count : Math.max(0, limit - count);
    this.#stats.setGauge(remainingGauge, remaining);
  }
}
