/**
 * How much of each resource a priority of a cluster may have open now: its thresholds, unless the
 * runtime says otherwise. Workers keep the limits, the supervisor shows them.
 */
import type { CircuitBreakerThresholds } from '../resources/clusters/cluster.ts';
import type { RuntimeSnapshot } from '../resources/runtime.ts';
import { readDouble, readInteger } from '../runtime/read-runtime.ts';
import type { BreakerPage, LimitedResource } from './breaker-page.ts';

/** More than any limit that is not meant as one. */
export const NO_LIMIT = 0xffff_ffff;

/** By the names of runtime keys: `circuit_breakers.<cluster>.<priority>.max_connections`. */
export function readThresholds(
  thresholds: CircuitBreakerThresholds,
  { cluster, priority }: { readonly cluster: string; readonly priority: 'DEFAULT' | 'HIGH' },
  snapshot: RuntimeSnapshot,
): CircuitBreakerThresholds {
  if (snapshot.size === 0) return thresholds;
  const prefix = `circuit_breakers.${cluster}.${priority === 'HIGH' ? 'high' : 'default'}.`;
  const read = (key: string, configured: number): number =>
    readInteger(snapshot, prefix + key, configured);
  const pools = read('max_connection_pools', thresholds.maxConnectionPools ?? NO_LIMIT);
  return {
    ...thresholds,
    maxConnections: read('max_connections', thresholds.maxConnections),
    maxPendingRequests: read('max_pending_requests', thresholds.maxPendingRequests),
    maxRequests: read('max_requests', thresholds.maxRequests),
    maxRetries: read('max_retries', thresholds.maxRetries),
    ...(pools === NO_LIMIT ? {} : { maxConnectionPools: pools }),
    ...readBudget(thresholds.retryBudget, `${prefix}retry_budget.`, snapshot),
  };
}

/** A budget is there as soon as the configuration or a key names one. */
function readBudget(
  configured: CircuitBreakerThresholds['retryBudget'],
  prefix: string,
  snapshot: RuntimeSnapshot,
): Pick<CircuitBreakerThresholds, 'retryBudget'> {
  const keys = { percent: `${prefix}budget_percent`, least: `${prefix}min_retry_concurrency` };
  if (configured === undefined && !snapshot.has(keys.percent) && !snapshot.has(keys.least)) {
    return {};
  }
  const { budgetPercent, minRetryConcurrency } = configured ?? BUDGET_DEFAULTS;
  return {
    retryBudget: {
      budgetPercent: readDouble(snapshot, keys.percent, budgetPercent),
      minRetryConcurrency: readInteger(snapshot, keys.least, minRetryConcurrency),
    },
  };
}

const BUDGET_DEFAULTS = { budgetPercent: 20, minRetryConcurrency: 3 };

/**
 * Retries with a budget: a share of the requests that are open or wait, but never below a minimum.
 */
export function limitOf(
  thresholds: CircuitBreakerThresholds,
  resource: LimitedResource,
  open: { readonly page: BreakerPage; readonly slot: number },
): number {
  switch (resource) {
    case 'connections':
      return thresholds.maxConnections;
    case 'pendingRequests':
      return thresholds.maxPendingRequests;
    case 'requests':
      return thresholds.maxRequests;
    case 'pools':
      return thresholds.maxConnectionPools ?? NO_LIMIT;
    case 'retries': {
      if (thresholds.retryBudget === undefined) return thresholds.maxRetries;
      const { budgetPercent, minRetryConcurrency } = thresholds.retryBudget;
      const { page, slot } = open;
      const active = page.count(slot, 'requests') + page.count(slot, 'pendingRequests');
      return Math.max(Math.floor((active * budgetPercent) / 100), minRetryConcurrency);
    }
  }
}
