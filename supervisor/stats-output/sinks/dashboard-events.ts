/**
 * The two server-sent events per cluster, with the field names and the order of fields that the
 * dashboard's readers know. Fields without a meaning in a proxy have fixed values.
 */
import type { BucketCounts } from '../../stats/bucket-counts.ts';
import type { DashboardCluster } from './dashboard-sink.ts';

export interface ClusterStatValues {
  readonly cluster: DashboardCluster;
  readonly unixSeconds: number;
  readonly intervalMs: number;
  /** Over the rolling window. */
  readonly errors: number;
  readonly successes: number;
  readonly timeouts: number;
  readonly rejected: number;
  readonly active: number;
  readonly pending: number;
  readonly hosts: number;
  /** Request times of the last interval. */
  readonly latency: BucketCounts | undefined;
}

type Field = readonly [name: string, value: string | number | boolean];

const LATENCY_PERCENTILES = [0, 25, 50, 75, 90, 95, 99, 99.5, 100];

export function commandEvent(figures: ClusterStatValues): string {
  const { cluster, errors, successes, timeouts, rejected } = figures;
  const failed = errors + timeouts + rejected;
  const total = failed + successes;
  const window = figures.intervalMs;
  const fields: readonly Field[] = [
    ['type', 'HystrixCommand'],
    ['name', cluster.name],
    ['group', 'NA'],
    ['currentTime', figures.unixSeconds],
    ['isCircuitBreakerOpen', false],
    ['errorPercentage', total === 0 ? 0 : Math.floor((failed * 100) / total)],
    ['errorCount', failed],
    ['requestCount', total],
    ['rollingCountCollapsedRequests', 0],
    ['rollingCountExceptionsThrown', 0],
    ['rollingCountFailure', errors],
    ['rollingCountFallbackFailure', 0],
    ['rollingCountFallbackRejection', 0],
    ['rollingCountFallbackSuccess', 0],
    ['rollingCountResponsesFromCache', 0],
    ['rollingCountSemaphoreRejected', 0],
    ['rollingCountShortCircuited', 0],
    ['rollingCountSuccess', successes],
    ['rollingCountThreadPoolRejected', rejected],
    ['rollingCountTimeout', timeouts],
    ['rollingCountBadRequests', 0],
    ['currentConcurrentExecutionCount', figures.active],
    // A text, as readers get it from Envoy.
    ['latencyExecute_mean', 'null'],
  ];
  const settings: readonly Field[] = [
    ['propertyValue_circuitBreakerRequestVolumeThreshold', 0],
    ['propertyValue_circuitBreakerSleepWindowInMilliseconds', 0],
    ['propertyValue_circuitBreakerErrorThresholdPercentage', 0],
    ['propertyValue_circuitBreakerForceOpen', false],
    ['propertyValue_circuitBreakerForceClosed', true],
    ['propertyValue_executionIsolationStrategy', 'SEMAPHORE'],
    ['propertyValue_executionIsolationThreadTimeoutInMilliseconds', 0],
    ['propertyValue_executionIsolationThreadInterruptOnTimeout', false],
    ['propertyValue_executionIsolationSemaphoreMaxConcurrentRequests', cluster.maxRequests],
    ['propertyValue_fallbackIsolationSemaphoreMaxConcurrentRequests', 0],
    ['propertyValue_requestCacheEnabled', false],
    ['propertyValue_requestLogEnabled', true],
    ['reportingHosts', figures.hosts],
    ['propertyValue_metricsRollingStatisticalWindowInMilliseconds', window],
  ];
  const latency = `"latencyExecute": {${latencyText(figures.latency)}}`;
  return `data: {${fieldsText(fields)}, ${latency}, ${fieldsText(settings)}}\n\n`;
}

export function poolEvent({ cluster, pending, hosts, intervalMs }: ClusterStatValues): string {
  return `data: {${fieldsText([
    ['currentPoolSize', 0],
    ['rollingMaxActiveThreads', 0],
    ['currentActiveCount', 0],
    ['currentCompletedTaskCount', 0],
    ['propertyValue_queueSizeRejectionThreshold', cluster.maxPendingRequests],
    ['type', 'HystrixThreadPool'],
    ['reportingHosts', hosts],
    ['propertyValue_metricsRollingStatisticalWindowInMilliseconds', intervalMs],
    ['name', cluster.name],
    ['currentLargestPoolSize', 0],
    ['currentCorePoolSize', 0],
    ['currentQueueSize', pending],
    ['currentTaskCount', 0],
    ['rollingCountThreadsExecuted', 0],
    ['currentMaximumPoolSize', 0],
  ])}}\n\n`;
}

function latencyText(latency: BucketCounts | undefined): string {
  if (latency === undefined || latency.total === 0) return '';
  const values = latency.quantiles(LATENCY_PERCENTILES.map((percent) => percent / 100));
  return LATENCY_PERCENTILES.map(
    (percent, position) => `"${percent}": ${(values[position] ?? 0).toFixed(6)}`,
  ).join(', ');
}

function fieldsText(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `"${name}": ${JSON.stringify(value)}`).join(', ');
}
