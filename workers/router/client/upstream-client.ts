/**
 * Sends requests of the proxy's own to clusters: Envoy's async client. Each has a deadline, may be
 * retried by a policy and cancelled, and is counted like a request of a client, its router's part
 * under `http.async-client.`. Its sender hears of one response, or of one failure.
 */
import type { ClusterRouteAction } from '../../../shared/resources/routes/route.ts';
import type { ConnectionInfo } from '../../net/connection-info.ts';
import { takeRequestRetries } from '../../routing/retry-policy.ts';
import type { ServiceCallbacks, ServiceStream } from '../../services/service-client.ts';
import { buildLocalReply } from '../../filter-chain/local-reply.ts';
import type { LocalReply } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { CompiledRetryPolicy } from '../../stream/route.ts';
import { StreamInfo } from '../../stream/stream-info.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import { drawDrop } from '../answers/dropped-requests.ts';
import type { Failure } from '../answers/failures.ts';
import { RequestDeadline } from '../exchange/request-deadline.ts';
import type { ExchangeContext, ExchangeOwner } from '../exchange/exchange-seam.ts';
import { UpstreamExchange } from '../exchange/upstream-exchange.ts';
import type { RoutedRequest } from '../ledger/routed-request.ts';
import { type BalancedRoute, RequestBalance } from '../request-balance.ts';

export interface ClientContext extends Omit<ExchangeContext, 'upstreamLogs' | 'attemptFilters'> {
  /** How this machine calls itself in `x-forwarded-for`. */
  readonly localAddress: string;
}

export interface ClientRequest {
  /** The client's from now on: it marks them as the proxy's own. */
  readonly headers: HeaderMap;
  /** Neither body nor trailers follow. */
  readonly endStream: boolean;
  /** From the end of the request to the end of the response, in milliseconds; 0: no limit. */
  readonly timeoutMs: number;
  /** The limit of the body, while it waits for a connection and again while retries may need it. */
  readonly bufferLimitBytes: number;
  /** The downstream connection on whose behalf it is sent. */
  readonly connection: ConnectionInfo;
  /** Adds this machine's address to `x-forwarded-for`, as it does where this is absent. */
  readonly tellsAddress?: boolean;
  /** Says by `x-envoy-internal` that it is the proxy's own, as it does where this is absent. */
  readonly tellsInternal?: boolean;
  readonly priority: ClusterRouteAction['priority'];
  /** What the choice of a host depends on. */
  readonly balancing: BalancedRoute;
  /** Undefined: one attempt is made. */
  readonly retryPolicy: CompiledRetryPolicy | undefined;
}

/** Who sends a request; a failure says more than other parts of the worker need. */
export interface ClientCallbacks extends Omit<ServiceCallbacks, 'onFailure'> {
  onFailure(failure: Failure): void;
}

export type ClientStream = ServiceStream;

export class UpstreamClient {
  readonly #context: ExchangeContext;
  readonly #localAddress: string;

  constructor({ localAddress, ...context }: ClientContext) {
    this.#context = { ...context, upstreamLogs: undefined, attemptFilters: [] };
    this.#localAddress = localAddress;
  }

  send(cluster: UpstreamCluster, request: ClientRequest, callbacks: ClientCallbacks): ClientStream {
    const { clock } = this.#context.loop;
    const { headers } = request;
    if (request.tellsInternal !== false) headers.set('x-envoy-internal', 'true');
    if (request.tellsAddress !== false) headers.append('x-forwarded-for', this.#localAddress);
    const info = new StreamInfo(request.connection, clock.ms, clock.wallMs);
    info.isInternalRequest = true;
    info.requestHeaders = headers;
    info.attemptCount = 1;
    this.#context.ledger.received();
    const routed = this.#context.ledger.open(cluster, info);
    const sent = new SentRequest(routed, request, callbacks, this.#context);
    sent.start(request);
    return sent;
  }
}

class SentRequest implements ClientStream, ExchangeOwner {
  readonly #callbacks: ClientCallbacks;
  readonly #context: ExchangeContext;
  readonly #exchange: UpstreamExchange;
  isResponseStarted = false;
  #isOver = false;

  constructor(
    routed: RoutedRequest,
    { headers, balancing, timeoutMs, priority, bufferLimitBytes }: ClientRequest,
    callbacks: ClientCallbacks,
    context: ExchangeContext,
  ) {
    this.#callbacks = callbacks;
    this.#context = context;
    const deadline = new RequestDeadline();
    deadline.globalMs = timeoutMs;
    const balance = new RequestBalance(headers, balancing, routed.info);
    const action = { priority, upgrades: [] };
    const parts = { request: routed, balance, deadline, action, bufferLimitBytes };
    this.#exchange = new UpstreamExchange(this, parts, context);
  }

  start({ headers, endStream, bufferLimitBytes, retryPolicy }: ClientRequest): void {
    const { request } = this.#exchange;
    const drop = drawDrop(request.cluster);
    if (drop !== undefined) {
      this.#context.ledger.answered(request, drop.status);
      request.info.responseFlags |= drop.flag;
      this.onFailure(drop);
      return;
    }
    const host = this.#exchange.chooseHost();
    if (host === undefined) return;
    const retries = retryPolicy && takeRequestRetries(retryPolicy, headers);
    if (retries !== undefined) this.#exchange.keepFor(retries, false, bufferLimitBytes);
    this.#exchange.start(host, endStream);
  }

  sendData(data: Buffer, endStream: boolean): void {
    if (this.#isOver || !this.#exchange.keep(data)) return;
    this.#exchange.sendData(data, endStream);
  }

  sendTrailers(trailers: HeaderMap): void {
    if (!this.#isOver) this.#exchange.sendTrailers(trailers);
  }

  pauseResponse(paused: boolean): void {
    if (!this.#isOver) this.#exchange.pauseResponse(paused);
  }

  cancel(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#exchange.end();
  }

  finalizeRetry(): void {
    // Its headers name no attempt.
  }

  followsRedirect(): boolean {
    return false;
  }

  finalizeResponse(headers: HeaderMap, elapsedMs: number | undefined): void {
    if (elapsedMs === undefined) return;
    headers.set('x-envoy-upstream-service-time', String(Math.round(elapsedMs)));
  }

  on1xx(): void {
    // The final response is waited for.
  }

  onHeaders(headers: HeaderMap, endStream: boolean): void {
    if (this.#isOver) return;
    this.isResponseStarted = true;
    if (endStream) this.cancel();
    this.#callbacks.onHeaders(headers, endStream);
  }

  onData(data: Buffer, endStream: boolean): void {
    if (this.#isOver) return;
    if (endStream) this.cancel();
    this.#callbacks.onData(data, endStream);
  }

  onTrailers(trailers: HeaderMap): void {
    if (this.#isOver) return;
    this.cancel();
    this.#callbacks.onTrailers(trailers);
  }

  onFailure(failure: Failure): void {
    if (this.#isOver) return;
    this.cancel();
    this.#callbacks.onFailure(failure);
  }

  onFilterAnswer(reply: LocalReply): void {
    const { info } = this.#exchange.request;
    const { headers, body } = buildLocalReply(reply, info, undefined);
    this.onHeaders(headers, body === undefined);
    if (body !== undefined) this.onData(body, true);
  }

  pauseRequest(paused: boolean): void {
    if (!this.#isOver) this.#callbacks.pauseRequest(paused);
  }

  onException(): void {
    const wasOver = this.#isOver;
    this.cancel();
    if (!wasOver) this.#callbacks.onException();
  }
}
