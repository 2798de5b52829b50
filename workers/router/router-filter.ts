/**
 * The terminal filter: sends a request to a host of its route's cluster and the response back, or
 * answers itself where the route says so or no host can. One object per request.
 *
 * `onUpstreamReset` and the timeouts are the only places where a try's failure becomes an answer: a
 * retry policy decides there.
 */
import { CLUSTER, HOST } from '../../shared/stats/templates/cluster.ts';
import { ROUTER } from '../../shared/stats/templates/http-connection-manager.ts';
import type { ResetReason } from '../http/codec.ts';
import type { TerminalCallbacks, TerminalFilter } from '../http/filter.ts';
import type { AccessLog } from '../access-log/types.ts';
import type { HeaderMap } from '../http/header-map.ts';
import { ResponseFlag } from '../http/response-flags.ts';
import { rewriteToHost } from '../routing/host-rewrite.ts';
import { removeProxyHeaders, type RequestTimeouts, resolveTimeouts } from '../routing/timeouts.ts';
import type { ClusterRoute, DirectResponseRoute, RedirectRoute } from '../routing/types.ts';
import { LoopTimer, type TimerOwner } from '../timers.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import type { ClusterManager } from '../upstream/cluster-manager.ts';
import type { UpstreamHost } from '../upstream/host.ts';
import type { UpstreamConnectionFacts } from '../upstream/http-pool.ts';
import type { WorkerLoop } from '../worker-loop.ts';
import { resetDetails, resetWords } from './reset-reasons.ts';
import type { RouterStats } from './router-stats.ts';
import { UpstreamTryLog } from './upstream-log.ts';
import { UpstreamRequest, type UpstreamRequestOwner } from './upstream-request.ts';

const RQ_TOTAL = ROUTER.index.rq_total;
const NO_ROUTE = ROUTER.index.no_route;
const NO_CLUSTER = ROUTER.index.no_cluster;
const RQ_DIRECT_RESPONSE = ROUTER.index.rq_direct_response;
const RQ_RESET_AFTER_START = ROUTER.index.rq_reset_after_downstream_response_started;
const CX_NONE_HEALTHY = CLUSTER.index.upstream_cx_none_healthy;
const RQ_TIMEOUT = CLUSTER.index.upstream_rq_timeout;
const RQ_PER_TRY_TIMEOUT = CLUSTER.index.upstream_rq_per_try_timeout;
const RQ_TX_RESET = CLUSTER.index.upstream_rq_tx_reset;
const BACKED_UP = CLUSTER.index.upstream_flow_control_backed_up_total;
const DRAINED = CLUSTER.index.upstream_flow_control_drained_total;
const PAUSED_READING = CLUSTER.index.upstream_flow_control_paused_reading_total;
const RESUMED_READING = CLUSTER.index.upstream_flow_control_resumed_reading_total;
const HOST_RQ_SUCCESS = HOST.index.rq_success;
const HOST_RQ_ERROR = HOST.index.rq_error;
const HOST_RQ_TIMEOUT = HOST.index.rq_timeout;

const TIMER_GLOBAL = 0;
const TIMER_PER_TRY = 1;

const FAILURE_BODY = 'upstream connect error or disconnect/reset before headers. reset reason: ';

export interface RouterContext {
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly stats: RouterStats;
  readonly suppressEnvoyHeaders: boolean;
  readonly respectExpectedRqTimeout: boolean;
  readonly proxy100Continue: boolean;
  /** Written once per try. */
  readonly upstreamLogs: readonly AccessLog[];
  /** `/healthcheck/fail` is in force: responses say so. */
  readonly isHealthCheckFailed: () => boolean;
}

export class RouterFilter implements TerminalFilter, UpstreamRequestOwner, TimerOwner {
  private readonly context: RouterContext;
  private readonly callbacks: TerminalCallbacks;
  private route: ClusterRoute | undefined = undefined;
  private cluster: UpstreamCluster | undefined = undefined;
  private host: UpstreamHost | undefined = undefined;
  private upstream: UpstreamRequest | undefined = undefined;
  private readonly timeouts: RequestTimeouts = { globalMs: 0, perTryMs: 0, perTryIdleMs: 0 };
  private globalTimer: LoopTimer | undefined = undefined;
  private perTryTimer: LoopTimer | undefined = undefined;
  private requestDoneMs = -1;
  private isCanary = false;
  private isHoldingCluster = false;
  private tryLog: UpstreamTryLog | undefined = undefined;

  constructor(context: RouterContext, callbacks: TerminalCallbacks) {
    this.context = context;
    this.callbacks = callbacks;
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    const { stats } = this.context;
    const { route } = this.callbacks;
    stats.count(RQ_TOTAL);
    if (route === undefined) {
      stats.count(NO_ROUTE);
      this.callbacks.info.responseFlags |= ResponseFlag.noRouteFound;
      this.callbacks.sendLocalReply({ status: 404, body: '', details: 'route_not_found' });
    } else if (route.kind === 'cluster') this.routeTo(route, headers, endStream);
    else if (route.kind === 'redirect') this.redirect(route, headers);
    else this.respond(route, headers);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    if (endStream) this.onRequestComplete();
    this.tryLog?.sent(data.length);
    this.upstream?.sendData(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.onRequestComplete();
    this.upstream?.sendTrailers(trailers);
  }

  onDownstreamBlocked(blocked: boolean): void {
    const { cluster, upstream } = this;
    if (cluster === undefined || upstream === undefined) return;
    const { writer, base } = cluster.stats;
    writer.increment(base + (blocked ? PAUSED_READING : RESUMED_READING));
    upstream.pauseResponse(blocked);
  }

  onDestroy(): void {
    this.disarm();
    const { cluster, upstream } = this;
    this.upstream = undefined;
    if (cluster === undefined) return;
    this.endTry(upstream, 0);
    upstream?.cancel();
    if (this.isHoldingCluster) cluster.retained.letGo();
    this.isHoldingCluster = false;
  }

  pauseRequest(paused: boolean): void {
    const { cluster } = this;
    if (cluster !== undefined) {
      cluster.stats.writer.increment(cluster.stats.base + (paused ? BACKED_UP : DRAINED));
    }
    this.callbacks.pauseRequest(paused);
  }

  onHostTried(): void {
    this.callbacks.info.upstreamHost = this.host;
  }

  onUpstreamConnected(connection: UpstreamConnectionFacts): void {
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    info.upstreamPoolReadyMs = nowMs;
    info.upstreamConnectStartMs = connection.openedMs;
    info.upstreamConnectEndMs = connection.connectedMs;
    info.firstUpstreamTxMs = nowMs;
    info.upstreamConnectionId = connection.id;
    info.upstreamProtocol = connection.protocol;
    info.upstreamLocalAddress = connection.localAddress;
    info.upstreamTls = connection.tls;
  }

  onUpstream1xx(headers: HeaderMap): void {
    const { cluster } = this;
    if (cluster === undefined) return;
    this.context.stats.chargeInformational(cluster, this.callbacks.info, headers.status);
    if (this.context.proxy100Continue) this.callbacks.encode1xx(headers);
  }

  onUpstreamHeaders(headers: HeaderMap, endStream: boolean): void {
    const { cluster, route, host } = this;
    if (cluster === undefined || route === undefined || host === undefined) return;
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    this.perTryTimer?.disarm();
    this.tryLog?.responded(headers);
    info.firstUpstreamRxMs = nowMs;
    info.responseCodeDetails = 'via_upstream';
    this.isCanary = headers.get('x-envoy-upstream-canary') === 'true' || host.resource.canary;
    this.context.stats.chargeCode(cluster, info, headers.status, this.isCanary);
    cluster.stats.writer.increment(
      host.statBase + (headers.status >= 500 ? HOST_RQ_ERROR : HOST_RQ_SUCCESS),
    );
    if (!this.context.suppressEnvoyHeaders && this.requestDoneMs >= 0) {
      const serviceMs = Math.round(nowMs - this.requestDoneMs);
      headers.set('x-envoy-upstream-service-time', String(serviceMs));
    }
    if (this.context.isHealthCheckFailed()) {
      headers.set('x-envoy-immediate-health-check-fail', 'true');
    }
    if (route.virtualHost.includeAttemptCountInResponse) {
      headers.set('x-envoy-attempt-count', String(info.attemptCount));
    }
    info.responseCode = headers.status;
    route.finalizeResponseHeaders(headers, info);
    if (endStream) this.onUpstreamComplete();
    this.callbacks.encodeHeaders(headers, endStream);
  }

  onUpstreamData(data: Buffer, endStream: boolean): void {
    const { info } = this.callbacks;
    this.tryLog?.received(data.length);
    if (info.firstUpstreamBodyRxMs < 0) info.firstUpstreamBodyRxMs = this.context.loop.clock.ms;
    if (endStream) this.onUpstreamComplete();
    this.callbacks.encodeData(data, endStream);
  }

  onUpstreamTrailers(trailers: HeaderMap): void {
    this.onUpstreamComplete();
    this.callbacks.encodeTrailers(trailers);
  }

  onUpstreamReset(reason: ResetReason, detail: string): void {
    const { info, isResponseStarted } = this.callbacks;
    const words = resetWords(reason);
    this.disarm();
    if (detail !== '') info.upstreamTransportFailureReason = detail.replaceAll(' ', '_');
    this.endTry(this.upstream, words.flag);
    this.upstream = undefined;
    info.responseFlags |= words.flag;
    const details = resetDetails(isResponseStarted, reason, detail);
    if (isResponseStarted) {
      this.countHost(HOST_RQ_ERROR);
      this.context.stats.count(RQ_RESET_AFTER_START);
      info.responseCodeDetails = details;
      this.callbacks.resetStream();
      return;
    }
    this.fail({
      status: words.status,
      body: FAILURE_BODY + words.text,
      details,
      isOverload: reason === 'overflow',
    });
  }

  onTimer(kind: number): void {
    const { cluster, upstream } = this;
    if (cluster === undefined) return;
    const { info, isResponseStarted } = this.callbacks;
    const isGlobal = kind === TIMER_GLOBAL;
    const { writer, base } = cluster.stats;
    writer.increment(base + (isGlobal ? RQ_TIMEOUT : RQ_PER_TRY_TIMEOUT));
    if (info.virtualClusterName !== '') this.context.stats.countVirtualTimeout(info);
    this.countHost(HOST_RQ_TIMEOUT);
    if (upstream?.connection !== undefined) writer.increment(base + RQ_TX_RESET);
    this.disarm();
    this.upstream = undefined;
    this.endTry(upstream, 0);
    upstream?.cancel();
    info.responseFlags |= ResponseFlag.upstreamRequestTimeout;
    const details = isGlobal ? 'response_timeout' : 'upstream_per_try_timeout';
    if (isResponseStarted) {
      info.responseCodeDetails = details;
      this.callbacks.resetStream();
      return;
    }
    this.fail({ status: 504, body: 'upstream request timeout', details, isOverload: false });
  }

  private routeTo(route: ClusterRoute, headers: HeaderMap, endStream: boolean): void {
    const { info } = this.callbacks;
    const cluster = this.context.clusters.get(route.clusterName);
    if (cluster === undefined) {
      this.context.stats.count(NO_CLUSTER);
      info.responseFlags |= ResponseFlag.noClusterFound;
      const status = route.action.clusterNotFoundStatus;
      this.callbacks.sendLocalReply({
        status,
        body: '',
        details: 'cluster_not_found',
        modifyHeaders: (answer) => route.finalizeResponseHeaders(answer, info),
      });
      return;
    }
    this.route = route;
    this.cluster = cluster;
    cluster.retained.hold();
    this.isHoldingCluster = true;
    info.upstreamCluster = cluster.name;
    info.upstreamClusterMetadata = cluster.resource.metadata;
    info.attemptCount = 1;
    if (route.virtualHost.virtualClusters.length > 0) {
      info.virtualClusterName = route.virtualClusterOf(headers);
      if (info.virtualClusterName !== '') this.context.stats.countVirtualRequest(info);
    }
    const host = cluster.chooseHost({ requestHeaders: headers });
    if (host === undefined) {
      cluster.stats.writer.increment(cluster.stats.base + CX_NONE_HEALTHY);
      info.responseFlags |= ResponseFlag.noHealthyUpstream;
      this.fail({
        status: 503,
        body: 'no healthy upstream',
        details: 'no_healthy_upstream',
        isOverload: false,
      });
      return;
    }
    this.host = host;
    this.prepareHeaders(route, headers, host);
    this.sendTo(cluster, host, headers, endStream);
  }

  private prepareHeaders(route: ClusterRoute, headers: HeaderMap, host: UpstreamHost): void {
    const { info } = this.callbacks;
    const { suppressEnvoyHeaders } = this.context;
    resolveTimeouts(route, headers, this.context, this.timeouts);
    if (info.isInternalRequest) removeProxyHeaders(headers);
    if (route.virtualHost.includeRequestAttemptCount) headers.set('x-envoy-attempt-count', '1');
    route.finalizeRequestHeaders(headers, info, !suppressEnvoyHeaders);
    rewriteToHost(headers, host.hostname, route.action, !suppressEnvoyHeaders);
  }

  private sendTo(
    cluster: UpstreamCluster,
    host: UpstreamHost,
    headers: HeaderMap,
    endStream: boolean,
  ): void {
    const priority = this.route?.action.priority ?? 'DEFAULT';
    const pool = cluster.poolOf(host, priority);
    const { clock } = this.context.loop;
    if (this.context.upstreamLogs.length > 0) {
      this.tryLog = new UpstreamTryLog(this.context.upstreamLogs, clock.ms, clock.wallMs);
    }
    const upstream = new UpstreamRequest(this, pool, headers, {
      endStream,
      bufferLimitBytes: this.callbacks.bufferLimitBytes,
    });
    this.upstream = upstream;
    if (endStream) this.onRequestComplete();
    upstream.start();
  }

  /** The whole request is here: what remains is the upstream's time. */
  private onRequestComplete(): void {
    if (this.cluster === undefined || this.upstream === undefined) return;
    const { timers, clock } = this.context.loop;
    const { globalMs, perTryMs } = this.timeouts;
    this.requestDoneMs = clock.ms;
    if (globalMs > 0) {
      this.globalTimer = new LoopTimer(this, TIMER_GLOBAL);
      timers.list(globalMs).arm(this.globalTimer);
    }
    if (perTryMs > 0) {
      this.perTryTimer = new LoopTimer(this, TIMER_PER_TRY);
      timers.list(perTryMs).arm(this.perTryTimer);
    }
  }

  private onUpstreamComplete(): void {
    const { cluster, upstream } = this;
    if (cluster === undefined) return;
    const { info } = this.callbacks;
    const nowMs = this.context.loop.clock.ms;
    this.disarm();
    this.upstream = undefined;
    this.endTry(upstream, 0);
    info.lastUpstreamRxMs = nowMs;
    // An answer before the whole request says nothing of the upstream's speed.
    if (this.requestDoneMs < 0) return;
    const tookMs = Math.round(nowMs - this.requestDoneMs);
    this.context.stats.chargeTime(cluster, info, tookMs, this.isCanary);
  }

  /** Answers for an upstream that did not. */
  private fail(failure: {
    readonly status: number;
    readonly body: string;
    readonly details: string;
    readonly isOverload: boolean;
  }): void {
    const { cluster, context, route } = this;
    const { info } = this.callbacks;
    if (cluster === undefined) return;
    this.countHost(HOST_RQ_ERROR);
    context.stats.chargeCode(cluster, info, failure.status, false);
    const marksOverload = failure.isOverload && !context.suppressEnvoyHeaders;
    const saysAttempts = route?.virtualHost.includeAttemptCountInResponse ?? false;
    this.callbacks.sendLocalReply({
      status: failure.status,
      body: failure.body,
      details: failure.details,
      modifyHeaders: (headers) => {
        if (marksOverload) headers.set('x-envoy-overloaded', 'true');
        if (saysAttempts) headers.set('x-envoy-attempt-count', String(info.attemptCount));
        route?.finalizeResponseHeaders(headers, info);
      },
    });
  }

  private redirect(route: RedirectRoute, headers: HeaderMap): void {
    const { info } = this.callbacks;
    this.context.stats.count(RQ_DIRECT_RESPONSE);
    const location = route.location(headers, info);
    this.callbacks.sendLocalReply({
      status: route.status,
      body: '',
      details: 'direct_response',
      modifyHeaders: (answer) => {
        answer.add('location', location);
        route.finalizeResponseHeaders(answer, info);
      },
    });
  }

  private respond(route: DirectResponseRoute, headers: HeaderMap): void {
    const { info } = this.callbacks;
    this.context.stats.count(RQ_DIRECT_RESPONSE);
    this.callbacks.sendLocalReply({
      status: route.status,
      body: route.body(headers, info) ?? '',
      details: 'direct_response',
      contentType: route.contentType,
      modifyHeaders: (answer) => {
        const location = route.location(headers, info);
        if (location !== undefined) answer.add('location', location);
        route.finalizeResponseHeaders(answer, info);
      },
    });
  }

  private countHost(offset: number): void {
    const { cluster, host } = this;
    if (cluster !== undefined && host !== undefined) {
      cluster.stats.writer.increment(host.statBase + offset);
    }
  }

  /** The exchange with the upstream is over; `flag` says how when it was reset. */
  private endTry(upstream: UpstreamRequest | undefined, flag: number): void {
    this.noteWireBytes(upstream);
    this.tryLog?.end(this.callbacks.info, this.context.loop.clock.ms, flag);
    this.tryLog = undefined;
  }

  private noteWireBytes(upstream: UpstreamRequest | undefined): void {
    const connection = upstream?.connection;
    if (connection === undefined) return;
    const { info } = this.callbacks;
    if (this.requestDoneMs >= 0) {
      info.lastUpstreamTxMs = Math.max(this.requestDoneMs, info.firstUpstreamTxMs);
    }
    info.upstreamHeaderBytesSent = connection.headerBytesSent;
    info.upstreamWireBytesSent = connection.wireBytesSent;
    info.upstreamHeaderBytesReceived = connection.headerBytesReceived;
    info.upstreamWireBytesReceived = connection.wireBytesReceived;
  }

  private disarm(): void {
    this.globalTimer?.disarm();
    this.perTryTimer?.disarm();
  }
}
