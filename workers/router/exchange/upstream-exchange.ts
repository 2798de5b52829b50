/**
 * One request's exchange with its cluster: chooses hosts, makes one attempt after another while
 * retries allow it, limits how long each and all of them take, and keeps what has to be sent again.
 * The router and the upstream client stand on it: they hear of one response, or why there is none.
 * Where the route hedges, the first good response ends all other attempts.
 */
import type { TimerOwner } from '../../loop/timers.ts';
import type { RequestRetries } from '../../routing/retry-policy.ts';
import type { Metadata, ResetReason } from '../../stream/codec.ts';
import type { LocalReply } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import type { UpstreamConnectionInfo } from '../../upstream/pools/http-pool.ts';
import {
  exceededRetryBuffer,
  type Failure,
  withoutHost,
  outlivedStream,
  resetFailure,
  timedOut,
  unfitRequest,
} from '../answers/failures.ts';
import { noteHttpConnection } from '../attempt/upstream-info.ts';
import type { PerTryTimeout, UpstreamRequestOwner } from '../attempt/attempt-seam.ts';
import type { UpstreamRequest } from '../attempt/upstream-request.ts';
import { clusterLedger } from '../ledger/cluster-ledger.ts';
import type { RoutedRequest } from '../ledger/routed-request.ts';
import type { RetryOwner } from '../retry/retrier.ts';
import { keepRequest, type RepeatableRequest } from '../retry/repeatable-request.ts';
import type { ExchangeContext, ExchangeOwner, ExchangeRequest } from './exchange-seam.ts';
import { UpstreamAttempts } from './upstream-attempts.ts';

export class UpstreamExchange implements UpstreamRequestOwner, RetryOwner, TimerOwner {
  readonly request: RoutedRequest;
  readonly #owner: ExchangeOwner;
  readonly #context: ExchangeContext;
  readonly #parts: ExchangeRequest;
  readonly #attempts: UpstreamAttempts;
  /** There where the request may have to be sent again, to a host or to a redirect's target. */
  #repeatable: RepeatableRequest | undefined = undefined;
  #isRequestStarted = false;

  constructor(owner: ExchangeOwner, parts: ExchangeRequest, context: ExchangeContext) {
    this.#owner = owner;
    this.#context = context;
    this.#parts = parts;
    this.request = parts.request;
    this.#attempts = new UpstreamAttempts(parts, context);
  }

  /** What came of the whole request; undefined: not all of it, or it was not kept. */
  get wholeCopy(): RepeatableRequest['copy'] {
    return this.#attempts.requestDoneMs >= 0 ? this.#repeatable?.copy : undefined;
  }

  /** For the first attempt; without one the exchange has failed. */
  chooseHost(): UpstreamHost | undefined {
    const host = this.request.cluster.chooseHost(this.#parts.balance);
    if (host === undefined) this.#failWithoutHost(true);
    return host;
  }

  /** Keeps up to `limitBytes` of the request's body for further attempts and for redirects. */
  keepFor(retries: RequestRetries | undefined, isForRedirect: boolean, limitBytes: number): void {
    const { request } = this;
    const kept = { request, attempts: this.#attempts, retries, isForRedirect, limitBytes };
    this.#repeatable = keepRequest(this, { ...kept, ...this.#parts.action }, this.#context);
  }

  /** Sends the headers to the host; may fail before it returns. */
  start(host: UpstreamHost, endStream: boolean): void {
    this.#sendTo(this.request.cluster, host, endStream);
  }

  /** Before a piece of the body is sent; false where it ended the exchange. */
  keep(data: Buffer): boolean {
    const verdict = this.#repeatable?.keep(data) ?? 'kept';
    if (verdict === 'abandoned') this.#fail(exceededRetryBuffer);
    return verdict === 'kept' || !this.#attempts.isEmpty;
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (endStream) this.#onRequestComplete();
    this.#attempts.newest?.sendData(data, endStream);
  }

  sendTrailers(trailers: HeaderMap): void {
    const copy = this.#repeatable?.copy;
    if (copy !== undefined) copy.trailers = trailers;
    this.#onRequestComplete();
    this.#attempts.newest?.sendTrailers(trailers);
  }

  sendMetadata(metadata: Metadata): void {
    this.#attempts.newest?.sendMetadata(metadata);
  }

  pauseResponse(paused: boolean): void {
    const { newest } = this.#attempts;
    if (newest === undefined) return;
    clusterLedger.responsePaused(this.request, paused);
    newest.pauseResponse(paused);
  }

  /** Gives up what is in progress; the owner hears nothing more. */
  end(): void {
    try {
      this.#repeatable?.end();
      this.#parts.deadline.disarm();
      this.#attempts.cancelOthers();
    } finally {
      this.#context.ledger.released(this.request);
    }
  }

  onException(): void {
    this.#owner.onException();
  }

  pauseRequest(paused: boolean): void {
    clusterLedger.requestPaused(this.request, paused);
    this.#owner.pauseRequest(paused);
  }

  onHostTried(upstream: UpstreamRequest): void {
    this.request.info.upstreamHost = upstream.host;
    this.#repeatable?.noteTriedHost(upstream.host);
  }

  onUpstreamConnected(upstream: UpstreamRequest, connection: UpstreamConnectionInfo): void {
    this.#isRequestStarted = true;
    this.#context.ledger.attempted(this.request, upstream.host);
    noteHttpConnection(this.request.info, connection, this.#context.loop.clock.ms);
    if (this.#attempts.requestDoneMs >= 0) upstream.startTimers();
  }

  onUpstream1xx(headers: HeaderMap): void {
    this.#context.ledger.answered(this.request, headers.status);
    this.#owner.on1xx(headers);
  }

  onUpstreamHeaders(upstream: UpstreamRequest, headers: HeaderMap, endStream: boolean): void {
    const { request } = this;
    const { ledger, loop } = this.#context;
    upstream.log?.responded(headers);
    request.info.firstUpstreamRxMs = loop.clock.ms;
    if (this.#repeatable !== undefined) {
      if (this.#repeatable.retriesHeaders(upstream, headers)) return;
      this.#repeatable.endRetries();
    }
    this.#attempts.cancelOthers(upstream);
    if (this.#owner.followsRedirect(headers)) return;
    ledger.hostAnswered(request, upstream.host, headers, endStream);
    this.#owner.finalizeResponse(headers, this.#attempts.elapsedMs);
    if (endStream) this.#onUpstreamComplete(upstream);
    this.#owner.onHeaders(headers, endStream);
  }

  onUpstreamData(upstream: UpstreamRequest, data: Buffer, endStream: boolean): void {
    upstream.log?.received(data.length);
    const { info } = this.request;
    if (info.firstUpstreamBodyRxMs < 0) info.firstUpstreamBodyRxMs = this.#context.loop.clock.ms;
    if (endStream) {
      clusterLedger.responseEnded(this.request, undefined);
      this.#onUpstreamComplete(upstream);
    }
    this.#owner.onData(data, endStream);
  }

  onUpstreamTrailers(upstream: UpstreamRequest, trailers: HeaderMap): void {
    clusterLedger.responseEnded(this.request, trailers);
    this.#onUpstreamComplete(upstream);
    this.#owner.onTrailers(trailers);
  }

  onUpstreamMetadata(metadata: Metadata): void {
    this.#owner.onMetadata?.(metadata);
  }

  onUpstreamReset(upstream: UpstreamRequest, reason: ResetReason, detail: string): void {
    const { request } = this;
    const { info } = request;
    const { ledger } = this.#context;
    const isStarted = this.#owner.isResponseStarted;
    const failure = resetFailure(reason, detail, { isStarted, isRetried: info.attemptCount > 1 });
    if (detail !== '') info.upstreamTransportFailureReason = detail.replaceAll(' ', '_');
    this.#attempts.end(upstream, failure.flag);
    if (isStarted) ledger.reset(request);
    else {
      if (reason === 'no_pool') return this.#failWithoutHost(false);
      if (this.#retriesReset(upstream, reason)) return;
      ledger.attemptFailed(request, upstream, failure.status);
      if (this.#repeatable?.isWaiting === true || !this.#attempts.isEmpty) return;
    }
    this.#fail(failure);
  }

  onRequestRefused(upstream: UpstreamRequest, fault: string): void {
    this.#attempts.end(upstream, 0);
    this.#attempts.cancelOthers();
    this.#fail(unfitRequest(fault));
  }

  onFilterAnswer(reply: LocalReply): void {
    this.end();
    this.#owner.onFilterAnswer(reply);
  }

  onPerTryTimeout(upstream: UpstreamRequest, kind: PerTryTimeout): void {
    if (kind === 'duration') return this.#endOutlived(upstream);
    if (this.#parts.deadline.hedges) return this.#repeatable?.hedge(upstream);
    const { request } = this;
    const { deadline } = this.#parts;
    clusterLedger.attemptTimedOut(request, upstream, kind);
    this.#attempts.cancel(upstream);
    if (this.#owner.isResponseStarted) this.#context.ledger.reset(request);
    else if (this.#retriesReset(upstream, 'local_reset')) return;
    else this.#context.ledger.attemptFailed(request, upstream, deadline.status);
    this.#fail(timedOut(deadline, kind));
  }

  onTimer(): void {
    for (const upstream of this.#attempts.all()) {
      this.#attempts.end(upstream, 0);
      this.#context.ledger.timedOut(this.request, upstream, this.#parts.deadline.status);
      upstream.cancel();
    }
    this.#fail(timedOut(this.#parts.deadline, 'response'));
  }

  /** The back-off before a further attempt is over. */
  tryAgain(): void {
    const retrier = this.#repeatable?.retrier;
    if (retrier === undefined) return;
    const { info, cluster: first } = this.request;
    this.#parts.balance.retry = retrier.state;
    info.attemptCount++;
    // Updates may have brought another version of the cluster since.
    const cluster = this.#context.clusters.get(first.name);
    const host = cluster?.chooseHost(this.#parts.balance);
    if (cluster === undefined || host === undefined) {
      this.#attempts.cancelOthers();
      this.#failWithoutHost(true);
      return;
    }
    const { elapsedMs } = this.#attempts;
    const isWhole = elapsedMs !== undefined;
    this.#owner.finalizeRetry(host.hostname, retrier.isAfterTimeout, Math.floor(elapsedMs ?? 0));
    const copy = this.#repeatable?.copy;
    const upstream = this.#sendTo(cluster, host, isWhole && copy?.isEmpty !== false);
    // A limit may have refused the attempt at once, and others may have followed it.
    if (this.#attempts.newest === upstream) copy?.sendTo(upstream, isWhole);
  }

  /** The attempt's stream is older than its cluster allows. */
  #endOutlived(upstream: UpstreamRequest): void {
    clusterLedger.outlived(this.request);
    this.#attempts.cancel(upstream);
    if (!this.#owner.isResponseStarted && this.#retriesReset(upstream, 'local_reset')) return;
    this.#fail(outlivedStream);
  }

  #sendTo(cluster: UpstreamCluster, host: UpstreamHost, endStream: boolean): UpstreamRequest {
    const upstream = this.#attempts.begin(this, cluster, host, endStream);
    if (endStream) this.#onRequestComplete();
    upstream.start();
    return upstream;
  }

  #onRequestComplete(): void {
    const isPending = !this.#attempts.isEmpty || this.#repeatable?.isWaiting === true;
    if (isPending && this.#attempts.requestDoneMs < 0) this.#attempts.completeRequest(this);
  }

  #onUpstreamComplete(upstream: UpstreamRequest): void {
    const elapsedMs = this.#attempts.complete(upstream);
    // An answer before the whole request says nothing of the upstream's speed.
    if (elapsedMs === undefined) return;
    this.#context.ledger.ended(this.request, Math.round(elapsedMs), this.#parts.deadline.globalMs);
  }

  #retriesReset(upstream: UpstreamRequest, reason: ResetReason): boolean {
    return this.#repeatable?.retriesReset(upstream, reason, this.#isRequestStarted) === true;
  }

  #failWithoutHost(isCounted: boolean, failure = withoutHost(this.request.info)): void {
    if (isCounted) clusterLedger.noHost(this.request);
    this.#context.ledger.answered(this.request, failure.status);
    this.#fail(failure);
  }

  /** The owner answers for an upstream that did not, or breaks off what it has of its answer. */
  #fail(failure: Failure): void {
    this.#parts.deadline.disarm();
    this.#repeatable?.endRetries();
    this.request.info.responseFlags |= failure.flag;
    this.#owner.onFailure(failure);
  }
}
