/**
 * Windows of flow control (RFC 9113 section 5.2), of the connection and of streams: how much may be
 * sent, and when the peer is told that it may send more.
 */
import { LARGEST_WINDOW } from './frames.ts';

/** What this side may still send; negative after the peer made its initial window smaller. */
export class SendWindow {
  #left: number;

  constructor(left: number) {
    this.#left = left;
  }

  get left(): number {
    return this.#left;
  }

  take(bytes: number): void {
    this.#left -= bytes;
  }

  /** False where the window would grow beyond what a number can say. */
  add(bytes: number): boolean {
    this.#left += bytes;
    return this.#left <= LARGEST_WINDOW;
  }
}

/** What the peer may still send. Room is given back in large pieces, when half of it is used. */
export class ReceiveWindow {
  readonly #size: number;
  #left: number;
  #consumed = 0;

  constructor(size: number) {
    this.#size = size;
    this.#left = size;
  }

  /** False where the peer sends more than it may. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Bytes were dealt with; returns the increment that the peer is to be told of now, or 0. */
  consume(bytes: number): number {
    this.#consumed += bytes;
    if (this.#consumed * 2 < this.#size) return 0;
    const increment = this.#consumed;
    this.#consumed = 0;
    this.#left += increment;
    return increment;
  }
}
