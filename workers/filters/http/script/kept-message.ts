/** What has come of a message while its module takes its time; its sender waits when it is much. */
import { CollectedBytes } from '../../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../../loop/held-bytes.ts';
import type { HeaderMap } from '../../../stream/header-map.ts';

const NOTHING = Buffer.alloc(0);

interface Piece {
  readonly data: Buffer;
  readonly isEnd: boolean;
}

export class KeptMessage {
  readonly #held: HeldBytes;
  readonly #limitBytes: number;
  readonly #pause: (isPaused: boolean) => void;
  readonly #body = new CollectedBytes();
  /** What is handed over, in pieces that are larger than they came. */
  #pieces: readonly Buffer[] = [];
  #next = 0;
  #bytes = 0;
  /** The body's end has come, and has not been handed over. */
  #hasEnd = false;
  #isPaused = false;
  trailers: HeaderMap | undefined = undefined;

  constructor(held: HeldBytes, limitBytes: number, pause: (isPaused: boolean) => void) {
    this.#held = held;
    this.#limitBytes = limitBytes;
    this.#pause = pause;
  }

  get isWhole(): boolean {
    return this.trailers !== undefined || this.#hasEnd;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0 && !this.isWhole;
  }

  get isTooLarge(): boolean {
    return this.#bytes > this.#limitBytes;
  }

  add(data: Buffer, isEnd: boolean): void {
    this.#body.addCopy(data);
    this.#hasEnd ||= isEnd;
    this.#bytes += data.length;
    this.#held.add(data.length);
  }

  pauseWhenFull(): void {
    if (this.#isPaused || !this.isTooLarge) return;
    this.#isPaused = true;
    this.#pause(true);
  }

  take(): Piece | undefined {
    if (this.#next >= this.#pieces.length) {
      this.#pieces = this.#body.take();
      this.#next = 0;
    }
    const data = this.#pieces[this.#next++];
    if (data === undefined && !this.#hasEnd) return undefined;
    const isEnd = this.#hasEnd && this.#next >= this.#pieces.length && this.#body.length === 0;
    if (isEnd) this.#hasEnd = false;
    this.#release(data?.length ?? 0);
    return { data: data ?? NOTHING, isEnd };
  }

  takeBody(): Buffer {
    const rest = this.#pieces.slice(this.#next);
    const body =
      rest.length === 0 ? this.#body.joined() : Buffer.concat([...rest, ...this.#body.blocks()]);
    this.drop();
    return body;
  }

  takeTrailers(): HeaderMap | undefined {
    const { trailers } = this;
    this.trailers = undefined;
    return trailers;
  }

  /** Gives up the body. */
  drop(): void {
    this.#pieces = [];
    this.#body.clear();
    this.#hasEnd = false;
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
