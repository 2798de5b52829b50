/**
 * Collects encoded records and sends them together: so many, or after an interval. Bounded: while
 * a collector takes its time, records wait up to a number and a size, and what comes then is
 * dropped and counted. Nothing here waits on a request's path.
 */
import type { WorkerLoop } from '../loop/worker-loop.ts';
import { LoopTimer, type TimerOwner } from '../loop/timers.ts';
import type { Outcome } from './collector.ts';

/** Batches whose answers are awaited at one time. */
const IN_FLIGHT_MAX = 8;
/** The limit of what waits, and of one batch. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;
const BATCH_BYTES_MAX = 1024 * 1024;
/** An interval of 0 would keep the loop busy. */
const INTERVAL_MS_MIN = 1;

export interface BatchOptions {
  readonly loop: WorkerLoop;
  /** Records that are sent at once, and how long fewer may wait; asked each time. */
  readonly limits: () => {
    readonly records?: number;
    readonly bytes?: number;
    readonly ms: number;
  };
  /** Records that may wait. */
  readonly waitingMax: number;
  send(records: readonly Buffer[], done: (outcome: Outcome) => void): void;
  onDropped(records: number): void;
  /** The interval has passed, whether or not there is anything to send. */
  onInterval?(): void;
}

export class BatchSender implements TimerOwner {
  readonly #options: BatchOptions;
  readonly #timer: LoopTimer;
  #records: Buffer[] = [];
  #bytes = 0;
  #inFlight = 0;
  #isReleased = false;
  #onSettled: (() => void) | undefined = undefined;

  constructor(options: BatchOptions) {
    this.#options = options;
    this.#timer = new LoopTimer(this, 0);
    this.#arm();
  }

  add(record: Buffer): void {
    const { waitingMax } = this.#options;
    if (this.#records.length >= waitingMax || this.#bytes + record.length > WAITING_BYTES_MAX) {
      this.#options.onDropped(1);
      return;
    }
    this.#records.push(record);
    this.#bytes += record.length;
    if (this.#isFull()) this.#send();
  }

  flush(): void {
    while (this.#records.length > 0 && this.#inFlight < IN_FLIGHT_MAX) this.#send();
  }

  /** Resolves when what was sent has been answered. */
  settled(): Promise<void> {
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onSettled = resolve));
  }

  /** What waits is sent; nothing follows. */
  release(): void {
    this.#isReleased = true;
    this.#timer.disarm();
    this.flush();
    if (this.#records.length > 0) this.#options.onDropped(this.#records.length);
    this.#records = [];
  }

  onTimer(): void {
    this.#options.onInterval?.();
    this.#arm();
    this.flush();
  }

  onException(): void {
    // A batch that could not be made is lost; the next ones are sent.
    this.#records = [];
    this.#bytes = 0;
    if (!this.#timer.isArmed && !this.#isReleased) this.#arm();
  }

  #isFull(): boolean {
    const { records = Infinity, bytes = Infinity } = this.#options.limits();
    return this.#records.length >= records || this.#bytes >= bytes;
  }

  #send(): void {
    if (this.#inFlight >= IN_FLIGHT_MAX) return;
    const records = this.#take();
    this.#inFlight += 1;
    let isDone = false;
    this.#options.send(records, () => {
      if (isDone) return;
      isDone = true;
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onSettled?.();
      if (this.#records.length > 0 && this.#isFull()) this.#send();
    });
  }

  #take(): readonly Buffer[] {
    let bytes = 0;
    let count = 0;
    for (const record of this.#records) {
      if (count > 0 && bytes + record.length > BATCH_BYTES_MAX) break;
      bytes += record.length;
      count += 1;
    }
    this.#bytes -= bytes;
    return this.#records.splice(0, count);
  }

  #arm(): void {
    const ms = Math.max(INTERVAL_MS_MIN, this.#options.limits().ms);
    this.#options.loop.timers.list(ms).arm(this.#timer);
  }
}
