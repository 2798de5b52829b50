/**
 * What an HTTP/1 client sends behind its open request: kept up to a limit until the request is
 * answered, then read on from. Reading goes on while there is room, so that the client's end is
 * noticed.
 */
import type { Wire } from '../net/wire.ts';
import type { Flushable } from '../loop/worker-loop.ts';

/** Then reading stops. */
const MAX_WAITING = 64 * 1024;

export interface RequestReader {
  /** What comes now begins a request. */
  readonly isBetweenRequests: boolean;
  onData(input: Buffer, start: number, end: number): void;
}

export class PipelinedInput implements Flushable {
  readonly #wire: Wire;
  readonly #reader: RequestReader;
  #waiting: Buffer | undefined = undefined;
  #isReadingPaused = false;
  #resumed: Buffer | undefined = undefined;
  /** The present input is what waited before: it needs no copy to wait again. */
  #isOwnInput = false;

  constructor(wire: Wire, reader: RequestReader) {
    this.#wire = wire;
    this.#reader = reader;
  }

  keep(input: Buffer, start: number, end: number): void {
    const piece = input.subarray(start, end);
    const own = this.#isOwnInput ? piece : Buffer.from(piece);
    const waiting = this.#waiting === undefined ? own : Buffer.concat([this.#waiting, piece]);
    this.#waiting = waiting;
    if (waiting.length < MAX_WAITING || this.#isReadingPaused) return;
    this.#isReadingPaused = true;
    this.#wire.pauseReading(true);
  }

  /** The open request is answered. Undefined when nothing waits. */
  take(): Buffer | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (this.#isReadingPaused) {
      this.#isReadingPaused = false;
      this.#wire.pauseReading(false);
    }
    return waiting;
  }

  /**
   * Reads on when the present event ends: the filters of the answered request are on the call
   * stack.
   */
  resume(waiting: Buffer): void {
    this.#resumed = waiting;
    this.#wire.defer(this);
  }

  flush(): void {
    const resumed = this.#resumed;
    this.#resumed = undefined;
    if (resumed === undefined || !this.#reader.isBetweenRequests) return;
    this.#isOwnInput = true;
    this.#reader.onData(resumed, 0, resumed.length);
    this.#isOwnInput = false;
  }
}
