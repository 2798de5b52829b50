/**
 * The router's ledger: what requests add to `http.<prefix>.rq_*`, and to the virtual clusters and
 * routes that they belong to. Events that the cluster counts too go on to its ledger from here, so
 * that the caller reports each of them once.
 */
import type { StatWriter } from '../../../shared/stats/stat-writer.ts';
import { ResponseCodeStats } from '../../../shared/stats/response-code-stats.ts';
import { withoutLastDots } from '../../../shared/stats/stat-scope.ts';
import { VIRTUAL_CLUSTER } from '../../../shared/stats/templates/cluster-features.ts';
import { ROUTER } from '../../../shared/stats/templates/http-connection-manager.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { AttemptLedger } from '../../stream/request-ledger.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { routePrefix, virtualClusterPrefix } from '../route-views.ts';
import { clusterLedger, type RetryEvent } from './cluster-ledger.ts';
import { type CountedAttempt, RoutedRequest } from './routed-request.ts';

/** Virtual clusters and routes come from configuration, so their number is bounded by it. */
interface ViewStats {
  readonly base: number;
  readonly codes: ResponseCodeStats;
}

const NO_VIEWS: readonly ViewStats[] = [];
const CANARY = 'x-envoy-upstream-canary';
const VIRTUAL = VIRTUAL_CLUSTER.index;
const VIRTUAL_RETRIES = {
  retry: VIRTUAL.upstream_rq_retry,
  limit: VIRTUAL.upstream_rq_retry_limit_exceeded,
  overflow: VIRTUAL.upstream_rq_retry_overflow,
  success: VIRTUAL.upstream_rq_retry_success,
} as const;
const REDIRECT_REFUSALS = {
  bad_location: ROUTER.index.passthrough_internal_redirect_bad_location,
  no_route: ROUTER.index.passthrough_internal_redirect_no_route,
  predicate: ROUTER.index.passthrough_internal_redirect_predicate,
  too_many_redirects: ROUTER.index.passthrough_internal_redirect_too_many_redirects,
  unsafe_scheme: ROUTER.index.passthrough_internal_redirect_unsafe_scheme,
} as const;
/** What becomes of a request that goes to no cluster. */
const UNROUTED = {
  no_route: ROUTER.index.no_route,
  no_cluster: ROUTER.index.no_cluster,
  direct_response: ROUTER.index.rq_direct_response,
  overload: ROUTER.index.rq_overload_local_reply,
} as const;

export type RedirectRefusal = keyof typeof REDIRECT_REFUSALS;

export class RouterLedger implements AttemptLedger<RoutedRequest, UpstreamHost> {
  readonly #writer: StatWriter;
  /** Base of the router's block. */
  readonly #base: number;
  readonly #ownZone: string;
  readonly #views = new Map<string, ViewStats>();

  constructor(writer: StatWriter, statPrefix: string, ownZone: string) {
    this.#writer = writer;
    this.#base = writer.defineBlock(ROUTER, `${withoutLastDots(`http.${statPrefix}`)}.`);
    this.#ownZone = ownZone;
  }

  /** A request came, wherever it will go. */
  received(): void {
    this.#count(ROUTER.index.rq_total);
  }

  unrouted(why: keyof typeof UNROUTED): void {
    this.#count(UNROUTED[why]);
  }

  /** The record of a request that goes to the cluster, which lasts until it is `released`. */
  open(cluster: UpstreamCluster, info: StreamInfo): RoutedRequest {
    const request = new RoutedRequest(cluster, info, this.#ownZone);
    this.routed(request);
    return request;
  }

  routed(request: RoutedRequest): void {
    clusterLedger.routed(request);
  }

  released(request: RoutedRequest): void {
    clusterLedger.released(request);
  }

  attempted(request: RoutedRequest, host: UpstreamHost): void {
    clusterLedger.attempted(request, host);
    this.#countViews(request.info, VIRTUAL.upstream_rq_total);
  }

  answered(request: RoutedRequest, status: number): void {
    const { info } = request;
    // Health checks through this server say nothing of its traffic.
    if (info.isHealthCheck) return;
    clusterLedger.answered(request, status);
    for (const { codes } of this.#viewsOf(info)) codes.charge(status);
  }

  /** The response that is passed on; `isWhole`: nothing follows its headers. */
  hostAnswered(
    request: RoutedRequest,
    host: UpstreamHost,
    headers: HeaderMap,
    isWhole: boolean,
  ): void {
    request.isCanary = headers.get(CANARY) === 'true' || host.resource.canary;
    this.answered(request, headers.status);
    clusterLedger.hostAnswered(request, host, headers, isWhole);
  }

  responseEnded(request: RoutedRequest, trailers: HeaderMap | undefined): void {
    clusterLedger.responseEnded(request, trailers);
  }

  /** Counts broken calls alone, as Envoy does: others have had their success with their headers. */
  reset(request: RoutedRequest): void {
    if (request.calledHost === undefined) return;
    clusterLedger.reset(request);
    this.#count(ROUTER.index.rq_reset_after_downstream_response_started);
  }

  ended(request: RoutedRequest, tookMs: number, limitMs = 0): void {
    clusterLedger.ended(request, tookMs, limitMs);
    for (const { codes } of this.#viewsOf(request.info)) codes.recordTime(tookMs);
  }

  /** An attempt is over without a response; the client is told `status` for it. */
  attemptFailed(request: RoutedRequest, attempt: CountedAttempt, status: number): void {
    clusterLedger.attemptFailed(request, attempt, status);
    this.answered(request, status);
  }

  /** An attempt failed without a response, and another follows. */
  attemptRetried(request: RoutedRequest, attempt: CountedAttempt): void {
    clusterLedger.attemptFailed(request, attempt);
  }

  /** The whole response took too long; the client is told `status` where none has begun. */
  timedOut(request: RoutedRequest, attempt: CountedAttempt, status: number): void {
    clusterLedger.attemptTimedOut(request, attempt, 'response');
    this.#countViews(request.info, VIRTUAL.upstream_rq_timeout);
    if (attempt.isAwaitingHeaders) this.attemptFailed(request, attempt, status);
  }

  /** The cluster's part is counted where retries are decided. */
  retries({ info }: RoutedRequest, event: RetryEvent): void {
    this.#countViews(info, VIRTUAL_RETRIES[event]);
  }

  redirected(
    { cluster }: RoutedRequest,
    isFollowed: boolean,
    refusal: RedirectRefusal | undefined,
  ): void {
    clusterLedger.redirected(cluster, isFollowed);
    if (refusal !== undefined) this.#count(REDIRECT_REFUSALS[refusal]);
  }

  release(): void {
    this.#writer.releaseBlock(this.#base);
    for (const { base } of this.#views.values()) this.#writer.releaseBlock(base);
  }

  #count(offset: number): void {
    this.#writer.increment(this.#base + offset);
  }

  #countViews(info: StreamInfo, offset: number): void {
    for (const { base } of this.#viewsOf(info)) this.#writer.increment(base + offset);
  }

  #viewsOf(info: StreamInfo): readonly ViewStats[] {
    const { virtualClusterName: name, routeStatPrefix: route, virtualHostName: host } = info;
    if (name === '' && route === '') return NO_VIEWS;
    const views: ViewStats[] = [];
    if (name !== '') views.push(this.#view(virtualClusterPrefix(host, name)));
    if (route !== '') views.push(this.#view(routePrefix(host, route)));
    return views;
  }

  #view(prefix: string): ViewStats {
    let stats = this.#views.get(prefix);
    if (stats === undefined) {
      stats = {
        base: this.#writer.defineBlock(VIRTUAL_CLUSTER, prefix),
        codes: new ResponseCodeStats(this.#writer, prefix),
      };
      this.#views.set(prefix, stats);
    }
    return stats;
  }
}
