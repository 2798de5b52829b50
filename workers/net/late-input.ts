/**
 * What one read of a connection brought beyond its portion of the turn: kept, and read on from in
 * later turns of the loop, so that one peer's many small messages do not hold up all others. Nothing
 * is read from the connection until it is dealt with, so that one read is the most that waits.
 */
import type { Wire } from './wire.ts';

/** Reads a portion; gives where it stopped, or undefined when all is read. */
export type ReadPortion = (input: Buffer, start: number, end: number) => number | undefined;

export class LateInput {
  readonly #wire: Wire;
  readonly #read: ReadPortion;
  #waiting: Buffer | undefined = undefined;
  #at = 0;

  constructor(wire: Wire, read: ReadPortion) {
    this.#wire = wire;
    this.#read = read;
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  /** Behind what waits already; the input is copied. */
  add(input: Buffer, start: number, end: number): void {
    const piece = input.subarray(start, end);
    if (this.#waiting !== undefined) {
      this.#waiting = Buffer.concat([this.#waiting.subarray(this.#at), piece]);
      this.#at = 0;
      return;
    }
    this.#waiting = Buffer.from(piece);
    this.#at = 0;
    const takeStep = (): boolean => this.#step();
    if (this.#wire.readLater !== undefined) this.#wire.readLater(takeStep);
    else while (!takeStep());
  }

  /** Nobody reads on. */
  drop(): void {
    this.#waiting = undefined;
  }

  #step(): boolean {
    const waiting = this.#waiting;
    if (waiting === undefined) return true;
    const next = this.#read(waiting, this.#at, waiting.length);
    if (next === undefined) this.#waiting = undefined;
    else this.#at = next;
    return next === undefined;
  }
}
