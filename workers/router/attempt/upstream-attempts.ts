/**
 * The tries of one request that are in progress: usually one; where the route hedges, earlier ones
 * go on beside the newest. Notes in the stream's facts how each of them ended.
 */
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { LoopClock } from '../../loop/loop-clock.ts';
import { noteExchange } from './upstream-info.ts';
import type { UpstreamRequest } from './upstream-request.ts';

export class UpstreamAttempts {
  /** Takes what still comes of the request; once headers have come, the one they came from. */
  newest: UpstreamRequest | undefined = undefined;
  /** When the whole request had come, -1 while it has not. */
  requestDoneMs = -1;
  readonly #info: StreamInfo;
  readonly #clock: LoopClock;
  #others: UpstreamRequest[] | undefined = undefined;

  constructor(info: StreamInfo, clock: LoopClock) {
    this.#info = info;
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.newest === undefined;
  }

  add(upstream: UpstreamRequest): void {
    if (this.newest !== undefined) (this.#others ??= []).push(this.newest);
    this.newest = upstream;
  }

  /** The newest first; a list of its own. */
  all(): readonly UpstreamRequest[] {
    if (this.newest === undefined) return [];
    return this.#others === undefined ? [this.newest] : [this.newest, ...this.#others];
  }

  /** Whether another try than this one may still be answered. */
  isWaitingBesides(upstream: UpstreamRequest): boolean {
    return this.all().some((each) => each !== upstream && each.isAwaitingHeaders);
  }

  /** The exchange with the upstream is over; `flag` says how when it was reset. */
  end(upstream: UpstreamRequest, flag: number): void {
    if (upstream.connection !== undefined) {
      noteExchange(this.#info, upstream.connection, this.requestDoneMs);
    }
    upstream.log?.end(this.#info, this.#clock.ms, flag);
    if (this.newest === upstream) this.newest = this.#others?.pop();
    else this.#others = this.#others?.filter((each) => each !== upstream);
  }

  cancel(upstream: UpstreamRequest): void {
    this.end(upstream, 0);
    upstream.cancel();
  }

  /** Cancels every try but this one, or every try. */
  cancelOthers(upstream?: UpstreamRequest): void {
    if (this.#others === undefined && this.newest === upstream) return;
    for (const each of this.all()) if (each !== upstream) this.cancel(each);
  }
}
