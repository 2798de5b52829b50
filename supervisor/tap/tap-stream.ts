/** Records on their way to the client of `/tap`: a queue with a limit and an end. */

/** Bytes that wait for a client; what comes beyond is dropped and counted. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024;

export class TapStream implements AsyncIterable<Uint8Array> {
  readonly #isHeldBack: boolean;
  readonly #onClosed: () => void;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #wake: (() => void) | undefined;
  #isEnded = false;
  /** Records that found no room. */
  dropped = 0;

  /** Held back, it gives nothing before its end. `onClosed` is told when the reader goes. */
  constructor(isHeldBack: boolean, onClosed: () => void) {
    this.#isHeldBack = isHeldBack;
    this.#onClosed = onClosed;
  }

  push(record: Uint8Array): void {
    if (this.#isEnded) return;
    if (this.#waitingBytes + record.length > WAITING_BYTES_MAX) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push(record);
    this.#waitingBytes += record.length;
    if (!this.#isHeldBack) this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => await this.#next(),
      return: () => {
        this.#onClosed();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    while (!this.#isEnded && (this.#isHeldBack || this.#waiting.length === 0)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const record = this.#waiting.shift();
    if (record === undefined) return { done: true, value: undefined };
    this.#waitingBytes -= record.length;
    return { done: false, value: record };
  }
}
