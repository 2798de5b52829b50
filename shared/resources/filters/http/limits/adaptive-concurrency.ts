/** Settings and stats of envoy.filters.http.adaptive_concurrency. */
import { defineTemplate } from '../../../../stats/template.ts';
import { counter, gauge } from '../../../../stats/templates/spec.ts';
import { declareKind, type FilterResource } from '../../declare-filter.ts';

export interface AdaptiveConcurrencyOptions {
  readonly enabled: { readonly runtimeKey: string; readonly byDefault: boolean };
  readonly limitedStatus: number;
  /** Percent: which of the latencies of a window stands for it. */
  readonly percentile: number;
  readonly maxConcurrency: number;
  readonly updateIntervalMs: number;
  /** Between windows with few requests, in which the latency without load is measured. */
  readonly minRttIntervalMs: number;
  /** Percent by which that interval may be longer. */
  readonly jitter: number;
  readonly requestCount: number;
  readonly minConcurrency: number;
  /** Percent by which latencies may be above the least one without being load. */
  readonly buffer: number;
  /** The latency without load, which is not measured then. */
  readonly fixedRttMs?: number;
}

/** Prefix: `http.<stat_prefix of the manager>.adaptive_concurrency.gradient_controller.` */
export const GRADIENT_CONTROLLER = defineTemplate('gradient_controller', {
  rq_blocked: counter('Requests beyond the limit'),
  burst_queue_size: gauge('Requests that the limit leaves room for beside what it measured'),
  concurrency_limit: gauge('Requests that may be under way'),
  gradient: gauge('The last change of the limit, in thousandths'),
  min_rtt_calculation_active: gauge('Whether the latency without load is being measured'),
  min_rtt_msecs: gauge('The latency without load'),
  sample_rtt_msecs: gauge('The latency of the last window'),
});

export type AdaptiveConcurrencyFilterSettings = FilterResource<
  'adaptive_concurrency',
  AdaptiveConcurrencyOptions
>;

export const ADAPTIVE_CONCURRENCY_DECLARATION =
  declareKind<AdaptiveConcurrencyFilterSettings>(GRADIENT_CONTROLLER);
