/** What has come of a message while its module takes its time; its sender waits when it is much. */
import type { HeldBytes } from '../../../loop/held-bytes.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';

interface Piece {
  readonly data: Buffer;
  readonly isEnd: boolean;
}

export class KeptMessage {
  readonly #held: HeldBytes;
  readonly #limitBytes: number;
  readonly #pause: (isPaused: boolean) => void;
  #pieces: Piece[] = [];
  #bytes = 0;
  #isPaused = false;
  trailers: HeaderMap | undefined = undefined;

  constructor(held: HeldBytes, limitBytes: number, pause: (isPaused: boolean) => void) {
    this.#held = held;
    this.#limitBytes = limitBytes;
    this.#pause = pause;
  }

  get isWhole(): boolean {
    return this.trailers !== undefined || this.#pieces.at(-1)?.isEnd === true;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.trailers === undefined;
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#limitBytes;
  }

  add(data: Buffer, isEnd: boolean): void {
    this.#pieces.push({ data: Buffer.from(data), isEnd });
    this.#bytes += data.length;
    this.#held.add(data.length);
  }

  pauseWhenFull(): void {
    if (this.#isPaused || !this.isTooLarge) return;
    this.#isPaused = true;
    this.#pause(true);
  }

  take(): Piece | undefined {
    const piece = this.#pieces.shift();
    if (piece !== undefined) this.#release(piece.data.length);
    return piece;
  }

  takeBody(): Buffer {
    const body = Buffer.concat(this.#pieces.map(({ data }) => data));
    this.drop();
    return body;
  }

  takeTrailers(): HeaderMap | undefined {
    const { trailers } = this;
    this.trailers = undefined;
    return trailers;
  }

  /** Gives up the pieces of the body. */
  drop(): void {
    this.#pieces = [];
    this.#release(this.#bytes);
  }

  #release(bytes: number): void {
    this.#bytes -= bytes;
    this.#held.add(-bytes);
    if (!this.#isPaused || this.isTooLarge) return;
    this.#isPaused = false;
    this.#pause(false);
  }
}
