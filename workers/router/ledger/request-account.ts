/**
 * What one request adds to the figures of its cluster and of the hosts that it tried: codes, times
 * and timeouts. Holds the cluster while the request lasts, so that its figures stay.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { ROUTER } from '../../../shared/stats/templates/http-connection-manager.ts';
import { VIRTUAL_CLUSTER } from '../../../shared/stats/templates/cluster-features.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { AnswerStats } from '../../upstream/answer-stats.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { isGrpcContentType } from '../../substitution/grpc-status.ts';
import { countFailure, countHost, noteAnswer, noteLoad } from './cluster-account.ts';
import { isGrpcSuccess } from '../retry/grpc-outcome.ts';
import type { RouterStats } from './router-stats.ts';
import { recordBudget } from '../attempt/attempt-stats.ts';
import type { PerTryTimeout, UpstreamRequest } from '../attempt/upstream-request.ts';

const { index } = CLUSTER;
const VIRTUAL = VIRTUAL_CLUSTER.index;
const RESET_AFTER_RESPONSE = ROUTER.index.rq_reset_after_downstream_response_started;

export class RequestAccount {
  readonly cluster: UpstreamCluster;
  readonly #stats: RouterStats;
  readonly #info: StreamInfo;
  #isCanary = false;
  /** Of a gRPC call whose end has not come. */
  #calledHost: UpstreamHost | undefined = undefined;
  #isHolding = true;
  readonly #alternative: AnswerStats | undefined;

  constructor(cluster: UpstreamCluster, stats: RouterStats, info: StreamInfo) {
    this.cluster = cluster;
    this.#stats = stats;
    this.#info = info;
    this.#alternative = alternativeOf(cluster, info);
    cluster.retained.hold();
  }

  /** The request is over; nothing is counted behind this. */
  close(): void {
    if (this.#isHolding) this.cluster.retained.letGo();
    this.#isHolding = false;
  }

  /** The request's body waits for the upstream, or goes on. */
  requestPaused(paused: boolean): void {
    this.#count(
      paused
        ? index.upstream_flow_control_backed_up_total
        : index.upstream_flow_control_drained_total,
    );
  }

  /** The response waits for the client, or goes on. */
  responsePaused(paused: boolean): void {
    this.#count(
      paused
        ? index.upstream_flow_control_paused_reading_total
        : index.upstream_flow_control_resumed_reading_total,
    );
  }

  /** A try got its connection. */
  connected({ host }: UpstreamRequest): void {
    host.outlier?.connected();
    this.#stats.countVirtual(this.#info, VIRTUAL.upstream_rq_total);
  }

  informational(status: number): void {
    this.#charge(status, false);
  }

  /** The response that the client gets; `isWhole`: there is nothing behind its headers. */
  answered({ host }: UpstreamRequest, headers: HeaderMap, isWhole: boolean): void {
    this.#isCanary = headers.get('x-envoy-upstream-canary') === 'true' || host.resource.canary;
    this.#charge(headers.status, this.#isCanary);
    noteAnswer(host, headers);
    noteLoad(this.cluster, host, headers);
    const isCall = isGrpcContentType(this.#info.requestHeaders?.get('content-type'));
    if (headers.status >= 500) countHost(this.cluster, host, 'rq_error');
    else if (!isCall) countHost(this.cluster, host, 'rq_success');
    else if (isWhole) this.#countCall(host, headers);
    else this.#calledHost = host;
  }

  /** The response that was passed on is complete. */
  ended(trailers: HeaderMap | undefined): void {
    if (this.#calledHost !== undefined) this.#countCall(this.#calledHost, trailers);
    this.#calledHost = undefined;
  }

  /** The response that was passed on broke off. */
  cutOff(): void {
    if (this.#calledHost === undefined) return;
    countHost(this.cluster, this.#calledHost, 'rq_error');
    this.#calledHost = undefined;
    this.#stats.count(RESET_AFTER_RESPONSE);
  }

  /** Request and response are complete; `tookMs` lies between their ends, of at most `globalMs`. */
  completed(tookMs: number, globalMs: number): void {
    this.#stats.chargeTime(this.#answer(this.#isCanary), tookMs);
    recordBudget(this.cluster.stats, globalMs, tookMs);
  }

  /** A response that another try takes the place of. */
  discarded({ host }: UpstreamRequest, headers: HeaderMap): void {
    countHost(this.cluster, host, 'rq_error');
    noteAnswer(host, headers);
  }

  /** A try failed without a response, and another follows. */
  retried(upstream: UpstreamRequest): void {
    if (upstream.hasTriedHost) countFailure(this.cluster, upstream.host, 503);
  }

  /** A try is over without a response: counts what the client is told for it. */
  aborted(upstream: UpstreamRequest, status: number): void {
    if (upstream.hasTriedHost) countFailure(this.cluster, upstream.host, status);
    this.#charge(status, false);
  }

  tryTimedOut(upstream: UpstreamRequest, kind: PerTryTimeout): void {
    this.#count(
      kind === 'whole' ? index.upstream_rq_per_try_timeout : index.upstream_rq_per_try_idle_timeout,
    );
    if (upstream.hasTriedHost) countHost(this.cluster, upstream.host, 'rq_timeout');
  }

  /** The whole answer took too long; the client is told `status` where none has begun. */
  timedOut(upstream: UpstreamRequest, status: number): void {
    this.#count(index.upstream_rq_timeout);
    this.#stats.countVirtual(this.#info, VIRTUAL.upstream_rq_timeout);
    if (upstream.hasTriedHost) countHost(this.cluster, upstream.host, 'rq_timeout');
    if (upstream.isAwaitingHeaders) this.aborted(upstream, status);
  }

  /** No host was there for a try. `isCounted`: in the cluster too. */
  noHost(isCounted: boolean): void {
    if (isCounted) this.#count(index.upstream_cx_none_healthy);
    this.#charge(503, false);
  }

  /** The cluster is spared the request. */
  dropped(): void {
    this.#charge(503, false);
  }

  /** The body was too long to be kept for further tries. */
  retryAbandoned(): void {
    this.#count(index.retry_or_shadow_abandoned);
  }

  /** A gRPC call says at its end what came of it. */
  #countCall(host: UpstreamHost, end: HeaderMap | undefined): void {
    const isGood = end !== undefined && isGrpcSuccess(end);
    countHost(this.cluster, host, isGood ? 'rq_success' : 'rq_error');
  }

  #charge(status: number, isCanary: boolean): void {
    this.#stats.chargeCode(this.#answer(isCanary), status);
  }

  #answer(isCanary: boolean): Parameters<RouterStats['chargeCode']>[0] {
    return { cluster: this.cluster, info: this.#info, isCanary, alternative: this.#alternative };
  }

  #count(offset: number): void {
    const { stats } = this.cluster;
    stats.writer.increment(stats.base + offset);
  }
}

/** Internal clients may name where their answers are counted, too. */
function alternativeOf(cluster: UpstreamCluster, info: StreamInfo): AnswerStats | undefined {
  if (!info.isInternalRequest) return undefined;
  const name = info.requestHeaders?.get('x-envoy-upstream-alt-stat-name') ?? '';
  return name === '' ? undefined : cluster.stats.alternative(name);
}
