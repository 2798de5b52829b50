/**
 * The retries of one request in progress: decides after each failed attempt and waits out the
 * back-off.
 * Made only for requests that may be retried; the owner ends it as soon as there will be no further
 * attempt.
 */
import type { Endable } from '../../../shared/process/exceptions.ts';
import type { ResetReason } from '../../stream/codec.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import type { RequestRetries } from '../../routing/retry-policy.ts';
import { LoopTimer, type LoopTimers, type TimerOwner } from '../../loop/timers.ts';
import type { Priority } from '../../upstream/cluster-limits.ts';
import type { WorkerLoop } from '../../loop/worker-loop.ts';
import type { RoutedRequest } from '../ledger/routed-request.ts';
import type { RouterLedger } from '../ledger/router-ledger.ts';
import { RetryState, type RetryVerdict } from './retry-state.ts';

/** Whose request it is; ends where the next attempt throws. */
export interface RetryOwner extends Endable {
  tryAgain(): void;
}

interface RetrierParts {
  readonly owner: RetryOwner;
  readonly state: RetryState;
  readonly timers: LoopTimers;
  /** Told by response flags why there was no further attempt. */
  readonly info: StreamInfo;
}

export class Retrier implements TimerOwner {
  readonly state: RetryState;
  readonly #parts: RetrierParts;
  readonly #timer = new LoopTimer(this, 0);
  /** The next attempt comes since the one before it took too long. */
  isAfterTimeout = false;

  constructor(parts: RetrierParts) {
    this.#parts = parts;
    this.state = parts.state;
  }

  /** Another attempt was decided and has not begun. */
  get isWaiting(): boolean {
    return this.#timer.isArmed;
  }

  /**
   * `retry`: the response is not for the client. `refused`: it would have been retried if it could.
   * `isRetried`: another attempt was begun beside this one.
   */
  afterHeaders(headers: HeaderMap, isRetried: boolean): 'retry' | 'refused' | 'no' {
    if (isRetried) return this.state.wantsRetryOf(headers) ? 'refused' : 'no';
    this.isAfterTimeout = false;
    const verdict = this.state.afterHeaders(headers);
    if (this.#follow(verdict)) return 'retry';
    return verdict === 'no' ? 'no' : 'refused';
  }

  /** True when another attempt follows. `isStarted`: something of the request was sent upstream. */
  afterReset(reason: ResetReason, isStarted: boolean): boolean {
    this.isAfterTimeout = reason === 'local_reset';
    return this.#follow(this.state.afterReset(reason, isStarted));
  }

  /** True when another attempt follows beside the one that is slow. */
  afterSlowAttempt(): boolean {
    this.isAfterTimeout = true;
    return this.#follow(this.state.afterSlowAttempt());
  }

  end(): void {
    this.#timer.disarm();
    this.state.release();
  }

  onException(): void {
    this.#parts.owner.onException();
  }

  onTimer(): void {
    this.#parts.owner.tryAgain();
  }

  #follow(verdict: RetryVerdict): boolean {
    const { info, timers } = this.#parts;
    if (verdict === 'limit') info.responseFlags |= ResponseFlag.upstreamRetryLimitExceeded;
    if (verdict === 'overflow') info.responseFlags |= ResponseFlag.upstreamOverflow;
    if (verdict !== 'retry') return false;
    // An attempt that failed at once must not be repeated within the same event of the loop.
    timers.list(Math.max(1, this.state.takeBackOffMs())).arm(this.#timer);
    return true;
  }
}

interface RetryingParts {
  readonly owner: RetryOwner;
  readonly request: RoutedRequest;
  readonly priority: Priority;
  readonly loop: WorkerLoop;
  readonly ledger: RouterLedger;
}

export function startRetrying(retries: RequestRetries, parts: RetryingParts): Retrier {
  const { owner, request, priority, loop, ledger } = parts;
  return new Retrier({
    owner,
    state: new RetryState(retries, {
      cluster: request.cluster,
      priority,
      countVirtual: (event) => ledger.retries(request, event),
      random: Math.random,
      wallMs: () => loop.clock.wallMs,
    }),
    timers: loop.timers,
    info: request.info,
  });
}
