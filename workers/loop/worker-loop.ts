/**
 * One worker's loop as the data path sees it: its clock, its timers, the buffer that every socket
 * reads into, and the transports that have something to write at the end of the present event.
 * Every callback of the runtime that reaches the data path begins with `enter` and ends with
 * `leave`, and gives what is thrown in between to `failed`: that one stream or connection ends.
 */
import type { Clock } from '../../shared/process/clock.ts';
import type { Endable, Exceptions } from '../../shared/process/exceptions.ts';
import { HeldBytes } from './held-bytes.ts';
import { LoopClock } from './loop-clock.ts';
import { SliceTurns } from './slice-turns.ts';
import { LoopTimers } from './timers.ts';
import { TurnEnd } from './turn-end.ts';

/** What one read may bring. Shared by all sockets, since each read is consumed before the next. */
const READ_BUFFER_BYTES = 64 * 1024;

export interface Flushable {
  flush(): void;
  /** Ends what it writes for; absent where the stream of the event ends instead. */
  onException?(): void;
}

export class WorkerLoop {
  readonly clock: LoopClock;
  readonly timers: LoopTimers;
  readonly readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly held: HeldBytes;
  readonly slices = new SliceTurns(this);
  readonly turnEnd = new TurnEnd(this);
  /** The stream that the present event works for; it may be another one than the socket's. */
  current: Endable | undefined = undefined;
  /** Counts events, so that what the present one did is told from what was before it. */
  events = 0;
  readonly #dirty: Flushable[] = [];
  readonly #exceptions: Pick<Exceptions, 'note'>;

  constructor(
    clock: Clock,
    held = new HeldBytes(),
    exceptions: Pick<Exceptions, 'note'> = { note: throwLater },
  ) {
    this.held = held;
    this.#exceptions = exceptions;
    this.clock = new LoopClock(clock);
    this.timers = new LoopTimers(clock, this.clock, {
      failed: (error, owner) => this.failed(error, owner),
      afterTimers: () => this.leave(),
    });
  }

  enter(): void {
    this.events++;
    this.current = undefined;
    this.clock.refresh();
  }

  /** Writes out what the event left behind: one system call per transport, whatever was added. */
  leave(): void {
    const dirty = this.#dirty;
    // Flushing may make another transport dirty: a response that ends lets the next request begin.
    for (let at = 0; at < dirty.length; at++) {
      const each = dirty[at];
      try {
        each?.flush();
      } catch (error) {
        this.failed(error, each?.onException === undefined ? undefined : (each as Endable));
      }
    }
    dirty.length = 0;
  }

  /** An event from outside of the transports; `owner` ends when its code throws. */
  run(owner: Endable | undefined, act: () => void): void {
    this.enter();
    try {
      act();
    } catch (error) {
      this.failed(error, owner);
    }
    this.leave();
  }

  /** Ends the stream that was worked for, and the owner of the event. */
  failed(error: unknown, owner: Endable | undefined): void {
    this.#exceptions.note(error);
    const { current } = this;
    this.current = undefined;
    this.#end(current);
    if (owner !== current) this.#end(owner);
  }

  /** Notes an exception whose stream or connection has been seen to. */
  note(error: unknown): void {
    this.#exceptions.note(error);
  }

  /** `transport.flush` is called when the present event ends. The caller adds itself once. */
  flushLater(transport: Flushable): void {
    this.#dirty.push(transport);
  }

  #end(victim: Endable | undefined): void {
    try {
      victim?.onException();
    } catch (error) {
      this.#exceptions.note(error);
    }
  }
}

/** Without a place to note exceptions nothing is caught for good. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
