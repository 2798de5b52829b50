/**
 * The terminal filter: sends a request to a host of its route's cluster and the response back, or
 * answers itself where the route says so or no host can. One object per request.
 *
 * A request is tried at one host at a time. Where the route hedges, a try that takes too long goes on
 * beside the next one: then `upstream` is the newest and `others` are the rest, and the first good
 * response ends them all.
 */
import { VIRTUAL_CLUSTER } from '../../shared/stats/templates/cluster-features.ts';
import { ROUTER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { ResetReason } from '../http/codec.ts';
import type { TerminalCallbacks, TerminalFilter } from '../http/filter.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { ResponseFlag } from '../http/response-flags.ts';
import { rewriteToHost } from '../routing/host-rewrite.ts';
import { type RequestRetries, takeRequestRetries } from '../routing/retry-policy.ts';
import { type RequestTimeouts, tellExpectedTimeout } from '../routing/timeouts.ts';
import type { ClusterRoute } from '../routing/types.ts';
import { LoopTimer, type TimerOwner } from '../timers.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { UpstreamHost } from '../upstream/host.ts';
import type { UpstreamConnectionFacts } from '../upstream/http-pool.ts';
import type { WorkerLoop } from '../worker-loop.ts';
import { answerRequest } from './answered-requests.ts';
import { finalizeRequest, finalizeResponse, type HeaderOptions } from './envoy-headers.ts';
import {
  countAnswer,
  countBackedUp,
  countHost,
  countNoneHealthy,
  countPausedReading,
  countRetryAbandoned,
  countTimeout,
  countTryTimeout,
} from './cluster-account.ts';
import { answerFailure, answerNoCluster, answerNoRoute, type Failure } from './failures.ts';
import { followRedirect } from './internal-redirect.ts';
import { RequestBalance } from './request-balance.ts';
import { RequestCopy } from './request-copy.ts';
import { type RequestShadows, type ShadowContext, startShadows } from './request-shadow.ts';
import { failureBody, resetDetails, resetWords } from './reset-reasons.ts';
import { type Retrier, startRetrying } from './retrier.ts';
import type { RouterStats } from './router-stats.ts';
import { noteConnection } from './upstream-facts.ts';
import { makeTry } from './make-try.ts';
import { recordBudget } from './try-figures.ts';
import { UpstreamTries } from './upstream-tries.ts';
import type { TryTimeout, UpstreamRequest, UpstreamRequestOwner } from './upstream-request.ts';

const RQ_TOTAL = ROUTER.index.rq_total;
const NO_ROUTE = ROUTER.index.no_route;
const NO_CLUSTER = ROUTER.index.no_cluster;
const VIRTUAL_RQ_TOTAL = VIRTUAL_CLUSTER.index.upstream_rq_total;
const VIRTUAL_RQ_TIMEOUT = VIRTUAL_CLUSTER.index.upstream_rq_timeout;

export interface RouterContext extends HeaderOptions {
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly stats: RouterStats;
  readonly proxy100Continue: boolean;
  readonly shadows: ShadowContext;
  /** Written once per try. */
  readonly upstreamLogs: readonly AccessLog[];
}

export class RouterFilter implements TerminalFilter, UpstreamRequestOwner, TimerOwner {
  private readonly context: RouterContext;
  private readonly callbacks: TerminalCallbacks;
  private route: ClusterRoute | undefined = undefined;
  private cluster: UpstreamCluster | undefined = undefined;
  private readonly tries: UpstreamTries;
  private balance: RequestBalance | undefined = undefined;
  private readonly timeouts: RequestTimeouts = {
    globalMs: 0,
    perTryMs: 0,
    perTryIdleMs: 0,
    hedges: false,
  };
  private timeoutStatus = 504;
  private globalTimer: LoopTimer | undefined = undefined;
  private isCanary = false;
  private isHoldingCluster = false;
  /** There while the request may have to be sent again. */
  private retrier: Retrier | undefined = undefined;
  private isRequestStarted = false;
  /** There while the request may have to be sent again, to a host or to a redirect's target. */
  private copy: RequestCopy | undefined = undefined;
  private shadows: RequestShadows | undefined = undefined;

  constructor(context: RouterContext, callbacks: TerminalCallbacks) {
    this.context = context;
    this.callbacks = callbacks;
    this.tries = new UpstreamTries(callbacks.info, context.loop.clock);
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    const { stats } = this.context;
    const { route } = this.callbacks;
    stats.count(RQ_TOTAL);
    if (route === undefined) {
      stats.count(NO_ROUTE);
      answerNoRoute(this.callbacks);
    } else if (route.kind === 'cluster') this.routeTo(route, headers, endStream);
    else answerRequest(route, headers, this.callbacks, this.context);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (this.copy !== undefined && !this.copy.add(data)) {
      this.copy = undefined;
      if (this.retrier !== undefined) this.abandonRetries(this.retrier);
      if (this.tries.newest === undefined) return;
    }
    this.shadows?.sendData(data, endStream);
    if (endStream) this.onRequestComplete();
    this.tries.newest?.sendData(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    if (this.copy !== undefined) this.copy.trailers = trailers;
    this.shadows?.sendTrailers(trailers);
    this.onRequestComplete();
    this.tries.newest?.sendTrailers(trailers);
  }

  onDownstreamBlocked(blocked: boolean): void {
    const { cluster } = this;
    const upstream = this.tries.newest;
    if (cluster === undefined || upstream === undefined) return;
    countPausedReading(cluster, blocked);
    upstream.pauseResponse(blocked);
  }

  onDestroy(): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    this.tries.cancelOthers();
    this.endRetries();
    this.globalTimer?.disarm();
    this.shadows?.leave();
    if (this.isHoldingCluster) cluster.retained.letGo();
    this.isHoldingCluster = false;
  }

  pauseRequest(paused: boolean): void {
    countBackedUp(this.cluster, paused);
    this.callbacks.pauseRequest(paused);
  }

  onHostTried(upstream: UpstreamRequest): void {
    this.callbacks.info.upstreamHost = upstream.host;
    this.retrier?.state.noteTriedHost(upstream.host);
  }

  onUpstreamConnected(upstream: UpstreamRequest, connection: UpstreamConnectionFacts): void {
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    this.isRequestStarted = true;
    this.context.stats.countVirtual(info, VIRTUAL_RQ_TOTAL);
    noteConnection(info, connection, nowMs);
    if (this.tries.requestDoneMs >= 0) upstream.startTimers();
  }

  onUpstream1xx(headers: HeaderMap): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    this.context.stats.chargeInformational(cluster, this.callbacks.info, headers.status);
    if (this.context.proxy100Continue) this.callbacks.encode1xx(headers);
  }

  onUpstreamHeaders(upstream: UpstreamRequest, headers: HeaderMap, endStream: boolean): void {
    const { cluster, route } = this;
    if (cluster === undefined || route === undefined) return;
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    upstream.log?.responded(headers);
    info.firstUpstreamRxMs = nowMs;
    if (this.retrier !== undefined && this.retriesHeaders(upstream, headers)) return;
    this.endRetries();
    this.tries.cancelOthers(upstream);
    if (this.followsRedirect(cluster, route, headers)) return;
    this.isCanary =
      headers.get('x-envoy-upstream-canary') === 'true' || upstream.host.resource.canary;
    this.context.stats.chargeCode(cluster, info, headers.status, this.isCanary);
    countAnswer(cluster, upstream.host, headers.status);
    const { requestDoneMs } = this.tries;
    const serviceMs = requestDoneMs >= 0 ? Math.round(nowMs - requestDoneMs) : undefined;
    this.balance?.addCookies(headers);
    finalizeResponse(route, headers, this.context, { info, serviceMs });
    if (endStream) this.onUpstreamComplete(upstream);
    this.callbacks.encodeHeaders(headers, endStream);
  }

  onUpstreamData(upstream: UpstreamRequest, data: Buffer, endStream: boolean): void {
    const { info } = this.callbacks;
    upstream.log?.received(data.length);
    if (info.firstUpstreamBodyRxMs < 0) info.firstUpstreamBodyRxMs = this.context.loop.clock.ms;
    if (endStream) this.onUpstreamComplete(upstream);
    this.callbacks.encodeData(data, endStream);
  }

  onUpstreamTrailers(upstream: UpstreamRequest, trailers: HeaderMap): void {
    this.onUpstreamComplete(upstream);
    this.callbacks.encodeTrailers(trailers);
  }

  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason, detail: string): void {
    const { info, isResponseStarted } = this.callbacks;
    const words = resetWords(reason);
    if (detail !== '') info.upstreamTransportFailureReason = detail.replaceAll(' ', '_');
    this.tries.end(upstream, words.flag);
    const details = resetDetails(isResponseStarted, reason, detail);
    if (isResponseStarted) {
      this.globalTimer?.disarm();
      info.responseFlags |= words.flag;
      info.responseCodeDetails = details;
      this.callbacks.resetStream();
      return;
    }
    if (reason === 'no_pool') {
      this.failWithoutHost(this.cluster, false);
      return;
    }
    if (this.retriesReset(upstream, reason)) return;
    this.chargeAbort(upstream, words.status);
    if (this.retrier?.isWaiting === true || !this.tries.isEmpty) return;
    info.responseFlags |= words.flag;
    const body = failureBody(reason, info.attemptCount > 1);
    this.fail({ status: words.status, body, details, isOverload: reason === 'overflow' });
  }

  onTryTimeout(upstream: UpstreamRequest, kind: TryTimeout): void {
    const { cluster } = this;
    if (cluster === undefined || this.callbacks.isResponseStarted) return;
    if (this.timeouts.hedges) {
      this.hedge(upstream);
      return;
    }
    countTryTimeout(cluster, kind);
    if (upstream.hasTriedHost) countHost(cluster, upstream.host, 'rq_timeout');
    this.tries.cancel(upstream);
    if (this.retriesReset(upstream, 'local_reset')) return;
    this.chargeAbort(upstream, this.timeoutStatus);
    const isWhole = kind === 'whole';
    this.failTimeout(isWhole ? 'upstream_per_try_timeout' : 'upstream_per_try_idle_timeout');
  }

  /** The whole answer took too long. */
  onTimer(): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    for (const upstream of this.tries.all()) {
      this.tries.end(upstream, 0);
      if (upstream.isAwaitingHeaders) {
        countTimeout(cluster);
        this.context.stats.countVirtual(this.callbacks.info, VIRTUAL_RQ_TIMEOUT);
        if (upstream.hasTriedHost) countHost(cluster, upstream.host, 'rq_timeout');
        this.chargeAbort(upstream, this.timeoutStatus);
      }
      upstream.cancel();
    }
    this.failTimeout('response_timeout');
  }

  private failTimeout(details: string): void {
    const { info, isResponseStarted } = this.callbacks;
    info.responseFlags |= ResponseFlag.upstreamRequestTimeout;
    if (isResponseStarted) {
      this.globalTimer?.disarm();
      info.responseCodeDetails = details;
      this.callbacks.resetStream();
      return;
    }
    const body = this.timeoutStatus === 504 ? 'upstream request timeout' : '';
    this.fail({ status: this.timeoutStatus, body, details });
  }

  private routeTo(route: ClusterRoute, headers: HeaderMap, endStream: boolean): void {
    const { info } = this.callbacks;
    const cluster = this.context.clusters.get(route.clusterName);
    if (cluster === undefined) {
      this.context.stats.count(NO_CLUSTER);
      answerNoCluster(this.callbacks, route);
      return;
    }
    this.route = route;
    this.cluster = cluster;
    this.balance = new RequestBalance(headers, route, info);
    cluster.retained.hold();
    this.isHoldingCluster = true;
    info.upstreamCluster = cluster.name;
    info.upstreamClusterMetadata = cluster.resource.metadata;
    info.attemptCount = 1;
    info.routeStatPrefix = route.statPrefix;
    if (route.virtualHost.virtualClusters.length > 0) {
      info.virtualClusterName = route.virtualClusterOf(headers);
    }
    const { timeouts } = this;
    this.timeoutStatus = finalizeRequest(route, headers, this.context, { info, timeouts });
    const host = cluster.chooseHost(this.balance);
    if (host === undefined) {
      this.failWithoutHost(cluster);
      return;
    }
    rewriteToHost(headers, host.hostname, route.action, !this.context.suppressEnvoyHeaders);
    const retries = takeRequestRetries(route.retryPolicy, headers);
    if (retries !== undefined || route.action.internalRedirect !== undefined) {
      this.copy = new RequestCopy(this.copyLimitBytes(route));
      if (retries !== undefined) this.retrier = this.startRetrying(retries, route, cluster);
    }
    if (route.action.mirrorPolicies.length > 0) {
      const { callbacks } = this;
      const timeoutMs = this.timeouts.globalMs;
      const request = { headers, endStream, callbacks, route, timeoutMs };
      this.shadows = startShadows(request, this.context.shadows);
    }
    this.sendTo(cluster, host, headers, endStream);
  }

  private copyLimitBytes(route: ClusterRoute): number {
    const { bufferLimitBytes } = this.callbacks;
    return Math.min(route.copyLimitBytes ?? bufferLimitBytes, bufferLimitBytes);
  }

  /** Whether the stream was begun anew with a redirect's target instead of passing it on. */
  private followsRedirect(
    cluster: UpstreamCluster,
    route: ClusterRoute,
    response: HeaderMap,
  ): boolean {
    const copy = this.tries.requestDoneMs >= 0 ? this.copy : undefined;
    const { callbacks, context } = this;
    return followRedirect(response, copy, { cluster, route, callbacks, stats: context.stats });
  }

  private startRetrying(
    retries: RequestRetries,
    route: ClusterRoute,
    cluster: UpstreamCluster,
  ): Retrier {
    const { callbacks, context } = this;
    const tryAgain = (): void => this.tryAgain();
    return startRetrying(retries, { callbacks, cluster, route, ...context, tryAgain });
  }

  private sendTo(
    cluster: UpstreamCluster,
    host: UpstreamHost,
    headers: HeaderMap,
    endStream: boolean,
  ): UpstreamRequest {
    const { route, callbacks, context, timeouts } = this;
    const { bufferLimitBytes } = callbacks;
    const { upstreamLogs, loop } = context;
    const target = { cluster, host, action: route?.action, client: callbacks.info.connection };
    const options = { endStream, bufferLimitBytes, timeouts, upstreamLogs, loop };
    const upstream = makeTry(this, target, headers, options);
    this.tries.add(upstream);
    if (endStream) this.onRequestComplete();
    upstream.start();
    return upstream;
  }

  /** The whole request is here: what remains is the upstream's time. */
  private onRequestComplete(): void {
    const upstream = this.tries.newest;
    if (this.cluster === undefined || this.tries.requestDoneMs >= 0) return;
    if (upstream === undefined && this.retrier?.isWaiting !== true) return;
    const { timers, clock } = this.context.loop;
    const { globalMs } = this.timeouts;
    this.tries.requestDoneMs = clock.ms;
    if (globalMs > 0) {
      this.globalTimer = new LoopTimer(this, 0);
      timers.list(globalMs).arm(this.globalTimer);
    }
    upstream?.startTimers();
  }

  private onUpstreamComplete(upstream: UpstreamRequest): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    this.globalTimer?.disarm();
    this.tries.end(upstream, 0);
    info.lastUpstreamRxMs = nowMs;
    // An answer before the whole request says nothing of the upstream's speed.
    if (this.tries.requestDoneMs < 0) return;
    const tookMs = Math.round(nowMs - this.tries.requestDoneMs);
    this.context.stats.chargeTime(cluster, info, tookMs, this.isCanary);
    recordBudget(cluster.stats, this.timeouts.globalMs, tookMs);
  }

  /** Whether another try takes the place of this one's response, or others are still waited for. */
  private retriesHeaders(upstream: UpstreamRequest, headers: HeaderMap): boolean {
    const { retrier, cluster } = this;
    if (retrier === undefined || cluster === undefined) return false;
    const verdict = retrier.afterHeaders(headers, upstream.isRetried);
    if (verdict === 'retry') cluster.stats.retried.charge(headers.status);
    else if (verdict === 'no') return false;
    else if (!retrier.isWaiting && !this.tries.isWaitingBesides(upstream)) return false;
    countHost(cluster, upstream.host, 'rq_error');
    upstream.host.outlier?.note(headers.status);
    this.tries.cancel(upstream);
    return true;
  }

  private retriesReset(upstream: UpstreamRequest, reason: ResetReason): boolean {
    const { retrier, cluster } = this;
    if (retrier === undefined || cluster === undefined || upstream.isRetried) return false;
    if (!retrier.afterReset(reason, this.isRequestStarted)) return false;
    if (upstream.hasTriedHost) countAnswer(cluster, upstream.host, -503);
    return true;
  }

  /** The try goes on, and another one begins beside it. */
  private hedge(upstream: UpstreamRequest): void {
    if (this.retrier === undefined || upstream.isRetried) return;
    if (this.retrier.afterSlowTry()) upstream.isRetried = true;
  }

  private tryAgain(): void {
    const { route, balance, retrier } = this;
    const { info } = this.callbacks;
    if (route === undefined || balance === undefined || retrier === undefined) return;
    const headers = balance.requestHeaders;
    balance.retry = retrier.state;
    info.attemptCount++;
    const cluster = this.context.clusters.get(route.clusterName);
    const host = cluster?.chooseHost(balance);
    if (cluster === undefined || host === undefined) {
      this.tries.cancelOthers();
      this.failWithoutHost(cluster ?? this.cluster);
      return;
    }
    const { suppressEnvoyHeaders, loop } = this.context;
    if (route.virtualHost.includeRequestAttemptCount) {
      headers.set('x-envoy-attempt-count', String(info.attemptCount));
    }
    const { requestDoneMs } = this.tries;
    const elapsedMs = requestDoneMs < 0 ? 0 : Math.floor(loop.clock.ms - requestDoneMs);
    tellExpectedTimeout(route, headers, this.timeouts, { suppressEnvoyHeaders, elapsedMs });
    rewriteToHost(headers, host.hostname, route.action, !suppressEnvoyHeaders);
    const { copy } = this;
    const isWhole = this.tries.requestDoneMs >= 0;
    const upstream = this.sendTo(cluster, host, headers, isWhole && copy?.isEmpty !== false);
    // A limit may have refused the try at once, and others may have followed it.
    if (this.tries.newest === upstream) copy?.sendTo(upstream, isWhole);
  }

  /** The body is more than may be kept: what was sent so far cannot be sent again. */
  private abandonRetries(retrier: Retrier): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    const isBetweenTries = retrier.isWaiting && this.tries.newest === undefined;
    countRetryAbandoned(cluster);
    this.endRetries();
    if (!isBetweenTries) return;
    this.fail({
      status: 507,
      body: 'exceeded request buffer limit while retrying upstream',
      details: 'request_payload_exceeded_retry_buffer_limit',
    });
  }

  /** There will be no further try. */
  private endRetries(): void {
    this.retrier?.end();
    this.retrier = undefined;
    if (this.route?.action.internalRedirect === undefined) this.copy = undefined;
  }

  private failWithoutHost(cluster: UpstreamCluster | undefined, isCounted = true): void {
    const { info } = this.callbacks;
    if (cluster === undefined) return;
    if (isCounted) countNoneHealthy(cluster);
    this.context.stats.chargeCode(cluster, info, 503, false);
    info.responseFlags |= ResponseFlag.noHealthyUpstream;
    this.fail({ status: 503, body: 'no healthy upstream', details: 'no_healthy_upstream' });
  }

  /** A try is over without a response: counts what the client is told for it. */
  private chargeAbort(upstream: UpstreamRequest, status: number): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    if (upstream.hasTriedHost) countAnswer(cluster, upstream.host, -status);
    this.context.stats.chargeCode(cluster, this.callbacks.info, status, false);
  }

  /** Answers for an upstream that did not. */
  private fail(failure: Omit<Failure, 'isOverload'> & { readonly isOverload?: boolean }): void {
    const { route } = this;
    if (route === undefined) return;
    this.globalTimer?.disarm();
    this.endRetries();
    const isOverload = failure.isOverload === true && !this.context.suppressEnvoyHeaders;
    answerFailure(this.callbacks, route, { ...failure, isOverload });
  }
}
