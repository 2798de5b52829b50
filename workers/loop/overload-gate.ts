/**
 * Whether this worker takes one more piece of work while the server is overloaded, and how patient
 * it is.
 */
import {
  CALM,
  type LeastTimeout,
  type OverloadState,
  SHED_POINT_PREFIX,
  type ScaledTimeout,
  type ShedPoint,
} from '../../shared/resources/overload.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { LoopTimers, TimerList } from './timers.ts';

export interface OverloadGateOptions {
  /** From 0 to 1. */
  readonly random: () => number;
  readonly stats: StatWriter;
  readonly timers: LoopTimers;
  /** The bytes held by the loop; absent where it refuses nothing. */
  readonly held?: HeldBytes;
}

export class OverloadGate {
  readonly #options: OverloadGateOptions;
  /** By the timeout and its own length. */
  readonly #lists = new Map<
    string,
    { readonly timeout: ScaledTimeout; list: TimerList; ms: number }
  >();
  #state: OverloadState = CALM;
  /** Some point sheds; asked before the table of points is searched, at every request. */
  #isShedding = false;

  constructor(options: OverloadGateOptions) {
    this.#options = options;
  }

  set state(state: OverloadState) {
    this.#state = state;
    this.#isShedding = Object.keys(state.shed).length > 0;
    for (const { timeout, list, ms } of this.#lists.values()) {
      list.setDelay(this.#scaled(timeout, ms));
    }
  }

  refusesRequest(): boolean {
    const { held, stats } = this.#options;
    if (held?.isFull !== true) return this.#falls(this.#state.refusedRequests);
    stats.increment(stats.defineCounter('sluice.held_bytes.refused_requests'));
    return true;
  }

  endsKeepalive(): boolean {
    return this.#falls(this.#state.endedKeepalives);
  }

  rejectsConnection(): boolean {
    return this.#falls(this.#state.rejectedConnections);
  }

  /** Counts what it refuses. */
  sheds(point: ShedPoint): boolean {
    if (!this.#isShedding) return false;
    const share = this.#state.shed[point];
    if (share === undefined || !this.#falls(share)) return false;
    const { stats } = this.#options;
    const name = `overload.${SHED_POINT_PREFIX}${point}.shed_load_count`;
    stats.increment(stats.defineCounter(name));
    return true;
  }

  /** Timers of this length, which gets shorter under pressure, also for those that are armed. */
  timeouts(timeout: ScaledTimeout, ms: number): TimerList {
    const key = `${timeout} ${ms}`;
    let known = this.#lists.get(key);
    if (known === undefined) {
      known = { timeout, ms, list: this.#options.timers.ownList(this.#scaled(timeout, ms)) };
      this.#lists.set(key, known);
    }
    return known.list;
  }

  #scaled(timeout: ScaledTimeout, ms: number): number {
    const { timeoutScale, leastTimeouts } = this.#state;
    const least = leastTimeouts.find((each) => each.timeout === timeout);
    return least === undefined ? ms : ms - timeoutScale * (ms - leastOf(least, ms));
  }

  #falls(share: number): boolean {
    return share > 0 && (share >= 1 || this.#options.random() < share);
  }
}

function leastOf({ minMs, minShare = 0 }: LeastTimeout, ms: number): number {
  return Math.min(ms, minMs ?? minShare * ms);
}
