/**
 * Lets a request wait that has no route yet, where its virtual host or the routes of its scope are
 * fetched when they are wanted. Source: envoy.filters.http.on_demand.
 */
import type { OnDemandFilterSettings } from '../../../shared/resources/filters/http/on-demand.ts';
import type {
  DataStatus,
  FilterCallbacks,
  FilterFactory,
  HeadersStatus,
  TrailersStatus,
} from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import type { RouteWaiter } from '../../routing/route-demand.ts';
import { LoopTimer, type TimerOwner } from '../../loop/timers.ts';
import type { FilterContext } from '../filter-context.ts';
import { PassThroughFilter } from '../pass-through-filter.ts';

/** A request goes on without routes after this time. */
const WAIT_LIMIT_MS = 15_000;

export function makeOnDemandFilter(
  { name }: OnDemandFilterSettings,
  context: FilterContext,
): FilterFactory {
  return { name, create: (callbacks) => new OnDemandFilter(context, callbacks) };
}

class OnDemandFilter extends PassThroughFilter implements RouteWaiter, TimerOwner {
  readonly #context: FilterContext;
  readonly #callbacks: FilterCallbacks;
  readonly #timer = new LoopTimer(this, 0);
  /** There while the request waits. */
  #ticket: number | undefined = undefined;

  constructor(context: FilterContext, callbacks: FilterCallbacks) {
    super();
    this.#context = context;
    this.#callbacks = callbacks;
  }

  override decodeHeaders(headers: HeaderMap): HeadersStatus {
    if (this.#callbacks.route !== undefined) return 'continue';
    const { routeDemand, loop } = this.#context;
    const wanted = this.#context.missingRoutes(headers);
    this.#ticket = wanted === undefined ? undefined : routeDemand.wait(wanted, this);
    if (this.#ticket === undefined) return 'continue';
    loop.timers.list(WAIT_LIMIT_MS).arm(this.#timer);
    return 'stop';
  }

  override decodeData(): DataStatus {
    return this.#ticket === undefined ? 'continue' : 'stop_and_buffer';
  }

  override decodeTrailers(): TrailersStatus {
    return this.#ticket === undefined ? 'continue' : 'stop';
  }

  override onDestroy(): void {
    this.#leave();
  }

  onRoutesAnswer(): void {
    this.#context.loop.run(this, () => {
      this.#leave();
      this.#callbacks.clearRoute();
      this.#callbacks.continueDecoding();
    });
  }

  onException(): void {
    this.#callbacks.onException();
  }

  onTimer(): void {
    this.onRoutesAnswer();
  }

  #leave(): void {
    if (this.#ticket === undefined) return;
    this.#context.routeDemand.leave(this.#ticket);
    this.#ticket = undefined;
    this.#timer.disarm();
  }
}
