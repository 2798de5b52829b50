/**
 * What a connection's bytes are counted as. A transport is one, so that no connection needs a second
 * object for it.
 */
import type { ByteCounters } from './byte-stream.ts';

export abstract class ByteAccount {
  readonly #counters: ByteCounters | undefined;
  /** Bytes of the last read, which `counters.waiting` holds. */
  #lastRead = 0;
  /** Bytes of the whole connection. */
  bytesRead = 0;
  bytesWritten = 0;

  protected constructor(counters: ByteCounters | undefined) {
    this.#counters = counters;
  }

  protected countReceived(length: number): void {
    this.bytesRead += length;
    this.#counters?.stats.add(this.#counters.received, length);
    this.countWaiting(length);
  }

  protected countWaiting(length: number): void {
    if (length === this.#lastRead) return;
    this.#counters?.stats.add(this.#counters.waiting, length - this.#lastRead);
    this.#lastRead = length;
  }

  protected countSent(length: number): void {
    this.bytesWritten += length;
    this.#counters?.stats.add(this.#counters.sent, length);
  }
}
