/**
 * Exceptions that code throws where nobody expects them: a mistake in a filter, a codec or a
 * format. The stream or the connection that was worked on ends, the process goes on. Here they are
 * counted and written down, and a process whose exceptions do not stop says so, once.
 */
import type { Clock, Timer } from './clock.ts';
import { getLogger, processLog } from '../logging/process-log.ts';

/** More exceptions than these within the period wear a worker out: it is replaced. */
const EXCEPTIONS_MAX = 20;
const EXCEPTIONS_PERIOD_MS = 60_000;
/** Stacks that are written within a period; the rest are counted. */
const STACKS_MAX = 20;

/** What can be ended because code that works for it threw. */
export interface Endable {
  /** Ends it, at any moment, also when it has ended, and keeps its books. */
  onException(): void;
}

export interface ExceptionSinks {
  /** Counts one. */
  count(): void;
  /** The process should be replaced, where it can be. Called once. */
  wornOut?(exceptions: number): void;
}

export class Exceptions {
  readonly #clock: Clock;
  readonly #sinks: ExceptionSinks;
  #inPeriod = 0;
  #periodStartMs = Number.NEGATIVE_INFINITY;
  #isWornOut = false;

  constructor(clock: Clock, sinks: ExceptionSinks) {
    this.#clock = clock;
    this.#sinks = sinks;
  }

  note(thrown: unknown): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#periodStartMs > EXCEPTIONS_PERIOD_MS) {
      this.#periodStartMs = nowMs;
      this.#inPeriod = 0;
    }
    this.#inPeriod++;
    this.#sinks.count();
    if (this.#inPeriod <= STACKS_MAX) writeDown(asError(thrown));
    if (this.#inPeriod <= EXCEPTIONS_MAX || this.#isWornOut) return;
    this.#isWornOut = true;
    this.#sinks.wornOut?.(this.#inPeriod);
  }
}

/** Timers whose callbacks may throw without more than being noted. */
export function guardedClock(clock: Clock, exceptions: Exceptions): Clock {
  const guarded = (callback: () => void) => (): void => {
    try {
      callback();
    } catch (error) {
      exceptions.note(error);
    }
  };
  return {
    monotonicNs: () => clock.monotonicNs(),
    monotonicMs: () => clock.monotonicMs(),
    wallMs: () => clock.wallMs(),
    after: (delayMs, callback, options): Timer => clock.after(delayMs, guarded(callback), options),
    every: (periodMs, callback, options): Timer =>
      clock.every(periodMs, guarded(callback), options),
  };
}

/**
 * What nothing nearer to its cause has caught: a process that serves goes on, until this is called
 * off.
 */
export function surviveExceptions(exceptions: Exceptions): () => void {
  const note = (error: unknown): void => exceptions.note(error);
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  return () => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  };
}

function writeDown(error: Error): void {
  const log = getLogger('main');
  log.critical('caught an exception: what it belongs to ends, the process goes on');
  processLog.logStack(log, error);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
