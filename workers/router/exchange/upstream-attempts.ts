/**
 * The attempts of one request that are in progress, and their time: usually one; where the route
 * hedges, earlier ones go on beside the newest. Notes in the stream's info how each of them ended.
 */
import type { TimerOwner } from '../../loop/timers.ts';
import type { UpstreamCluster } from '../../upstream/cluster.ts';
import type { UpstreamHost } from '../../upstream/hosts/host.ts';
import { makeAttempt } from '../attempt/make-attempt.ts';
import { noteExchange } from '../attempt/upstream-info.ts';
import type { UpstreamRequestOwner } from '../attempt/attempt-seam.ts';
import type { UpstreamRequest } from '../attempt/upstream-request.ts';
import type { ExchangeContext, ExchangeRequest } from './exchange-seam.ts';

export class UpstreamAttempts {
  /** Takes what still comes of the request; once headers have come, the one they came from. */
  newest: UpstreamRequest | undefined = undefined;
  /** When the whole request had come, -1 while it has not. */
  requestDoneMs = -1;
  readonly #parts: ExchangeRequest;
  readonly #context: ExchangeContext;
  #others: UpstreamRequest[] | undefined = undefined;

  constructor(parts: ExchangeRequest, context: ExchangeContext) {
    this.#parts = parts;
    this.#context = context;
  }

  get isEmpty(): boolean {
    return this.newest === undefined;
  }

  /** Makes the attempt that is the newest from now on; it has yet to start. */
  begin(
    owner: UpstreamRequestOwner,
    cluster: UpstreamCluster,
    host: UpstreamHost,
    endStream: boolean,
  ): UpstreamRequest {
    const { request, balance, deadline: timeouts, action, bufferLimitBytes } = this.#parts;
    const { upstreamLogs, attemptFilters, loop } = this.#context;
    const { connection: client, protocol } = request.info;
    const trace = request.info.trace?.beginAttempt(balance.requestHeaders, {
      clusterName: cluster.name,
      clusterAlias: cluster.resource.observabilityName || cluster.name,
      host,
      attempt: request.info.attemptCount,
    });
    const { info } = request;
    const target = { cluster, host, action, client, protocol, trace, info };
    const options = { endStream, bufferLimitBytes, timeouts, upstreamLogs, attemptFilters, loop };
    const upstream = makeAttempt(owner, target, balance.requestHeaders, options);
    if (this.newest !== undefined) (this.#others ??= []).push(this.newest);
    this.newest = upstream;
    return upstream;
  }

  /** The whole request is here: what remains is the upstream's time, of which `owner` hears. */
  completeRequest(owner: TimerOwner): void {
    const { timers, clock } = this.#context.loop;
    this.requestDoneMs = clock.ms;
    this.#parts.deadline.arm(owner, timers);
    this.newest?.startTimers();
  }

  /** Since the whole request had come; undefined while it has not. */
  get elapsedMs(): number | undefined {
    return this.requestDoneMs < 0 ? undefined : this.#context.loop.clock.ms - this.requestDoneMs;
  }

  /** The newest first; a list of its own. */
  all(): readonly UpstreamRequest[] {
    if (this.newest === undefined) return [];
    return this.#others === undefined ? [this.newest] : [this.newest, ...this.#others];
  }

  /** Whether another attempt than this one may still be answered. */
  isWaitingBesides(upstream: UpstreamRequest): boolean {
    return this.all().some((each) => each !== upstream && each.isAwaitingHeaders);
  }

  /** The exchange with the upstream is over; `flag` says how when it was reset. */
  end(upstream: UpstreamRequest, flag: number): void {
    const { info } = this.#parts.request;
    if (upstream.connection !== undefined) {
      noteExchange(info, upstream.connection, this.requestDoneMs);
    }
    upstream.log?.end(info, this.#context.loop.clock.ms, flag);
    upstream.trace?.end(info, flag);
    if (this.newest === upstream) this.newest = this.#others?.pop();
    else this.#others = this.#others?.filter((each) => each !== upstream);
  }

  /** The response's end came, so long after the request's; undefined: before it. */
  complete(upstream: UpstreamRequest): number | undefined {
    const { request, deadline } = this.#parts;
    deadline.disarm();
    request.info.lastUpstreamRxMs = this.#context.loop.clock.ms;
    this.end(upstream, 0);
    const { elapsedMs } = this;
    if (elapsedMs !== undefined) upstream.host.countTime(Math.round(elapsedMs));
    return elapsedMs;
  }

  cancel(upstream: UpstreamRequest): void {
    upstream.trace?.cancelled();
    this.end(upstream, 0);
    upstream.cancel();
  }

  /** Cancels every attempt but this one, or every attempt. */
  cancelOthers(upstream?: UpstreamRequest): void {
    if (this.#others === undefined && this.newest === upstream) return;
    for (const each of this.all()) if (each !== upstream) this.cancel(each);
  }
}
