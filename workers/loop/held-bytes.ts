/**
 * Counts the bytes that a worker holds for its connections: writes that the kernel has not taken,
 * and bodies kept until a host is connected or to be sent again. Each connection has a limit of its
 * own; this is the one over all of them.
 */

/** What a worker may hold before it answers new requests with 503. */
export const HELD_BYTES_CEILING = 512 * 1024 * 1024;
/** How far the count may move before it is told. */
export const TELLING_STEP_BYTES = 64 * 1024;

export interface HeldBytesOptions {
  readonly ceilingBytes: number;
  /** By how much the count has moved since it was told last. */
  readonly tell: (change: number) => void;
}

const UNTOLD: HeldBytesOptions = { ceilingBytes: HELD_BYTES_CEILING, tell: () => undefined };

export class HeldBytes {
  readonly #options: HeldBytesOptions;
  #bytes = 0;
  #told = 0;

  constructor(options: HeldBytesOptions = UNTOLD) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Half of the ceiling is held: a connection with waiting bytes reads no more for now. */
  get isTight(): boolean {
    return this.#bytes >= this.#options.ceilingBytes / 2;
  }

  /** No new work. */
  get isFull(): boolean {
    return this.#bytes >= this.#options.ceilingBytes;
  }

  /** Negative for what is let go. */
  add(length: number): void {
    this.#bytes += length;
    const change = this.#bytes - this.#told;
    if (change === 0 || (Math.abs(change) < TELLING_STEP_BYTES && this.#bytes > 0)) return;
    this.#told = this.#bytes;
    this.#options.tell(change);
  }
}
