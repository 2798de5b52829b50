/**
 * The cluster's ledger: what requests and their attempts add to the statistics of a cluster and of
 * its hosts, to outlier detection and to reported loads. Keeps nothing: it counts at the cluster of
 * each request that it is given. What of requests a pool has waiting or open is the pool's to count.
 */
import { CLUSTER, HOST } from '../../../shared/stats/templates/cluster.ts';
import {
  REQUEST_RESPONSE_SIZES,
  TIMEOUT_BUDGETS,
} from '../../../shared/stats/templates/cluster-features.ts';
import type { LoopClock } from '../../loop/loop-clock.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { AttemptLedger } from '../../stream/request-ledger.ts';
import { isGrpcContentType } from '../../stream/grpc-status.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { ClusterStats } from '../../upstream/cluster-stats.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { readLoadReport } from '../../upstream/load-reports/load-report.ts';
import { httpStatusOfGrpc, isGrpcSuccess } from '../retry/grpc-outcome.ts';
import type { CountedAttempt, RoutedRequest } from './routed-request.ts';

const { index } = CLUSTER;
const SIZES = REQUEST_RESPONSE_SIZES.index;
const BUDGETS = TIMEOUT_BUDGETS.index;
const CHUNKED_BYTES = 'transfer-encoding'.length + 'chunked'.length;
const DEGRADED = 'x-envoy-degraded';
/** What a host is blamed for where an attempt failed and another follows. */
const FAILED_ATTEMPT = 503;

const RETRIES = {
  retry: index.upstream_rq_retry,
  limit: index.upstream_rq_retry_limit_exceeded,
  overflow: index.upstream_rq_retry_overflow,
  success: index.upstream_rq_retry_success,
} as const;
const BACK_OFFS = {
  exponential: index.upstream_rq_retry_backoff_exponential,
  rateLimited: index.upstream_rq_retry_backoff_ratelimited,
} as const;

export type RetryEvent = keyof typeof RETRIES;

class ClusterLedger implements AttemptLedger<RoutedRequest, UpstreamHost> {
  routed(request: RoutedRequest): void {
    request.isHolding = true;
    request.cluster.retained.hold();
  }

  attempted(_: RoutedRequest, host: UpstreamHost): void {
    host.outlier?.connected();
  }

  /** A response, or an answer made here for want of one. */
  answered(request: RoutedRequest, status: number): void {
    request.cluster.stats.answers.charge(status, request);
    request.alternative?.charge(status, request);
  }

  /** The host's response is the one that is passed on; `isWhole`: nothing follows its headers. */
  hostAnswered(
    request: RoutedRequest,
    host: UpstreamHost,
    headers: HeaderMap,
    isWhole: boolean,
  ): void {
    const { cluster } = request;
    noteAnswer(host, headers);
    noteLoad(cluster, host, headers);
    const isCall = isGrpcContentType(request.info.requestHeaders?.get('content-type'));
    if (headers.status >= 500) countHost(cluster, host, 'rq_error');
    else if (!isCall) countHost(cluster, host, 'rq_success');
    else if (isWhole) countCall(cluster, host, headers);
    else request.calledHost = host;
  }

  /** The end of the response came. */
  responseEnded(request: RoutedRequest, trailers: HeaderMap | undefined): void {
    const { calledHost } = request;
    if (calledHost !== undefined) countCall(request.cluster, calledHost, trailers);
    request.calledHost = undefined;
  }

  /** The response that was passed on broke off. */
  reset(request: RoutedRequest): void {
    if (request.calledHost !== undefined) {
      countHost(request.cluster, request.calledHost, 'rq_error');
    }
    request.calledHost = undefined;
  }

  /** Request and response are complete: `tookMs` lies between their ends, of at most `limitMs`. */
  ended(request: RoutedRequest, tookMs: number, limitMs = 0): void {
    const { stats } = request.cluster;
    stats.answers.recordTime(tookMs, request);
    request.alternative?.recordTime(tookMs, request);
    const { writer, budgetsBase } = stats;
    if (budgetsBase === undefined) return;
    const share = shareOf(limitMs, tookMs);
    writer.record(budgetsBase + BUDGETS.upstream_rq_timeout_budget_percent_used, share);
  }

  /** Nothing is counted for the request any more. */
  released(request: RoutedRequest): void {
    if (request.isHolding) request.cluster.retained.letGo();
    request.isHolding = false;
  }

  /** An attempt failed without an answer; this side says `status` for it. */
  attemptFailed(
    { cluster }: RoutedRequest,
    attempt: CountedAttempt,
    status = FAILED_ATTEMPT,
  ): void {
    if (!attempt.hasTriedHost) return;
    countHost(cluster, attempt.host, 'rq_error');
    attempt.host.outlier?.note(-status);
  }

  /** A response that another attempt takes the place of. */
  answerDiscarded({ cluster }: RoutedRequest, host: UpstreamHost, headers: HeaderMap): void {
    countHost(cluster, host, 'rq_error');
    noteAnswer(host, headers);
  }

  /** The response was retried for its status. */
  answerRetried({ cluster }: RoutedRequest, status: number): void {
    cluster.stats.retried.charge(status);
  }

  attemptTimedOut(
    { cluster }: RoutedRequest,
    attempt: CountedAttempt,
    limit: 'response' | 'whole' | 'idle',
  ): void {
    if (limit === 'response') count(cluster, index.upstream_rq_timeout);
    else if (limit === 'whole') count(cluster, index.upstream_rq_per_try_timeout);
    else count(cluster, index.upstream_rq_per_try_idle_timeout);
    if (attempt.hasTriedHost) countHost(cluster, attempt.host, 'rq_timeout');
  }

  /** A stream was older than the cluster allows. */
  outlived({ cluster }: RoutedRequest): void {
    count(cluster, index.upstream_rq_max_duration_reached);
  }

  noHost({ cluster }: RoutedRequest): void {
    count(cluster, index.upstream_cx_none_healthy);
  }

  /** The body was too long to be kept for further attempts. */
  retryAbandoned({ cluster }: RoutedRequest): void {
    count(cluster, index.retry_or_shadow_abandoned);
  }

  retries(cluster: UpstreamCluster, event: RetryEvent): void {
    count(cluster, RETRIES[event]);
  }

  backedOff(cluster: UpstreamCluster, how: keyof typeof BACK_OFFS): void {
    count(cluster, BACK_OFFS[how]);
  }

  redirected(cluster: UpstreamCluster, isFollowed: boolean): void {
    count(
      cluster,
      isFollowed
        ? index.upstream_internal_redirect_succeeded_total
        : index.upstream_internal_redirect_failed_total,
    );
  }

  /** The request's body waits for the host, or goes on. */
  requestPaused({ cluster }: RoutedRequest, paused: boolean): void {
    count(
      cluster,
      paused
        ? index.upstream_flow_control_backed_up_total
        : index.upstream_flow_control_drained_total,
    );
  }

  /** The response waits for whom it is for, or goes on. */
  responsePaused({ cluster }: RoutedRequest, paused: boolean): void {
    count(
      cluster,
      paused
        ? index.upstream_flow_control_paused_reading_total
        : index.upstream_flow_control_resumed_reading_total,
    );
  }
}

/** The one ledger of all clusters: what differs between them comes with each request. */
export const clusterLedger = new ClusterLedger();

/**
 * The sizes of one attempt's messages and the share of its time that it used, for clusters that
 * want to know (`track_cluster_stats`).
 */
export class AttemptMeter {
  readonly #stats: ClusterStats;
  readonly #perTryMs: number;
  readonly #clock: LoopClock;
  readonly #startMs: number;
  #bytesSent = 0;
  #bytesReceived = 0;
  #hasResponse = false;

  private constructor(stats: ClusterStats, perTryMs: number, clock: LoopClock) {
    this.#stats = stats;
    this.#perTryMs = perTryMs;
    this.#clock = clock;
    this.#startMs = clock.ms;
  }

  /** Undefined for a cluster that does not want to know. */
  static of(stats: ClusterStats, perTryMs: number, clock: LoopClock): AttemptMeter | undefined {
    if (stats.sizesBase === undefined && stats.budgetsBase === undefined) return undefined;
    return new AttemptMeter(stats, perTryMs, clock);
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

  /** The attempt is over; `request` as it was sent. */
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

/** In percent, whole; 0 where there is no limit. */
function shareOf(limitMs: number, tookMs: number): number {
  return limitMs === 0 ? 0 : Math.floor((tookMs * 100) / limitMs);
}

/** What a response says of its host: whether it is well, or degraded by its own word. */
function noteAnswer({ outlier }: UpstreamHost, headers: HeaderMap): void {
  if (outlier === undefined) return;
  const status = httpStatusOfGrpc(headers) ?? headers.status;
  outlier.note(status);
  if (status < 500 && headers.has(DEGRADED)) outlier.degraded();
}

/** What a response says of its host's load, where the balancer wants to know. */
function noteLoad(cluster: UpstreamCluster, host: UpstreamHost, headers: HeaderMap): void {
  const { reportedLoad, reportedUse } = host;
  if (reportedLoad === undefined && reportedUse === undefined) return;
  const report = readLoadReport(headers);
  if (report === undefined) return;
  if (reportedLoad !== undefined) {
    reportedLoad.note(report, cluster.loop.clock.ms);
    (host.home ?? cluster).loadNoted(host);
  }
  reportedUse?.note(report, cluster.loop.clock.ms);
}

/** A gRPC call says at its end what came of it. */
function countCall(cluster: UpstreamCluster, host: UpstreamHost, end: HeaderMap | undefined): void {
  const isGood = end !== undefined && isGrpcSuccess(end);
  countHost(cluster, host, isGood ? 'rq_success' : 'rq_error');
}

function countHost(
  cluster: UpstreamCluster,
  host: UpstreamHost,
  what: 'rq_error' | 'rq_success' | 'rq_timeout',
): void {
  cluster.stats.writer.increment(host.statBase + HOST.index[what]);
}

function count(cluster: UpstreamCluster, offset: number): void {
  cluster.stats.writer.increment(cluster.stats.base + offset);
}
