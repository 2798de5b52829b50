/**
 * What a request has brought so far, kept to be sent again: to another host, to a mirror, or after
 * a redirect. Keeps at most `limitBytes` of body; beyond that nothing can be sent again.
 */
import { CollectedBytes, OWN_BYTES } from '../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../loop/held-bytes.ts';
import type { HeaderMap } from '../../stream/header-map.ts';

/** Who takes what was kept. */
interface BodyTarget {
  sendData(data: Buffer, endStream: boolean): void;
  sendTrailers(trailers: HeaderMap): void;
}

export class RequestCopy {
  readonly #limitBytes: number;
  readonly #held: HeldBytes;
  readonly #body = new CollectedBytes();
  trailers: HeaderMap | undefined = undefined;
  #bytes = 0;

  constructor(limitBytes: number, held: HeldBytes) {
    this.#limitBytes = limitBytes;
    this.#held = held;
  }

  /** The request has headers alone. */
  get isEmpty(): boolean {
    return this.#body.length === 0 && this.trailers === undefined;
  }

  /** Keeps a piece, which is copied; false when it is one too many, and the copy is of no use. */
  add(data: Buffer): boolean {
    if (this.#bytes + data.length > this.#limitBytes || this.#held.isFull) return false;
    this.#bytes += data.length;
    this.#held.add(data.length);
    this.#body.add(data.length < OWN_BYTES ? data : Buffer.from(data));
    return true;
  }

  /** Nobody keeps it any more; who is sending it now may go on. */
  release(): void {
    this.#held.add(-this.#bytes);
    this.#bytes = 0;
  }

  /** Sends what came after the headers; `isWhole`: nothing more will come. */
  sendTo(target: BodyTarget, isWhole: boolean): void {
    const { trailers } = this;
    const pieces = this.#body.blocks();
    const last = isWhole && trailers === undefined ? pieces.length - 1 : -1;
    pieces.forEach((piece, position) => target.sendData(piece, position === last));
    if (trailers !== undefined) target.sendTrailers(trailers);
  }
}
