/**
 * How long one request may take: what its route and its headers resolved to, and the timer of the
 * whole answer, which runs from the end of the request.
 */
import type { HeaderMap } from '../../stream/header-map.ts';
import type { RequestTimeouts } from '../../routing/timeouts.ts';
import { LoopTimer, type LoopTimers, type TimerOwner } from '../../loop/timers.ts';

const ALT_RESPONSE = 'x-envoy-upstream-rq-timeout-alt-response';

export class RequestDeadline implements RequestTimeouts {
  globalMs = 0;
  perTryMs = 0;
  perTryIdleMs = 0;
  hedges = false;
  /** What the client is told when time is up. */
  status = 504;
  #timer: LoopTimer | undefined = undefined;

  /** An internal client may ask for 204 in place of 504. */
  takeStatus(headers: HeaderMap): void {
    if (headers.has(ALT_RESPONSE)) this.status = 204;
  }

  get body(): string {
    return this.status === 504 ? 'upstream request timeout' : '';
  }

  arm(owner: TimerOwner, timers: LoopTimers): void {
    if (this.globalMs <= 0) return;
    this.#timer = new LoopTimer(owner, 0);
    timers.list(this.globalMs).arm(this.#timer);
  }

  disarm(): void {
    this.#timer?.disarm();
  }
}
