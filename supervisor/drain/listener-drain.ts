/**
 * One drain of some listeners from its command to its end. Its stages follow each other once; what
 * is to be closed or cut is done by its owner. A drain as Envoy knows it ends with the closed
 * listeners; one of our own goes on until the last connection is gone, or its deadline.
 */
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { UnansweredCommand } from '../../shared/messages/supervisor-to-worker.ts';
import type { DrainEnd, ListenerDrainStatus } from './drain-view.ts';
import type { Census } from './connection-census.ts';

/** How often the end of a drain is looked for. */
const LOOK_PERIOD_MS = 200;

export interface DrainPlan {
  readonly listeners: readonly string[];
  /** With a parameter of our own: ends when nothing is open, cuts at the deadline. */
  readonly isOwn: boolean;
  /** Whether listeners accept until the end. */
  readonly acceptsMeanwhile: boolean;
  /** False: listeners are never closed. */
  readonly closes: boolean;
  readonly minMs: number;
  readonly maxMs: number;
  readonly immediate: boolean;
  readonly closeIdleAfterMs: number | undefined;
}

export interface DrainOwner {
  readonly clock: Clock;
  notify(notice: UnansweredCommand): void;
  census(): Promise<Census>;
  /** Resolves when no worker accepts on them any more. */
  closeListeners(names: readonly string[]): Promise<void>;
  /** After each look, with how many connections are open. */
  progressed(open: number): void;
}

type Stage = 'accepting' | 'closed' | 'drained' | 'undone';

export class ListenerDrain {
  readonly plan: DrainPlan;
  /** What workers are told, also those that start meanwhile. */
  readonly notice: UnansweredCommand;
  /** Resolves once, when the drain is over in one way or the other. */
  readonly ended: Promise<DrainEnd>;
  readonly #owner: DrainOwner;
  readonly #startedMs: number;
  readonly #peaks = new Map<string, number>();
  #stage: Stage = 'accepting';
  #timer: Timer | undefined;
  #end: (end: DrainEnd) => void = () => undefined;

  constructor(plan: DrainPlan, owner: DrainOwner) {
    this.plan = plan;
    this.#owner = owner;
    this.#startedMs = owner.clock.monotonicMs();
    const { immediate, closeIdleAfterMs } = plan;
    this.notice = {
      kind: 'drain',
      startedAtNs: owner.clock.monotonicNs(),
      immediate,
      listeners: plan.listeners,
      ...(plan.isOwn ? { drainTimeS: plan.maxMs / 1000 } : {}),
      ...(closeIdleAfterMs === undefined ? {} : { closeIdleAfterMs }),
    };
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  start(): void {
    const { plan } = this;
    this.#owner.notify(this.notice);
    if (plan.isOwn) void this.#look();
    else if (!plan.acceptsMeanwhile) void this.#closeAsEnvoy();
    else if (plan.closes) this.#wait(plan.maxMs, () => void this.#closeAsEnvoy());
  }

  get isOver(): boolean {
    return this.#stage === 'drained' || this.#stage === 'undone';
  }

  /** Whether a listener was closed, which cannot be undone. */
  get hasClosed(): boolean {
    return this.#stage === 'closed' || this.#stage === 'drained';
  }

  /** Workers go on as before. The caller asks `hasClosed` first. */
  undo(): void {
    this.abandon();
    this.#owner.notify({ kind: 'undrain', listeners: this.plan.listeners });
  }

  /** Another drain takes over, or the server ends; workers are told nothing. */
  abandon(): void {
    this.#timer?.cancel();
    if (this.isOver) return;
    this.#stage = 'undone';
    this.#end({ kind: 'undone' });
  }

  statusOf(listener: string, census: Census): ListenerDrainStatus {
    const { open, idle, streams } = census.of(listener);
    const peak = this.#peakOf(listener, open);
    const elapsedMs = this.#elapsedMs();
    const hasDeadline = !this.isOver && (this.plan.isOwn || this.plan.closes);
    const isEmpty = open === 0 && census.isComplete;
    return {
      name: listener,
      state: this.hasClosed ? (isEmpty ? 'drained' : 'closed') : 'draining',
      open,
      idle,
      active: open - idle,
      streams,
      percent: peak === 0 ? 100 : Math.floor(((peak - open) * 100) / peak),
      elapsedMs,
      ...(hasDeadline ? { deadlineMs: Math.max(0, this.plan.maxMs - elapsedMs) } : {}),
    };
  }

  async #look(): Promise<void> {
    const { plan } = this;
    if (!plan.acceptsMeanwhile) await this.#closeOnce();
    const census = await this.#owner.census();
    if (this.isOver) return;
    const open = plan.listeners.reduce((sum, name) => {
      const count = census.of(name).open;
      this.#peakOf(name, count);
      return sum + count;
    }, 0);
    this.#owner.progressed(open);
    const elapsedMs = this.#elapsedMs();
    const isEmpty = open === 0 && census.isComplete;
    if (elapsedMs >= plan.maxMs) return void this.#cut(open);
    if (isEmpty && elapsedMs >= plan.minMs) {
      // Connections may have come until the listeners were closed, so that is looked at once more.
      if (this.#stage === 'closed') return this.#finish(0);
      await this.#closeOnce();
      if (!this.isOver) this.#wait(0, () => void this.#look());
      return;
    }
    const untilDeadlineMs = plan.maxMs - elapsedMs;
    this.#wait(Math.min(LOOK_PERIOD_MS, untilDeadlineMs), () => void this.#look());
  }

  async #cut(open: number): Promise<void> {
    await this.#closeOnce();
    this.#owner.notify({ kind: 'cut_connections', listeners: this.plan.listeners });
    this.#finish(open);
  }

  async #closeAsEnvoy(): Promise<void> {
    await this.#closeOnce();
    this.#finish(0);
  }

  async #closeOnce(): Promise<void> {
    if (this.#stage !== 'accepting') return;
    this.#stage = 'closed';
    await this.#owner.closeListeners(this.plan.listeners);
  }

  #finish(cut: number): void {
    if (this.isOver) return;
    this.#stage = 'drained';
    this.#end({ kind: 'drained', cut });
  }

  #wait(delayMs: number, then: () => void): void {
    this.#timer = this.#owner.clock.after(delayMs, then);
  }

  #elapsedMs(): number {
    return this.#owner.clock.monotonicMs() - this.#startedMs;
  }

  #peakOf(listener: string, open: number): number {
    const peak = Math.max(open, this.#peaks.get(listener) ?? 0);
    this.#peaks.set(listener, peak);
    return peak;
  }
}
