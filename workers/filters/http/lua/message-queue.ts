/** What of a message a script has seen and has not: its body in pieces, and its end. */
import type { HeldBytes } from '../../../loop/held-bytes.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { BodyObject } from './body-object.ts';

interface Piece {
  readonly data: Buffer;
  readonly isEnd: boolean;
}

export class MessageQueue {
  readonly #held: HeldBytes;
  /** Not seen yet. */
  readonly incoming: Piece[] = [];
  incomingTrailers: HeaderMap | undefined = undefined;
  /** Seen, but not passed on. */
  readonly outgoing: BodyObject[] = [];
  outgoingEnds = false;
  outgoingTrailers: HeaderMap | undefined = undefined;
  #bytes = 0;

  constructor(held: HeldBytes) {
    this.#held = held;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return (
      this.incoming.length === 0 &&
      this.outgoing.length === 0 &&
      !this.outgoingEnds &&
      this.incomingTrailers === undefined &&
      this.outgoingTrailers === undefined
    );
  }

  take(data: Buffer, isEnd: boolean): void {
    this.incoming.push({ data: Buffer.from(data), isEnd });
    this.#bytes += data.length;
    this.#held.add(data.length);
  }

  /** What was passed on, or is given up. */
  clear(): void {
    this.#held.add(-this.#bytes);
    this.#bytes = 0;
    this.incoming.length = 0;
    this.outgoing.length = 0;
    this.outgoingEnds = false;
    this.incomingTrailers = undefined;
    this.outgoingTrailers = undefined;
  }
}
