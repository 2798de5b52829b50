/** Resolves circuit breaker thresholds with the API's defaults. */
import type {
  CircuitBreakers,
  CircuitBreakers_Thresholds as ThresholdsMessage,
} from '../../../shared/api/generated/envoy/config/cluster/v3/circuit_breaker.ts';
import type {
  CircuitBreakerThresholds,
  ClusterResource,
} from '../../../shared/resources/clusters/cluster.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { float, optional } from '../values.ts';

const FIELDS = knownFields<CircuitBreakers>(['thresholds', 'per_host_thresholds']);
const THRESHOLD_FIELDS = knownFields<ThresholdsMessage>([
  'priority',
  'max_connections',
  'max_pending_requests',
  'max_requests',
  'max_retries',
  'retry_budget',
  'track_remaining',
  'max_connection_pools',
]);
const PER_HOST_FIELDS = knownFields<ThresholdsMessage>(
  ['priority', 'max_connections'],
  ['track_remaining'],
);

const DEFAULTS: CircuitBreakerThresholds = {
  maxConnections: 1024,
  maxPendingRequests: 1024,
  maxRequests: 1024,
  maxRetries: 3,
};

export function resolveCircuitBreakers(
  message: CircuitBreakers | undefined,
  scope: Scope,
): Pick<ClusterResource, 'circuitBreakers'> {
  const thresholds = message?.thresholds ?? [];
  if (message !== undefined) refuseOtherFields(message, FIELDS, scope);
  const perHost = message?.per_host_thresholds ?? [];
  perHost.forEach((entry, index) => {
    refuseOtherFields(entry, PER_HOST_FIELDS, scope.at('per_host_thresholds', index));
  });
  const of = (priority: 'DEFAULT' | 'HIGH'): CircuitBreakerThresholds => {
    // The first entry of a priority counts.
    const index = thresholds.findIndex((entry) => (entry.priority ?? 'DEFAULT') === priority);
    const entry = thresholds[index];
    const own = perHost.find((each) => (each.priority ?? 'DEFAULT') === priority)?.max_connections;
    return {
      ...(entry === undefined ? DEFAULTS : resolveOne(entry, scope.at('thresholds', index))),
      ...optional('maxConnectionsPerHost', own),
    };
  };
  return { circuitBreakers: { DEFAULT: of('DEFAULT'), HIGH: of('HIGH') } };
}

function resolveOne(message: ThresholdsMessage, scope: Scope): CircuitBreakerThresholds {
  refuseOtherFields(message, THRESHOLD_FIELDS, scope);
  const { retry_budget: budget } = message;
  return {
    maxConnections: message.max_connections ?? DEFAULTS.maxConnections,
    maxPendingRequests: message.max_pending_requests ?? DEFAULTS.maxPendingRequests,
    maxRequests: message.max_requests ?? DEFAULTS.maxRequests,
    maxRetries: message.max_retries ?? DEFAULTS.maxRetries,
    ...optional('maxConnectionPools', message.max_connection_pools),
    ...optional('trackRemaining', message.track_remaining),
    ...optional(
      'retryBudget',
      budget === undefined
        ? undefined
        : {
            budgetPercent: float(budget.budget_percent?.value ?? 20),
            minRetryConcurrency: budget.min_retry_concurrency ?? 3,
          },
    ),
  };
}
