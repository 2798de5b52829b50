/**
 * Sizes of one try's request and response and the share of its time that it used, for clusters that
 * want to know (`track_cluster_stats`). Counts what it is told; when a try is over is its owner's
 * word.
 */
import {
  REQUEST_RESPONSE_SIZES,
  TIMEOUT_BUDGETS,
} from '../../../shared/stats/templates/cluster-features.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { ClusterStats } from '../../upstream/cluster-stats.ts';

const SIZES = REQUEST_RESPONSE_SIZES.index;
const CHUNKED_BYTES = 'transfer-encoding'.length + 'chunked'.length;
const BUDGETS = TIMEOUT_BUDGETS.index;

/** The clock of the worker's loop. */
interface LoopTime {
  readonly ms: number;
}

export class AttemptStats {
  readonly #stats: ClusterStats;
  readonly #perTryMs: number;
  readonly #clock: LoopTime;
  readonly #startMs: number;
  #bytesSent = 0;
  #bytesReceived = 0;
  #hasResponse = false;

  private constructor(stats: ClusterStats, perTryMs: number, clock: LoopTime) {
    this.#stats = stats;
    this.#perTryMs = perTryMs;
    this.#clock = clock;
    this.#startMs = clock.ms;
  }

  /** Undefined for a cluster that does not want them. */
  static of(stats: ClusterStats, perTryMs: number, clock: LoopTime): AttemptStats | undefined {
    if (stats.sizesBase === undefined && stats.budgetsBase === undefined) return undefined;
    return new AttemptStats(stats, perTryMs, clock);
  }

  sent(bytes: number): void {
    this.#bytesSent += bytes;
  }

  /** `isChunked`: with a header that says so, which is not among them. */
  responded(headers: HeaderMap, isChunked: boolean): void {
    this.#hasResponse = true;
    const more = isChunked ? CHUNKED_BYTES : 0;
    this.#record(SIZES.upstream_rs_headers_size, headers.byteSize() + more);
    this.#record(SIZES.upstream_rs_headers_count, headers.wholeCount + (isChunked ? 1 : 0));
  }

  received(bytes: number): void {
    this.#bytesReceived += bytes;
  }

  /** `request` as it was sent. */
  ended(request: HeaderMap): void {
    this.#record(SIZES.upstream_rq_headers_size, request.byteSize());
    this.#record(SIZES.upstream_rq_headers_count, request.wholeCount);
    this.#record(SIZES.upstream_rq_body_size, this.#bytesSent);
    if (this.#hasResponse) this.#record(SIZES.upstream_rs_body_size, this.#bytesReceived);
    const { writer, budgetsBase } = this.#stats;
    if (budgetsBase === undefined) return;
    const share = shareOf(this.#perTryMs, this.#clock.ms - this.#startMs);
    writer.record(budgetsBase + BUDGETS.upstream_rq_timeout_budget_per_try_percent_used, share);
  }

  #record(offset: number, value: number): void {
    const { writer, sizesBase } = this.#stats;
    if (sizesBase !== undefined) writer.record(sizesBase + offset, value);
  }
}

/** Records which share of the whole request's time its answer took. */
export function recordBudget(stats: ClusterStats, globalMs: number, tookMs: number): void {
  const { writer, budgetsBase } = stats;
  if (budgetsBase === undefined) return;
  const share = shareOf(globalMs, tookMs);
  writer.record(budgetsBase + BUDGETS.upstream_rq_timeout_budget_percent_used, share);
}

/** In percent, whole; 0 where there is no limit. */
function shareOf(limitMs: number, tookMs: number): number {
  return limitMs === 0 ? 0 : Math.floor((tookMs * 100) / limitMs);
}
