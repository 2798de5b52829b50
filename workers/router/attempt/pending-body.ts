/**
 * What came of a request behind its headers before an attempt may send it: there is no connection
 * yet, or the host has not agreed to take it. Copies it, and pauses its sender at the limit. Made
 * with the first piece that has to wait.
 */
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../loop/held-bytes.ts';
import type { RequestEncoder } from '../../stream/codec.ts';
import type { HeaderMap } from '../../stream/header-map.ts';

const NOTHING = Buffer.alloc(0);

interface PausedSender {
  pauseRequest(paused: boolean): void;
}

export class PendingBody {
  trailers: HeaderMap | undefined = undefined;
  readonly #sender: PausedSender;
  readonly #limitBytes: number;
  readonly #held: HeldBytes;
  readonly #bytes = new CollectedBytes();
  #isPaused = false;

  constructor(sender: PausedSender, limitBytes: number, held: HeldBytes) {
    this.#sender = sender;
    this.#limitBytes = limitBytes;
    this.#held = held;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0 && this.trailers === undefined;
  }

  add(data: Buffer): void {
    this.#bytes.addCopy(data);
    this.#held.add(data.length);
    if (this.#isPaused || (this.#bytes.length < this.#limitBytes && !this.#held.isTight)) return;
    this.#isPaused = true;
    this.#sender.pauseRequest(true);
  }

  /** Sends what has come, as far as the request goes on, and lets its sender go on. */
  sendTo(encoder: RequestEncoder, sawEnd: boolean, isOver: () => boolean): void {
    const { trailers } = this;
    const isWhole = sawEnd && trailers === undefined;
    const pieces = this.#take();
    for (const [position, piece] of pieces.entries()) {
      // The codec may have found the body to be another than the head says.
      if (isOver()) return;
      encoder.encodeData(piece, isWhole && position === pieces.length - 1);
    }
    if (isOver()) return;
    if (trailers !== undefined) encoder.encodeTrailers(trailers);
    else if (isWhole && pieces.length === 0) encoder.encodeData(NOTHING, true);
    this.release();
  }

  /** The body, which is forgotten here; its sender waits until `release`. */
  #take(): readonly Buffer[] {
    this.#held.add(-this.#bytes.length);
    return this.#bytes.take();
  }

  /** Forgets the body, and lets its sender go on. */
  release(): void {
    this.#take();
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#sender.pauseRequest(false);
  }
}
