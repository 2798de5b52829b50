/**
 * The terminal filter: sends a request to a host of its route's cluster and the response back, or
 * answers itself where the route says so or no host can. One object per request.
 *
 * A request is tried at one host at a time. Where the route hedges, a try that takes too long goes
 * on beside the next one: then `upstream` is the newest and `others` are the rest, and the first
 * good response ends them all.
 */
import { ROUTER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { ResetReason } from '../stream/codec.ts';
import type { TerminalCallbacks, TerminalFilter } from '../stream/filter.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { ResponseFlag } from '../stream/response-flags.ts';
import { rewriteToHost } from '../routing/host-rewrite.ts';
import { type RequestRetries, takeRequestRetries } from '../routing/retry-policy.ts';
import type { ClusterRoute } from '../stream/route.ts';
import type { TimerOwner } from '../loop/timers.ts';
import type { OverloadGate } from '../loop/overload-gate.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { UpstreamHost } from '../upstream/hosts/host.ts';
import type { UpstreamConnectionInfo } from '../upstream/pools/http-pool.ts';
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { answerRequest } from './ledger/answered-requests.ts';
import { countOutlived } from './ledger/cluster-account.ts';
import {
  finalizeFurtherAttempt,
  finalizeRequest,
  finalizeResponse,
  type HeaderOptions,
} from './envoy-headers.ts';
import {
  answerFailure,
  answerNoCluster,
  answerNoRoute,
  answerOverload,
  exceededRetryBuffer,
  type Failure,
  noHealthyUpstream,
  outlivedStream,
  resetFailure,
  unfitRequest,
} from './failures.ts';
import { followRedirect } from './redirect/internal-redirect.ts';
import { answerDropped, isDropped } from './ledger/dropped-requests.ts';
import { RequestAccount } from './ledger/request-account.ts';
import { RequestBalance } from './request-balance.ts';
import { RequestCopy } from './retry/request-copy.ts';
import { type RequestMirrors, type MirrorContext, startMirrors } from './mirror/request-mirror.ts';
import { RequestDeadline } from './request-deadline.ts';
import { resetDetails, resetTexts } from './attempt/reset-reasons.ts';
import { type Retrier, startRetrying } from './retry/retrier.ts';
import type { RouterStats } from './ledger/router-stats.ts';
import { noteHttpConnection, noteTarget } from './attempt/upstream-info.ts';
import { makeAttempt } from './attempt/make-attempt.ts';
import { UpstreamAttempts } from './attempt/upstream-attempts.ts';
import type {
  PerTryTimeout,
  UpstreamRequest,
  UpstreamRequestOwner,
} from './attempt/upstream-request.ts';

const RQ_TOTAL = ROUTER.index.rq_total;
const NO_ROUTE = ROUTER.index.no_route;
const NO_CLUSTER = ROUTER.index.no_cluster;
const OVERLOAD_REPLY = ROUTER.index.rq_overload_local_reply;

export interface RouterContext extends HeaderOptions {
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly stats: RouterStats;
  readonly proxy100Continue: boolean;
  readonly overload: OverloadGate;
  readonly shadows: MirrorContext;
  /** Written once per try. */
  readonly upstreamLogs: readonly AccessLog[];
}

export class RouterFilter implements TerminalFilter, UpstreamRequestOwner, TimerOwner {
  private readonly context: RouterContext;
  private readonly callbacks: TerminalCallbacks;
  private route: ClusterRoute | undefined = undefined;
  private account: RequestAccount | undefined = undefined;
  private readonly tries: UpstreamAttempts;
  private balance: RequestBalance | undefined = undefined;
  private readonly deadline = new RequestDeadline();
  /** There while the request may have to be sent again. */
  private retrier: Retrier | undefined = undefined;
  private isRequestStarted = false;
  /** There while the request may have to be sent again, to a host or to a redirect's target. */
  private copy: RequestCopy | undefined = undefined;
  private shadows: RequestMirrors | undefined = undefined;

  constructor(context: RouterContext, callbacks: TerminalCallbacks) {
    this.context = context;
    this.callbacks = callbacks;
    this.tries = new UpstreamAttempts(callbacks.info, context.loop.clock);
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
      this.dropCopy();
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
    const upstream = this.tries.newest;
    if (this.account === undefined || upstream === undefined) return;
    this.account.responsePaused(blocked);
    upstream.pauseResponse(blocked);
  }

  onDestroy(): void {
    if (this.account === undefined) return;
    try {
      this.endRetries();
      this.dropCopy();
      this.deadline.disarm();
      this.tries.cancelOthers();
      this.shadows?.leave();
    } finally {
      this.account.close();
    }
  }

  onException(): void {
    this.callbacks.onException();
  }

  pauseRequest(paused: boolean): void {
    this.account?.requestPaused(paused);
    this.callbacks.pauseRequest(paused);
  }

  onHostTried(upstream: UpstreamRequest): void {
    this.callbacks.info.upstreamHost = upstream.host;
    this.retrier?.state.noteTriedHost(upstream.host);
  }

  onUpstreamConnected(upstream: UpstreamRequest, connection: UpstreamConnectionInfo): void {
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    this.isRequestStarted = true;
    this.account?.connected(upstream);
    noteHttpConnection(info, connection, nowMs);
    if (this.tries.requestDoneMs >= 0) upstream.startTimers();
  }

  onUpstream1xx(headers: HeaderMap): void {
    this.account?.informational(headers.status);
    if (this.context.proxy100Continue) this.callbacks.encode1xx(headers);
  }

  onUpstreamHeaders(upstream: UpstreamRequest, headers: HeaderMap, endStream: boolean): void {
    const { account, route } = this;
    if (account === undefined || route === undefined) return;
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    upstream.log?.responded(headers);
    info.firstUpstreamRxMs = nowMs;
    if (this.retrier !== undefined && this.retriesHeaders(upstream, headers)) return;
    this.endRetries();
    this.tries.cancelOthers(upstream);
    if (this.followsRedirect(account.cluster, route, headers)) return;
    account.answered(upstream, headers, endStream);
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
    if (endStream) {
      this.account?.ended(undefined);
      this.onUpstreamComplete(upstream);
    }
    this.callbacks.encodeData(data, endStream);
  }

  onUpstreamTrailers(upstream: UpstreamRequest, trailers: HeaderMap): void {
    this.account?.ended(trailers);
    this.onUpstreamComplete(upstream);
    this.callbacks.encodeTrailers(trailers);
  }

  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason, detail: string): void {
    const { info, isResponseStarted } = this.callbacks;
    const words = resetTexts(reason);
    if (detail !== '') info.upstreamTransportFailureReason = detail.replaceAll(' ', '_');
    this.tries.end(upstream, words.flag);
    if (isResponseStarted) {
      this.account?.cutOff();
      this.breakOff(words.flag, resetDetails(true, reason, detail));
      return;
    }
    if (reason === 'no_pool') {
      this.failWithoutHost(false);
      return;
    }
    if (this.retriesReset(upstream, reason)) return;
    this.account?.aborted(upstream, words.status);
    if (this.retrier?.isWaiting === true || !this.tries.isEmpty) return;
    info.responseFlags |= words.flag;
    this.fail(resetFailure(reason, detail, info.attemptCount > 1));
  }

  onRequestRefused(upstream: UpstreamRequest, fault: string): void {
    this.tries.end(upstream, 0);
    this.tries.cancelOthers();
    this.callbacks.info.responseFlags |= ResponseFlag.downstreamProtocolError;
    this.fail(unfitRequest(fault));
  }

  onPerTryTimeout(upstream: UpstreamRequest, kind: PerTryTimeout): void {
    const { account } = this;
    if (account === undefined) return;
    if (kind === 'duration') {
      this.endOutlived(account, upstream);
      return;
    }
    if (this.deadline.hedges) {
      this.hedge(upstream);
      return;
    }
    account.tryTimedOut(upstream, kind);
    this.tries.cancel(upstream);
    if (this.callbacks.isResponseStarted) account.cutOff();
    else {
      if (this.retriesReset(upstream, 'local_reset')) return;
      account.aborted(upstream, this.deadline.status);
    }
    const isWhole = kind === 'whole';
    this.failTimeout(isWhole ? 'upstream_per_try_timeout' : 'upstream_per_try_idle_timeout');
  }

  /** The try's stream is older than its cluster allows. */
  private endOutlived({ cluster }: RequestAccount, upstream: UpstreamRequest): void {
    const { isResponseStarted } = this.callbacks;
    countOutlived(cluster);
    this.tries.cancel(upstream);
    if (!isResponseStarted && this.retriesReset(upstream, 'local_reset')) return;
    this.failOrBreakOff(ResponseFlag.upstreamMaxStreamDurationReached, outlivedStream);
  }

  /** The whole answer took too long. */
  onTimer(): void {
    for (const upstream of this.tries.all()) {
      this.tries.end(upstream, 0);
      this.account?.timedOut(upstream, this.deadline.status);
      upstream.cancel();
    }
    this.failTimeout('response_timeout');
  }

  private failTimeout(details: string): void {
    const { status, body } = this.deadline;
    const failure = { status, body, details, isOverload: false };
    this.failOrBreakOff(ResponseFlag.upstreamRequestTimeout, failure);
  }

  private routeTo(route: ClusterRoute, headers: HeaderMap, endStream: boolean): void {
    const { info } = this.callbacks;
    const cluster = this.context.clusters.get(route.clusterName);
    if (cluster === undefined) {
      this.context.stats.count(NO_CLUSTER);
      answerNoCluster(this.callbacks, route);
      return;
    }
    if (this.context.overload.sheds('http_downstream_filter_check')) {
      this.context.stats.count(OVERLOAD_REPLY);
      answerOverload(this.callbacks);
      return;
    }
    this.route = route;
    this.account = new RequestAccount(cluster, this.context.stats, info);
    this.balance = new RequestBalance(headers, route, info);
    noteTarget(info, cluster, route, headers);
    if (isDropped(cluster)) {
      this.account.dropped();
      answerDropped(this.callbacks, cluster, !this.context.suppressEnvoyHeaders);
      return;
    }
    finalizeRequest(route, headers, this.context, { info, deadline: this.deadline });
    const host = cluster.chooseHost(this.balance);
    if (host === undefined) {
      this.failWithoutHost();
      return;
    }
    rewriteToHost(headers, host.hostname, route.action, !this.context.suppressEnvoyHeaders);
    const retries = takeRequestRetries(route.retryPolicy, headers);
    if (retries !== undefined || route.action.internalRedirect !== undefined) {
      this.copy = new RequestCopy(this.copyLimitBytes(route), this.context.loop.held);
      if (retries !== undefined) this.retrier = this.startRetrying(retries, route, cluster);
    }
    if (route.action.mirrorPolicies.length > 0) {
      const { callbacks } = this;
      const timeoutMs = this.deadline.globalMs;
      const request = { headers, endStream, callbacks, route, timeoutMs };
      this.shadows = startMirrors(request, this.context.shadows);
    }
    this.sendTo(cluster, host, headers, endStream);
  }

  private copyLimitBytes(route: ClusterRoute): number {
    const { bufferLimitBytes } = this.callbacks;
    return Math.min(route.copyLimitBytes ?? bufferLimitBytes, bufferLimitBytes);
  }

  /** Whether the stream was begun again with a redirect's target instead of passing it on. */
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
    const { route, callbacks, context, deadline: timeouts } = this;
    const { bufferLimitBytes } = callbacks;
    const { upstreamLogs, loop } = context;
    const { connection: client, protocol } = callbacks.info;
    const target = { cluster, host, action: route?.action, client, protocol };
    const options = { endStream, bufferLimitBytes, timeouts, upstreamLogs, loop };
    const upstream = makeAttempt(this, target, headers, options);
    this.tries.add(upstream);
    if (endStream) this.onRequestComplete();
    upstream.start();
    return upstream;
  }

  /** The whole request is here: what remains is the upstream's time. */
  private onRequestComplete(): void {
    const upstream = this.tries.newest;
    if (this.account === undefined || this.tries.requestDoneMs >= 0) return;
    if (upstream === undefined && this.retrier?.isWaiting !== true) return;
    const { timers, clock } = this.context.loop;
    this.tries.requestDoneMs = clock.ms;
    this.deadline.arm(this, timers);
    upstream?.startTimers();
  }

  private onUpstreamComplete(upstream: UpstreamRequest): void {
    const nowMs = this.context.loop.clock.ms;
    this.deadline.disarm();
    this.tries.end(upstream, 0);
    this.callbacks.info.lastUpstreamRxMs = nowMs;
    // An answer before the whole request says nothing of the upstream's speed.
    if (this.tries.requestDoneMs < 0) return;
    const tookMs = Math.round(nowMs - this.tries.requestDoneMs);
    this.account?.completed(tookMs, this.deadline.globalMs);
  }

  /** Whether another try takes the place of this one's response, or others are still waited for. */
  private retriesHeaders(upstream: UpstreamRequest, headers: HeaderMap): boolean {
    const { retrier, account } = this;
    if (retrier === undefined || account === undefined) return false;
    const verdict = retrier.afterHeaders(headers, upstream.isRetried);
    if (verdict === 'retry') account.cluster.stats.retried.charge(headers.status);
    else if (verdict === 'no') return false;
    else if (!retrier.isWaiting && !this.tries.isWaitingBesides(upstream)) return false;
    account.discarded(upstream, headers);
    this.tries.cancel(upstream);
    return true;
  }

  private retriesReset(upstream: UpstreamRequest, reason: ResetReason): boolean {
    const { retrier } = this;
    if (retrier === undefined || upstream.isRetried) return false;
    if (!retrier.afterReset(reason, this.isRequestStarted)) return false;
    this.account?.retried(upstream);
    return true;
  }

  /** The try goes on, and another one begins beside it. */
  private hedge(upstream: UpstreamRequest): void {
    if (this.retrier === undefined || upstream.isRetried) return;
    if (this.retrier.afterSlowAttempt()) upstream.isRetried = true;
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
      this.failWithoutHost();
      return;
    }
    const { requestDoneMs } = this.tries;
    const isWhole = requestDoneMs >= 0;
    finalizeFurtherAttempt(route, headers, this.context, {
      attempt: info.attemptCount,
      isAfterTimeout: retrier.isAfterTimeout,
      deadline: this.deadline,
      elapsedMs: isWhole ? Math.floor(this.context.loop.clock.ms - requestDoneMs) : 0,
      hostname: host.hostname,
    });
    const { copy } = this;
    const upstream = this.sendTo(cluster, host, headers, isWhole && copy?.isEmpty !== false);
    // A limit may have refused the try at once, and others may have followed it.
    if (this.tries.newest === upstream) copy?.sendTo(upstream, isWhole);
  }

  /** The body is more than may be kept: what was sent so far cannot be sent again. */
  private abandonRetries(retrier: Retrier): void {
    const isBetweenAttempts = retrier.isWaiting && this.tries.newest === undefined;
    this.account?.retryAbandoned();
    this.endRetries();
    if (!isBetweenAttempts) return;
    this.fail(exceededRetryBuffer);
  }

  /** There will be no further try. */
  private endRetries(): void {
    this.retrier?.end();
    this.retrier = undefined;
    if (this.route?.action.internalRedirect === undefined) this.dropCopy();
  }

  private dropCopy(): void {
    this.copy?.release();
    this.copy = undefined;
  }

  private failWithoutHost(isCounted = true): void {
    this.account?.noHost(isCounted);
    this.callbacks.info.responseFlags |= ResponseFlag.noHealthyUpstream;
    this.fail(noHealthyUpstream);
  }

  private failOrBreakOff(flag: number, failure: Failure): void {
    const { info, isResponseStarted } = this.callbacks;
    if (isResponseStarted) return this.breakOff(flag, failure.details);
    info.responseFlags |= flag;
    this.fail(failure);
  }

  /** The client has a part of the response already, and sees that the rest is missing. */
  private breakOff(flag: number, details: string): void {
    const { info } = this.callbacks;
    this.deadline.disarm();
    info.responseFlags |= flag;
    info.responseCodeDetails = details;
    this.callbacks.resetStream();
  }

  /** Answers for an upstream that did not. */
  private fail(failure: Failure): void {
    const { route } = this;
    if (route === undefined) return;
    this.deadline.disarm();
    this.endRetries();
    answerFailure(this.callbacks, route, failure, !this.context.suppressEnvoyHeaders);
  }
}
