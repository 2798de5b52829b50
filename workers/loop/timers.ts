/**
 * Timers of the data path. A connection or request re-arms its timers several times per request, so
 * arming and disarming must cost a few pointer writes and allocate nothing.
 *
 * One list per delay: the timer armed last expires last, so a list is always in order and both
 * arming and disarming are constant. One timer of the process wakes at the earliest deadline.
 * Delays come from configuration, so there are few; delays that requests bring are rounded up once
 * there are many.
 */
import { assert } from '../../shared/process/assert.ts';
import type { Clock, Timer } from '../../shared/process/clock.ts';
import type { Endable } from '../../shared/process/exceptions.ts';
import type { LoopClock } from './loop-clock.ts';

/** Beyond so many lists, delays are rounded up to two significant digits. */
const MAX_EXACT_LISTS = 512;
/** A wake may come this much early; what is due within it is due. */
const EARLY_MS = 0.6;

export interface TimerOwner extends Endable {
  /** `kind` is what the owner gave to the timer. */
  onTimer(kind: number): void;
}

/** Made once per owner and purpose, armed and disarmed as often as needed. */
export class LoopTimer {
  readonly owner: TimerOwner;
  readonly kind: number;
  deadlineMs = 0;
  previous: LoopTimer | TimerList | undefined = undefined;
  next: LoopTimer | TimerList | undefined = undefined;

  constructor(owner: TimerOwner, kind: number) {
    this.owner = owner;
    this.kind = kind;
  }

  get isArmed(): boolean {
    return this.next !== undefined;
  }

  disarm(): void {
    const { previous, next } = this;
    if (previous === undefined || next === undefined) return;
    previous.next = next;
    next.previous = previous;
    this.previous = undefined;
    this.next = undefined;
  }
}

/** All armed timers of one delay; a ring through the list itself. */
export class TimerList {
  #delayMs: number;
  readonly #timers: LoopTimers;
  previous: LoopTimer | TimerList = this;
  next: LoopTimer | TimerList = this;

  constructor(timers: LoopTimers, delayMs: number) {
    this.#timers = timers;
    this.#delayMs = delayMs;
  }

  get delayMs(): number {
    return this.#delayMs;
  }

  /**
   * Sets the delay of a list of one's own: those that are armed are due as much sooner or later.
   */
  setDelay(delayMs: number): void {
    const changeMs = Math.max(1, delayMs) - this.#delayMs;
    if (changeMs === 0) return;
    this.#delayMs += changeMs;
    for (let each = this.next; each instanceof LoopTimer;) {
      each.deadlineMs += changeMs;
      if (each.next === undefined) break;
      each = each.next;
    }
    const first = this.next;
    if (first instanceof LoopTimer && first.deadlineMs < this.#timers.wakeAtMs) {
      this.#timers.wakeBy(first.deadlineMs);
    }
  }

  /** Arms or re-arms: due `delayMs` after the present event of the loop. */
  arm(timer: LoopTimer): void {
    timer.disarm();
    const deadlineMs = this.#timers.clock.ms + this.delayMs;
    timer.deadlineMs = deadlineMs;
    const last = this.previous;
    timer.previous = last;
    timer.next = this;
    last.next = timer;
    this.previous = timer;
    if (deadlineMs < this.#timers.wakeAtMs) this.#timers.wakeBy(deadlineMs);
  }
}

export interface TimerEvents {
  /** What a timer's owner did about its timer threw. */
  failed(error: unknown, owner: TimerOwner): void;
  /** All due timers have been called. */
  afterTimers(): void;
}

export class LoopTimers {
  readonly clock: LoopClock;
  readonly #source: Clock;
  readonly #events: TimerEvents;
  readonly #lists = new Map<number, TimerList>();
  readonly #ownLists: TimerList[] = [];
  #wake: Timer | undefined = undefined;
  wakeAtMs = Number.POSITIVE_INFINITY;

  constructor(source: Clock, clock: LoopClock, events: TimerEvents) {
    this.#source = source;
    this.clock = clock;
    this.#events = events;
  }

  /** The list of a delay; keep it where the delay is configured. */
  list(delayMs: number): TimerList {
    assert(delayMs > 0, 'a delay of zero means: no timer');
    const exact = Math.max(1, delayMs);
    const key = this.#lists.size < MAX_EXACT_LISTS ? exact : roundedUp(exact);
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = new TimerList(this, key);
      this.#lists.set(key, list);
    }
    return list;
  }

  /** A list whose delay may change; there are few, and they stay. */
  ownList(delayMs: number): TimerList {
    const list = new TimerList(this, Math.max(1, delayMs));
    this.#ownLists.push(list);
    return list;
  }

  wakeBy(deadlineMs: number): void {
    this.#wake?.cancel();
    this.wakeAtMs = deadlineMs;
    const delayMs = Math.max(1, Math.ceil(deadlineMs - this.clock.ms));
    // A worker with nothing but timers may end: its channel and sockets keep it alive.
    this.#wake = this.#source.after(Math.min(delayMs, MAX_DELAY_MS), () => this.#expire(), {
      unref: true,
    });
  }

  #expire(): void {
    this.#wake = undefined;
    this.wakeAtMs = Number.POSITIVE_INFINITY;
    this.clock.refresh();
    const dueMs = this.clock.ms + EARLY_MS;
    const lists = [...this.#lists.values(), ...this.#ownLists];
    for (const list of lists) {
      // Timers armed while others are called land behind `dueMs`, since delays are at least 1 ms.
      for (let first = list.next; first instanceof LoopTimer; first = list.next) {
        if (first.deadlineMs > dueMs) break;
        first.disarm();
        this.#call(first);
      }
    }
    let earliestMs = Number.POSITIVE_INFINITY;
    for (const list of lists) {
      const first = list.next;
      if (first instanceof LoopTimer) earliestMs = Math.min(earliestMs, first.deadlineMs);
    }
    if (earliestMs < this.wakeAtMs) this.wakeBy(earliestMs);
    this.#events.afterTimers();
  }

  #call({ owner, kind }: LoopTimer): void {
    try {
      owner.onTimer(kind);
    } catch (error) {
      this.#events.failed(error, owner);
    }
  }
}

/** Node's own limit is 2^31 - 1 ms; a timer that is further away is armed again on waking. */
const MAX_DELAY_MS = 0x7fff_ffff;

function roundedUp(delayMs: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(delayMs)) - 1);
  return Math.ceil(delayMs / unit) * unit;
}
