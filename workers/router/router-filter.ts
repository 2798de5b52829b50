/**
 * The terminal filter: sends a request to a host of its route's cluster and the response back, or
 * answers itself where the route says so or no host can. One object per request. Decides by the
 * route what to send and what to pass on; the exchange with the cluster is `UpstreamExchange`.
 */
import { rewriteToHost } from '../routing/host-rewrite.ts';
import { retryPolicyOf, takeRequestRetries } from '../routing/retry-policy.ts';
import type { Metadata } from '../stream/codec.ts';
import type { LocalReply, TerminalCallbacks, TerminalFilter } from '../stream/filter.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { ClusterRoute } from '../stream/route.ts';
import type { UpstreamCluster } from '../upstream/cluster.ts';
import { answerDropped, drawDrop } from './answers/dropped-requests.ts';
import {
  answerFailure,
  answerNoCluster,
  answerNoRoute,
  answerOverload,
  type Failure,
} from './answers/failures.ts';
import { answerRequest } from './answers/route-answers.ts';
import { answerWrongHeader, wrongHeader } from './answers/strict-headers.ts';
import { noteTarget } from './attempt/upstream-info.ts';
import { withWaiting } from './attempt/waiting-metadata.ts';
import { finalizeFurtherAttempt, finalizeRequest, finalizeResponse } from './envoy-headers.ts';
import { RequestDeadline } from './exchange/request-deadline.ts';
import type { ExchangeOwner } from './exchange/exchange-seam.ts';
import { UpstreamExchange } from './exchange/upstream-exchange.ts';
import { type RequestMirrors, startMirrors } from './mirror/request-mirror.ts';
import { followRedirect } from './redirect/internal-redirect.ts';

import { RequestBalance } from './request-balance.ts';
import type { RouterContext } from './router-context.ts';

/** A request that goes to a cluster. */
interface Routed {
  readonly route: ClusterRoute;
  readonly balance: RequestBalance;
  readonly deadline: RequestDeadline;
  readonly exchange: UpstreamExchange;
}

export class RouterFilter implements TerminalFilter, ExchangeOwner {
  readonly #context: RouterContext;
  readonly #callbacks: TerminalCallbacks;
  #routed: Routed | undefined = undefined;
  #mirrors: RequestMirrors | undefined = undefined;
  /** What came before the request's headers did. */
  #early: Metadata[] | undefined = undefined;

  constructor(context: RouterContext, callbacks: TerminalCallbacks) {
    this.#context = context;
    this.#callbacks = callbacks;
  }

  decodeHeaders(headers: HeaderMap, endStream: boolean): void {
    const { ledger } = this.#context;
    const { route } = this.#callbacks;
    ledger.received();
    const { strictHeaders } = this.#context;
    const wrong = strictHeaders.length === 0 ? undefined : wrongHeader(strictHeaders, headers);
    if (wrong !== undefined) answerWrongHeader(this.#callbacks, wrong);
    else if (route === undefined) {
      ledger.unrouted('no_route');
      answerNoRoute(this.#callbacks);
    } else if (route.kind === 'cluster') this.#routeTo(route, headers, endStream);
    else answerRequest(route, headers, this.#callbacks, this.#context);
  }

  decodeData(data: Buffer, endStream: boolean): void {
    const exchange = this.#routed?.exchange;
    if (exchange === undefined || !exchange.keep(data)) return;
    this.#mirrors?.sendData(data, endStream);
    exchange.sendData(data, endStream);
  }

  decodeTrailers(trailers: HeaderMap): void {
    this.#mirrors?.sendTrailers(trailers);
    this.#routed?.exchange.sendTrailers(trailers);
  }

  decodeMetadata(metadata: Metadata): void {
    const exchange = this.#routed?.exchange;
    if (exchange !== undefined) exchange.sendMetadata(metadata);
    // A filter holds the request's headers.
    else this.#early = withWaiting(this.#early, metadata);
  }

  onDownstreamBlocked(blocked: boolean): void {
    this.#routed?.exchange.pauseResponse(blocked);
  }

  onDestroy(): void {
    try {
      this.#routed?.exchange.end();
    } finally {
      this.#mirrors?.leave();
    }
  }

  get isResponseStarted(): boolean {
    return this.#callbacks.isResponseStarted;
  }

  onException(): void {
    this.#callbacks.onException();
  }

  pauseRequest(paused: boolean): void {
    this.#callbacks.pauseRequest(paused);
  }

  finalizeRetry(hostname: string, isAfterTimeout: boolean, elapsedMs: number): void {
    if (this.#routed === undefined) return;
    const { route, balance, deadline } = this.#routed;
    finalizeFurtherAttempt(route, balance.requestHeaders, this.#context, {
      attempt: this.#callbacks.info.attemptCount,
      isAfterTimeout,
      deadline,
      elapsedMs,
      hostname,
    });
  }

  followsRedirect(response: HeaderMap): boolean {
    if (this.#routed === undefined) return false;
    const { route, exchange } = this.#routed;
    return followRedirect(response, exchange.wholeCopy, {
      request: exchange.request,
      route,
      callbacks: this.#callbacks,
      ledger: this.#context.ledger,
    });
  }

  finalizeResponse(headers: HeaderMap, elapsedMs: number | undefined): void {
    if (this.#routed === undefined) return;
    const { route, balance } = this.#routed;
    balance.addCookies(headers);
    const { info } = this.#callbacks;
    const serviceMs = elapsedMs === undefined ? undefined : Math.round(elapsedMs);
    finalizeResponse(route, headers, this.#context, { info, serviceMs });
  }

  on1xx(headers: HeaderMap): void {
    if (this.#context.proxy100Continue) this.#callbacks.encode1xx(headers);
  }

  onHeaders(headers: HeaderMap, endStream: boolean): void {
    this.#callbacks.encodeHeaders(headers, endStream);
  }

  onData(data: Buffer, endStream: boolean): void {
    this.#callbacks.encodeData(data, endStream);
  }

  onMetadata(metadata: Metadata): void {
    this.#callbacks.encodeMetadata(metadata);
  }

  onTrailers(trailers: HeaderMap): void {
    this.#callbacks.encodeTrailers(trailers);
  }

  /** A client that has a part of the response already sees that the rest is missing. */
  onFailure(failure: Failure): void {
    if (this.#routed === undefined) return;
    const callbacks = this.#callbacks;
    if (callbacks.isResponseStarted) {
      callbacks.info.responseCodeDetails = failure.details;
      callbacks.resetStream();
      return;
    }
    answerFailure(callbacks, this.#routed.route, failure, !this.#context.suppressEnvoyHeaders);
  }

  onFilterAnswer(reply: LocalReply): void {
    this.#callbacks.sendLocalReply(reply);
  }

  #routeTo(route: ClusterRoute, headers: HeaderMap, endStream: boolean): void {
    const callbacks = this.#callbacks;
    const { clusters, ledger, overload } = this.#context;
    const cluster = clusters.get(callbacks.info.overridingCluster ?? route.clusterName);
    if (cluster === undefined) {
      ledger.unrouted('no_cluster');
      answerNoCluster(callbacks, route);
    } else if (overload.sheds('http_downstream_filter_check')) {
      ledger.unrouted('overload');
      answerOverload(callbacks);
    } else this.#sendTo(cluster, route, headers, endStream);
  }

  #sendTo(
    cluster: UpstreamCluster,
    route: ClusterRoute,
    headers: HeaderMap,
    endStream: boolean,
  ): void {
    const context = this.#context;
    const { info, bufferLimitBytes } = this.#callbacks;
    const { action } = route;
    const request = context.ledger.open(cluster, info);
    const balance = new RequestBalance(headers, route, info);
    const deadline = new RequestDeadline();
    const parts = { request, balance, deadline, action, bufferLimitBytes };
    const exchange = new UpstreamExchange(this, parts, context);
    this.#routed = { route, balance, deadline, exchange };
    noteTarget(info, cluster, route, headers);
    const drop = drawDrop(cluster);
    if (drop !== undefined) {
      context.ledger.answered(request, drop.status);
      answerDropped(this.#callbacks, drop, !context.suppressEnvoyHeaders);
      return;
    }
    finalizeRequest(route, headers, context, { info, deadline });
    const host = exchange.chooseHost();
    if (host === undefined) return;
    rewriteToHost(headers, host.hostname, action, !context.suppressEnvoyHeaders);
    if (context.schemeMatchesUpstream) {
      const { tls } = (host.home ?? cluster).sockets.of(host);
      headers.scheme = tls === undefined ? 'http' : 'https';
    }
    const { retryPolicy, mirrorPolicies: mirrors } = cluster.resource.upstreamHttp;
    const retries = takeRequestRetries(retryPolicyOf(retryPolicy, route.retryPolicy), headers);
    const isForRedirect = action.internalRedirect !== undefined;
    if (retries !== undefined || isForRedirect) {
      const limitBytes = Math.min(route.copyLimitBytes ?? bufferLimitBytes, bufferLimitBytes);
      exchange.keepFor(retries, isForRedirect, limitBytes);
    }
    const mirrorPolicies = mirrors ?? action.mirrorPolicies;
    if (mirrorPolicies.length > 0) {
      const { globalMs: timeoutMs } = deadline;
      const mirrored = { mirrorPolicies, headers, endStream, route, timeoutMs };
      const callbacks = this.#callbacks;
      this.#mirrors = startMirrors({ ...mirrored, callbacks }, context.mirrors);
    }
    exchange.start(host, endStream);
    for (const metadata of this.#early ?? []) exchange.sendMetadata(metadata);
  }
}
