/**
 * The mirrored copies of one request: each goes to a host of its own cluster, and what comes back
 * is thrown away. A mirror never answers and never fails a request; one that takes the body too
 * slowly slows the request down, as the request's own upstream would.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { ROUTER } from '../../../shared/stats/templates/http-connection-manager.ts';
import type { RequestMirrorPolicy } from '../../../shared/resources/routes/route.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { TerminalCallbacks } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { StreamInfo } from '../../stream/stream-info.ts';
import type { ClusterRoute } from '../../stream/route.ts';
import { isEnabled, type Runtime } from '../../loop/runtime.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { ClusterManager } from '../../upstream/cluster-manager.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { UpstreamConnectionInfo } from '../../upstream/pools/http-pool.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import { isDropped } from '../ledger/dropped-requests.ts';
import { RequestBalance } from '../request-balance.ts';
import { countFailure, countHost, countOutlived, noteAnswer } from '../ledger/cluster-account.ts';
import { resetTexts } from '../attempt/reset-reasons.ts';
import type { RouterStats } from '../ledger/router-stats.ts';
import { upstreamNames } from '../attempt/upstream-names.ts';
import { UpstreamRequest, type UpstreamRequestOwner } from '../attempt/upstream-request.ts';

const RQ_TOTAL = ROUTER.index.rq_total;
const RQ_TIMEOUT = CLUSTER.index.upstream_rq_timeout;
const CX_NONE_HEALTHY = CLUSTER.index.upstream_cx_none_healthy;
const TIMED_OUT = 504;
const UNAVAILABLE = 503;

export interface MirrorContext {
  readonly loop: WorkerLoop;
  readonly clusters: ClusterManager;
  readonly runtime: Runtime;
  /** The account of requests that are the proxy's own. */
  readonly ownStats: RouterStats;
  /** How this machine calls itself in `x-forwarded-for`. */
  readonly localAddress: string;
}

interface Shadowed {
  readonly headers: HeaderMap;
  readonly endStream: boolean;
  readonly callbacks: TerminalCallbacks;
  readonly route: ClusterRoute;
  readonly timeoutMs: number;
}

/** Starts the mirrors that the route wants of this request, whose headers are ready to be sent. */
export function startMirrors(
  request: Shadowed,
  context: MirrorContext,
): RequestMirrors | undefined {
  let shadows: RequestMirror[] | undefined;
  for (const policy of request.route.action.mirrorPolicies) {
    const { fraction } = policy;
    if (fraction !== undefined && !isEnabled(fraction, context.runtime, context.runtime.random())) {
      continue;
    }
    const cluster = context.clusters.get(clusterName(policy, request.headers));
    if (cluster === undefined) continue;
    const shadow = new RequestMirror(request, cluster, context);
    shadow.start(policy, request);
    (shadows ??= []).push(shadow);
  }
  return shadows === undefined ? undefined : new RequestMirrors(shadows);
}

/** All mirrors of one request. */
export class RequestMirrors {
  readonly #shadows: readonly RequestMirror[];

  constructor(shadows: readonly RequestMirror[]) {
    this.#shadows = shadows;
  }

  sendData(data: Buffer, endStream: boolean): void {
    for (const shadow of this.#shadows) shadow.sendData(data, endStream);
  }

  sendTrailers(trailers: HeaderMap): void {
    for (const shadow of this.#shadows) shadow.sendTrailers(trailers);
  }

  /** The request is over; mirrors that have all of it go on by themselves. */
  leave(): void {
    for (const shadow of this.#shadows) shadow.leave();
  }
}

class RequestMirror implements UpstreamRequestOwner, TimerOwner {
  private readonly context: MirrorContext;
  private readonly cluster: UpstreamCluster;
  private readonly callbacks: TerminalCallbacks;
  private readonly info: StreamInfo;
  private readonly timeoutMs: number;
  private readonly timer = new LoopTimer(this, 0);
  private upstream: UpstreamRequest | undefined = undefined;
  private requestDoneMs = -1;

  constructor(request: Shadowed, cluster: UpstreamCluster, context: MirrorContext) {
    const { clock } = context.loop;
    this.context = context;
    this.cluster = cluster;
    this.callbacks = request.callbacks;
    this.info = new StreamInfo(request.callbacks.info.connection, clock.ms, clock.wallMs);
    this.info.isInternalRequest = true;
    this.timeoutMs = request.timeoutMs;
  }

  start(policy: RequestMirrorPolicy, { headers, endStream, route, callbacks }: Shadowed): void {
    const { cluster, context, info } = this;
    const copy = shadowHeaders(headers, policy, context.localAddress);
    context.ownStats.count(RQ_TOTAL);
    info.requestHeaders = copy;
    if (isDropped(cluster)) {
      this.charge(UNAVAILABLE);
      return;
    }
    const host = cluster.chooseHost(new RequestBalance(copy, route, info));
    if (host === undefined) {
      cluster.stats.writer.increment(cluster.stats.base + CX_NONE_HEALTHY);
      this.charge(UNAVAILABLE);
      return;
    }
    cluster.retained.hold();
    this.upstream = this.makeAttempt(host, copy, { endStream, callbacks, route });
    if (endStream) this.completeRequest();
    this.upstream.start();
  }

  sendData(data: Buffer, endStream: boolean): void {
    this.upstream?.sendData(data, endStream);
    if (endStream) this.completeRequest();
  }

  sendTrailers(trailers: HeaderMap): void {
    this.upstream?.sendTrailers(trailers);
    this.completeRequest();
  }

  leave(): void {
    if (this.requestDoneMs >= 0) return;
    const { upstream } = this;
    this.end();
    upstream?.cancel();
  }

  onHostTried({ host }: UpstreamRequest): void {
    this.info.upstreamHost = host;
  }

  onUpstreamConnected({ host }: UpstreamRequest, connection: UpstreamConnectionInfo): void {
    host.outlier?.connected();
    this.info.upstreamConnectionId = connection.id;
  }

  onUpstream1xx(): void {
    // Nobody waits for it.
  }

  onUpstreamHeaders({ host }: UpstreamRequest, headers: HeaderMap, endStream: boolean): void {
    this.charge(headers.status);
    noteAnswer(host, headers);
    countHost(this.cluster, host, headers.status >= 500 ? 'rq_error' : 'rq_success');
    if (endStream) this.complete();
  }

  onUpstreamData(_: UpstreamRequest, __: Buffer, endStream: boolean): void {
    if (endStream) this.complete();
  }

  onUpstreamTrailers(): void {
    this.complete();
  }

  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason): void {
    if (upstream.isAwaitingHeaders) {
      const { status } = resetTexts(reason);
      this.charge(status);
      if (upstream.hasTriedHost) countFailure(this.cluster, upstream.host, status);
    }
    this.end();
  }

  onRequestRefused(): void {
    this.end();
  }

  /** A mirror is one try with one timeout: this one is the cluster's. */
  onPerTryTimeout(upstream: UpstreamRequest): void {
    countOutlived(this.cluster);
    this.end();
    upstream.cancel();
  }

  pauseRequest(paused: boolean): void {
    this.callbacks.pauseRequest(paused);
  }

  onException(): void {
    const { upstream } = this;
    this.end();
    upstream?.cancel();
  }

  onTimer(): void {
    const { upstream, cluster } = this;
    if (upstream === undefined) return;
    cluster.stats.writer.increment(cluster.stats.base + RQ_TIMEOUT);
    if (upstream.isAwaitingHeaders) {
      this.charge(TIMED_OUT);
      if (upstream.hasTriedHost) {
        countHost(cluster, upstream.host, 'rq_timeout');
        countFailure(cluster, upstream.host, TIMED_OUT);
      }
    }
    this.end();
    upstream.cancel();
  }

  private makeAttempt(
    host: UpstreamHost,
    headers: HeaderMap,
    { endStream, callbacks, route }: Pick<Shadowed, 'endStream' | 'callbacks' | 'route'>,
  ): UpstreamRequest {
    const { cluster, info } = this;
    const names = upstreamNames(cluster.resource.upstreamHttp, headers);
    const whom = { client: info.connection, names, protocol: callbacks.info.protocol };
    const pool = cluster.poolOf(host, route.action.priority, whom);
    return new UpstreamRequest(this, { host, pool }, headers, {
      endStream,
      bufferLimitBytes: callbacks.bufferLimitBytes,
      loop: this.context.loop,
      timeouts: NO_TIMEOUTS,
      maxDurationMs: (host.home ?? cluster).resource.upstreamHttp.maxStreamDurationMs,
      log: undefined,
      figures: undefined,
    });
  }

  private completeRequest(): void {
    const { timers, clock } = this.context.loop;
    this.requestDoneMs = clock.ms;
    if (this.upstream !== undefined && this.timeoutMs > 0) {
      timers.list(this.timeoutMs).arm(this.timer);
    }
  }

  private complete(): void {
    if (this.requestDoneMs >= 0) {
      const tookMs = Math.round(this.context.loop.clock.ms - this.requestDoneMs);
      const { cluster, info } = this;
      this.context.ownStats.chargeTime({ cluster, info, isCanary: false }, tookMs);
    }
    this.end();
  }

  private charge(status: number): void {
    const { cluster, info } = this;
    this.context.ownStats.chargeCode({ cluster, info, isCanary: false }, status);
  }

  private end(): void {
    if (this.upstream === undefined) return;
    this.upstream = undefined;
    this.timer.disarm();
    this.cluster.retained.letGo();
  }
}

const NO_TIMEOUTS = { globalMs: 0, perTryMs: 0, perTryIdleMs: 0, hedges: false };

function clusterName({ cluster, clusterHeader }: RequestMirrorPolicy, headers: HeaderMap): string {
  return clusterHeader === undefined ? (cluster ?? '') : (headers.get(clusterHeader) ?? '');
}

/** The request as the proxy's own: internal, with one hop more, and named as a shadow. */
function shadowHeaders(
  headers: HeaderMap,
  policy: RequestMirrorPolicy,
  localAddress: string,
): HeaderMap {
  const copy = headers.clone();
  if (!policy.disableShadowHostSuffixAppend) copy.authority = shadowHost(headers.authority);
  copy.set('x-envoy-internal', 'true');
  copy.append('x-forwarded-for', localAddress);
  return copy;
}

/** `host:port` becomes `host-shadow:port`. */
function shadowHost(authority: string): string {
  const port = /:\d+$/.exec(authority);
  if (port === null || authority.endsWith(']')) return `${authority}-shadow`;
  return `${authority.slice(0, port.index)}-shadow${port[0]}`;
}
