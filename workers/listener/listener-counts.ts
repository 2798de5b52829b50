/**
 * Where a listener counts in this worker, by its name in statistics. A version with another name
 * counts elsewhere; connections end where they began, and the last of them releases what no version
 * uses.
 */
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { PreConnectionEnd } from './pre-connection.ts';
import {
  LISTENER,
  LISTENER_EXTENSIONS,
  LISTENER_WORKER,
} from '../../shared/stats/templates/listener.ts';

const { index } = LISTENER;
const CX_TOTAL = index.downstream_cx_total;
const CX_ACTIVE = index.downstream_cx_active;
const PRE_CX_ACTIVE = index.downstream_pre_cx_active;
const CX_DESTROY = index.downstream_cx_destroy;
const CX_LENGTH_MS = index.downstream_cx_length_ms;
const ACCEPTED_PER_EVENT = index.connections_accepted_per_socket_event;
const WORKER_CX_TOTAL = LISTENER_WORKER.index.downstream_cx_total;
const WORKER_CX_ACTIVE = LISTENER_WORKER.index.downstream_cx_active;

/** Reasons for which a connection never opens. */
export type Refusal =
  | 'downstream_cx_overflow'
  | 'downstream_global_cx_overflow'
  | 'downstream_cx_overload_reject'
  | WaitEnd
  | 'no_filter_chain_match';

type WaitEnd =
  | 'downstream_pre_cx_timeout'
  | 'downstream_listener_filter_error'
  | 'downstream_listener_filter_remote_close';

/** Which ends of a wait for listener filters are counted. */
const WAIT_ENDS: Partial<Record<PreConnectionEnd, WaitEnd>> = {
  timeout: 'downstream_pre_cx_timeout',
  failed: 'downstream_listener_filter_error',
  left: 'downstream_listener_filter_remote_close',
};

export class ListenerCounts {
  readonly statName: string;
  readonly #stats: StatWriter;
  readonly #base: number;
  readonly #workerBase: number;
  readonly #extensionsBase: number;
  #open = 0;
  #isEnded = false;

  constructor(statName: string, stats: StatWriter, workerIndex: number) {
    this.statName = statName;
    this.#stats = stats;
    const prefix = `listener.${statName}.`;
    this.#base = stats.defineBlock(LISTENER, prefix);
    this.#workerBase = stats.defineBlock(LISTENER_WORKER, `${prefix}worker_${workerIndex}.`);
    this.#extensionsBase = stats.defineBlock(LISTENER_EXTENSIONS, prefix);
  }

  opened(): void {
    const stats = this.#stats;
    this.#open += 1;
    stats.increment(this.#base + CX_TOTAL);
    stats.add(this.#base + CX_ACTIVE, 1);
    // The gauge counts as used from here on, whether a listener filter holds connections back or
    // not.
    stats.add(this.#base + PRE_CX_ACTIVE, 0);
    stats.increment(this.#workerBase + WORKER_CX_TOTAL);
    stats.add(this.#workerBase + WORKER_CX_ACTIVE, 1);
    stats.record(this.#base + ACCEPTED_PER_EVENT, 1);
  }

  closed(lengthMs: number): void {
    const stats = this.#stats;
    stats.increment(this.#base + CX_DESTROY);
    stats.subtract(this.#base + CX_ACTIVE, 1);
    stats.subtract(this.#workerBase + WORKER_CX_ACTIVE, 1);
    stats.record(this.#base + CX_LENGTH_MS, lengthMs);
    this.#letGo();
  }

  /** Listener filters look at a connection, until `decided`. */
  waits(): void {
    this.#open += 1;
    this.#stats.add(this.#base + PRE_CX_ACTIVE, 1);
  }

  decided(how: PreConnectionEnd): void {
    const end = WAIT_ENDS[how];
    if (end !== undefined) this.refused(end);
    this.#stats.subtract(this.#base + PRE_CX_ACTIVE, 1);
    this.#letGo();
  }

  refused(why: Refusal): void {
    this.#stats.increment(this.#base + index[why]);
  }

  /** No connection begins here any more. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (this.#open === 0) this.#release();
  }

  #letGo(): void {
    this.#open -= 1;
    if (this.#isEnded && this.#open === 0) this.#release();
  }

  #release(): void {
    for (const base of [this.#base, this.#workerBase, this.#extensionsBase]) {
      this.#stats.releaseBlock(base);
    }
  }
}
