/**
 * The gauges of one cluster's circuit breakers: read from the page that all workers count in,
 * whenever somebody is about to read statistics. Nobody else writes them.
 */
import { limitOf, NO_LIMIT, readThresholds } from '../../../shared/limits/breaker-limits.ts';
import {
  type BreakerPage,
  LIMITED_RESOURCES,
  type LimitedResource,
} from '../../../shared/limits/breaker-page.ts';
import type {
  CircuitBreakerThresholds,
  ClusterResource,
} from '../../../shared/resources/clusters/cluster.ts';
import type { RuntimeSnapshot } from '../../../shared/resources/runtime.ts';
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import {
  CIRCUIT_BREAKER,
  CIRCUIT_BREAKER_REMAINING,
  CIRCUIT_BREAKERS,
  CLUSTER,
} from '../../../shared/stats/templates/cluster.ts';
import type { SlotPair } from './breaker-slots.ts';

type Priority = 'DEFAULT' | 'HIGH';

const PRIORITIES = ['DEFAULT', 'HIGH'] as const;
const LOWER = { DEFAULT: 'default', HIGH: 'high' } as const;
const OPEN: Readonly<Record<LimitedResource, number>> = {
  connections: CIRCUIT_BREAKER.cx_open,
  pendingRequests: CIRCUIT_BREAKER.rq_pending_open,
  requests: CIRCUIT_BREAKER.rq_open,
  retries: CIRCUIT_BREAKER.rq_retry_open,
  pools: CIRCUIT_BREAKER.cx_pool_open,
};
const { index: remainingIndex } = CIRCUIT_BREAKER_REMAINING;
const REMAINING: Readonly<Record<LimitedResource, number>> = {
  connections: remainingIndex.remaining_cx,
  pendingRequests: remainingIndex.remaining_pending,
  requests: remainingIndex.remaining_rq,
  retries: remainingIndex.remaining_retries,
  pools: remainingIndex.remaining_cx_pools,
};

export interface BreakerGaugesParts {
  readonly resource: ClusterResource;
  readonly writer: StatWriter;
  readonly page: BreakerPage;
  /** Undefined: nothing is known of this cluster's workers. */
  readonly slots: SlotPair | undefined;
  runtime(): RuntimeSnapshot;
}

export class BreakerGauges {
  readonly #parts: BreakerGaugesParts;
  readonly #block: number;
  readonly #remaining: Partial<Record<Priority, number>> = {};
  /** What the thresholds were read with. */
  #runtime: RuntimeSnapshot | undefined;
  #inForce: Readonly<Record<Priority, CircuitBreakerThresholds>>;
  /** Workers that were sent a budget's limit were told that it changes. */
  #wasBudgetAsked = false;
  #showsOnlyUse = false;

  constructor(parts: BreakerGaugesParts) {
    const { resource, writer } = parts;
    const prefix = `cluster.${resource.statName}.`;
    this.#parts = parts;
    this.#inForce = resource.circuitBreakers;
    this.#block = writer.defineBlock(CLUSTER, prefix);
    for (const priority of PRIORITIES) {
      if (resource.circuitBreakers[priority].trackRemaining !== true) continue;
      this.#remaining[priority] = writer.defineBlock(
        CIRCUIT_BREAKER_REMAINING,
        `${prefix}circuit_breakers.${LOWER[priority]}.`,
      );
    }
    this.refresh();
  }

  /** Where workers count what the cluster has open. */
  get slots(): SlotPair | undefined {
    return this.#parts.slots;
  }

  /** Without any use there is nothing to show, as far as the last refresh knows. */
  get showsOnlyUse(): boolean {
    return this.#showsOnlyUse;
  }

  /** The thresholds in force; a budget of retries is what it allows now. */
  thresholds(): Readonly<Record<Priority, CircuitBreakerThresholds>> {
    this.#followRuntime();
    this.#wasBudgetAsked = true;
    const { page, slots } = this.#parts;
    const now = (priority: Priority): CircuitBreakerThresholds => {
      const thresholds = this.#inForce[priority];
      if (thresholds.retryBudget === undefined || slots === undefined) return thresholds;
      const maxRetries = limitOf(thresholds, 'retries', { page, slot: slots[priority] });
      return { ...thresholds, maxRetries };
    };
    return { DEFAULT: now('DEFAULT'), HIGH: now('HIGH') };
  }

  refresh(): void {
    this.#followRuntime();
    if (this.#showsOnlyUse && !this.#isUsed()) return;
    for (const priority of PRIORITIES) {
      for (const resource of LIMITED_RESOURCES) this.#show(priority, resource);
    }
  }

  release(): void {
    const { writer } = this.#parts;
    writer.releaseBlock(this.#block);
    for (const block of Object.values(this.#remaining)) writer.releaseBlock(block);
  }

  /** Reads the thresholds again where runtime values changed. */
  #followRuntime(): void {
    const runtime = this.#parts.runtime();
    if (runtime === this.#runtime) return;
    this.#runtime = runtime;
    const inForce = {
      DEFAULT: this.#thresholds('DEFAULT', runtime),
      HIGH: this.#thresholds('HIGH', runtime),
    };
    this.#inForce = inForce;
    this.#showsOnlyUse =
      Object.keys(this.#remaining).length === 0 && PRIORITIES.every((one) => hasRoom(inForce[one]));
  }

  #thresholds(priority: Priority, runtime: RuntimeSnapshot): CircuitBreakerThresholds {
    const { resource } = this.#parts;
    const own = { cluster: resource.name, priority };
    return readThresholds(resource.circuitBreakers[priority], own, runtime);
  }

  #isUsed(): boolean {
    const { page, slots } = this.#parts;
    if (slots === undefined) return false;
    return page.wasAnyUsed(slots.DEFAULT) || page.wasAnyUsed(slots.HIGH);
  }

  /**
   * A breaker that was never used stays untouched, and what is left of it is what the configuration
   * says. As in Envoy a budget of retries opens no breaker, the limit without it does; nothing is
   * left of a budget once anybody asked for it.
   */
  #show(priority: Priority, resource: LimitedResource): void {
    const { page, slots, writer, resource: cluster } = this.#parts;
    const slot = slots?.[priority];
    const wasUsed = slot !== undefined && page.wasUsed(slot, resource);
    const thresholds = wasUsed ? this.#inForce[priority] : cluster.circuitBreakers[priority];
    const isRetries = resource === 'retries';
    const limit = isRetries
      ? thresholds.maxRetries
      : limitOf(thresholds, resource, { page, slot: slot ?? 0 });
    const open = wasUsed ? page.count(slot, resource) : 0;
    if (wasUsed) {
      const gauge = this.#block + CIRCUIT_BREAKERS[LOWER[priority]] + OPEN[resource];
      writer.setGauge(gauge, open >= limit ? 1 : 0);
    }
    const remaining = this.#remaining[priority];
    if (remaining === undefined) return;
    const wasAsked = wasUsed || this.#wasBudgetAsked;
    const isSpent = isRetries && thresholds.retryBudget !== undefined && wasAsked;
    writer.setGauge(remaining + REMAINING[resource], isSpent ? 0 : leftOf(limit, open));
  }
}

/** Without a limit Envoy counts down from 2^64 - 1, which is -1 to the statistics. */
function leftOf(limit: number, open: number): number {
  return limit === NO_LIMIT ? -1 - open : Math.max(0, limit - open);
}

/** Whether no breaker is open from the beginning. */
function hasRoom(thresholds: CircuitBreakerThresholds): boolean {
  const { maxConnections, maxPendingRequests, maxRequests, maxRetries } = thresholds;
  const { maxConnectionPools = 1 } = thresholds;
  return (
    Math.min(maxConnections, maxPendingRequests, maxRequests, maxRetries, maxConnectionPools) > 0
  );
}
