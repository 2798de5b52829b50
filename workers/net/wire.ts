/** The seam between a codec and the bytes of its connection. */
import type { Flushable } from '../loop/worker-loop.ts';

/** Hears whether what was written has left. */
export interface WriteObserver {
  /** A turn's writes are done, or nothing waits any more. `isWaiting`: the kernel did not take all. */
  onWritten(isWaiting: boolean): void;
  /** The connection is closed: nothing waits. */
  onWritesOver(): void;
}

/** What a codec needs of its transport. */
export interface Wire {
  /** Adds latin-1 text to what is written when the present event ends. */
  writeText(text: string): void;
  /** Adds bytes; they are copied before the call returns. */
  writeData(data: Buffer): void;
  /** Counted: reading goes on when every `true` has had its `false`. */
  pauseReading(paused: boolean): void;
  /**
   * From now on written once in each turn of the loop: many events write to this connection. False
   * where the connection cannot; then `observer` hears nothing.
   */
  gatherTurns?(observer?: WriteObserver): boolean;
  /**
   * True where what has come is read in records, each an event: `task.flush` is called when all of
   * them were read.
   */
  afterRecords?(task: Flushable): boolean;
  /** Calls `task.flush` when the present event ends. */
  defer(task: Flushable): void;
  /**
   * Calls `takeStep` in slices of later turns of the loop, which all connections share, until it
   * says that nothing is left. Reads nothing meanwhile. Absent where all is read at once.
   */
  readLater?(takeStep: () => boolean): void;
  /** Sends what was written and then the end of this direction, where one can end alone. */
  endWriting?(): void;
}
