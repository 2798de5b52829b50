/**
 * What a script may take. Steps are loop turns and calls, and what functions of the host do for it;
 * bytes are an estimate of what it allocates. A script that has used up a slice of its steps lets others
 * go on; one that has used up all of them, or its bytes, ends.
 */
import { LuaError, LuaLimitError } from './lua-error.ts';

/** A fraction of a millisecond for most scripts. */
const SLICE_STEPS = 5000;
/** A second or so. */
const RUN_STEPS_MAX = 4_000_000;
/** The steps of what cannot be interrupted, such as the comparisons of a sort. */
const UNINTERRUPTED_STEPS_MAX = 500_000;
/** The bytes of one run, whatever of it was given up meanwhile. */
const RUN_BYTES_MAX = 128 * 1024 * 1024;
/** The bytes of all runs of one state that have not ended. */
const STATE_BYTES_MAX = 256 * 1024 * 1024;
/** So many bytes that are allocated at once count as a step. */
const BYTES_OF_STEP_LOG2 = 10;
const STRING_BYTES_MAX = 16 * 1024 * 1024;
/** The depth of calls of one another within functions of the host. */
const HOST_CALLS_MAX = 100;

/** What is yielded when a slice is over. */
export const PAUSE: unique symbol = Symbol('pause');

export interface RunUsage {
  steps: number;
  bytes: number;
}

export class ScriptLimits {
  /** Steps left of the slice. */
  fuel = SLICE_STEPS;
  usage: RunUsage = { steps: 0, bytes: 0 };
  /** Allocated by runs that have not ended. */
  #bytesInFlight = 0;
  /** Allocated since somebody asked. */
  allocatedBytes = 0;
  #hostCalls = 0;
  #uninterrupted = 0;

  /** When the slice is over. */
  *pause(): Generator<typeof PAUSE, void, unknown> {
    this.settle();
    if (this.#hostCalls === 0) yield PAUSE;
  }

  /** A run begins or goes on. */
  refill(): void {
    this.fuel = SLICE_STEPS;
  }

  /** Adds what was taken of the slice to what the run has taken. */
  settle(): void {
    const steps = SLICE_STEPS - this.fuel;
    this.fuel = SLICE_STEPS;
    this.usage.steps += steps;
    if (this.#hostCalls > 0) this.#uninterrupted += steps;
    if (this.#uninterrupted > UNINTERRUPTED_STEPS_MAX) {
      throw new LuaLimitError('script takes too long in a function that cannot be interrupted');
    }
    if (this.usage.steps > RUN_STEPS_MAX) throw new LuaLimitError('script takes too many steps');
  }

  /** The run waits, or is over. */
  leave(): void {
    this.usage.steps += SLICE_STEPS - this.fuel;
    this.fuel = SLICE_STEPS;
  }

  /** Work that a function of the host has done. */
  spend(steps: number): void {
    this.fuel -= steps;
    if (this.fuel < -UNINTERRUPTED_STEPS_MAX) this.settle();
  }

  /** Large strings take time too. */
  charge(bytes: number): void {
    this.fuel -= bytes >> BYTES_OF_STEP_LOG2;
    this.usage.bytes += bytes;
    this.#bytesInFlight += bytes;
    this.allocatedBytes += bytes;
    if (this.usage.bytes > RUN_BYTES_MAX || this.#bytesInFlight > STATE_BYTES_MAX) {
      throw new LuaLimitError('not enough memory');
    }
  }

  /** Before a string of that length is made. */
  checkLength(bytes: number): void {
    if (bytes > STRING_BYTES_MAX) throw new LuaError('not enough memory');
  }

  endRun(usage: RunUsage): void {
    this.#bytesInFlight -= usage.bytes;
  }

  /** Runs what cannot wait. */
  uninterrupted<Result>(act: () => Result): Result {
    if (this.#hostCalls >= HOST_CALLS_MAX) throw new LuaError('C stack overflow');
    if (this.#hostCalls === 0) {
      this.settle();
      this.#uninterrupted = 0;
    }
    this.#hostCalls += 1;
    try {
      return act();
    } finally {
      this.#hostCalls -= 1;
    }
  }

  get isUninterrupted(): boolean {
    return this.#hostCalls > 0;
  }
}
