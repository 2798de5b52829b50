/** What of a message a script has seen and has not: its body in pieces, and its end. */
import type { HeldBytes } from '../../../loop/held-bytes.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { BodyObject } from './body-object.ts';
import type { Direction } from './side-parts.ts';

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
  readonly direction: Direction;
  #bytes = 0;
  #isPaused = false;

  constructor(held: HeldBytes, direction: Direction) {
    this.#held = held;
    this.direction = direction;
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

  /** The peer waits while more is here than a stream may keep. */
  pauseWhenFull(limitBytes: number): void {
    if (this.#isPaused || this.#bytes < limitBytes) return;
    this.#isPaused = true;
    this.direction.pause(true);
  }

  /** Gives up what was seen to what it returns, which passes it on. */
  release(): () => void {
    const { direction, outgoingEnds, outgoingTrailers } = this;
    const bytes = this.outgoing.map((each) => each.bytes);
    this.clear();
    if (this.#isPaused) {
      this.#isPaused = false;
      direction.pause(false);
    }
    return () => {
      if (bytes.length > 0 || outgoingEnds) direction.inject(Buffer.concat(bytes), outgoingEnds);
      if (outgoingTrailers !== undefined) direction.injectTrailers(outgoingTrailers);
    };
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
