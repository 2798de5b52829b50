/**
 * One worker's loop as the data path sees it: its clock, its timers, the buffer that every socket
 * reads into, and the transports that have something to write at the end of the present event.
 * Every callback of the runtime that reaches the data path begins with `enter` and ends with `leave`.
 */
import type { Clock } from '../shared/clock.ts';
import { HeldBytes } from './held-bytes.ts';
import { LoopClock } from './loop-clock.ts';
import { SliceTurns } from './slice-turns.ts';
import { LoopTimers } from './timers.ts';

/** What one read may bring. Shared by all sockets, since each read is consumed before the next. */
const READ_BUFFER_BYTES = 64 * 1024;

export interface Flushable {
  flush(): void;
}

export class WorkerLoop {
  readonly clock: LoopClock;
  readonly timers: LoopTimers;
  readonly readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly held: HeldBytes;
  readonly slices = new SliceTurns(this);
  private readonly dirty: Flushable[] = [];

  constructor(clock: Clock, held = new HeldBytes()) {
    this.held = held;
    this.clock = new LoopClock(clock);
    this.timers = new LoopTimers(clock, this.clock, () => this.leave());
  }

  enter(): void {
    this.clock.refresh();
  }

  /** Writes out what the event left behind: one system call per transport, whatever was added. */
  leave(): void {
    const { dirty } = this;
    // Flushing may make another transport dirty: a response that ends lets the next request begin.
    for (let at = 0; at < dirty.length; at++) dirty[at]?.flush();
    dirty.length = 0;
  }

  /** `transport.flush` is called when the present event ends. The caller adds itself once. */
  flushLater(transport: Flushable): void {
    this.dirty.push(transport);
  }
}
