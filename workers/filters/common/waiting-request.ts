/**
 * A request that waits at a filter while a service is asked about it. The filter takes what comes
 * behind the headers; the client is told to wait as soon as that is more than a stream may keep.
 * What was read before it could be told is kept too, so nothing of it fails the request.
 */
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';
import type { HeldBytes } from '../../loop/held-bytes.ts';
import type { FilterCallbacks } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';

export class WaitingRequest {
  readonly #callbacks: FilterCallbacks;
  readonly #held: HeldBytes;
  readonly #limitBytes: number;
  readonly #body = new CollectedBytes();
  #trailers: HeaderMap | undefined = undefined;
  #endsWithBody = false;
  #isPaused = false;

  constructor(callbacks: FilterCallbacks, held: HeldBytes, limitBytes: number) {
    this.#callbacks = callbacks;
    this.#held = held;
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#body.length;
  }

  /** `mayGrow`: the client may send more than a stream usually keeps. */
  take(data: Buffer, endStream: boolean, mayGrow = false): void {
    this.#endsWithBody = endStream;
    if (data.length > 0) {
      this.#body.addCopy(data);
      this.#held.add(data.length);
    }
    if (!mayGrow && !this.#isPaused && this.#body.length >= this.#limitBytes) {
      this.#isPaused = true;
      this.#callbacks.pauseRequest(true);
    }
  }

  takeTrailers(trailers: HeaderMap): void {
    this.#trailers = trailers;
  }

  /** The first `limit` bytes of what has come. */
  copy(limit: number): Buffer {
    return this.#body.joined().subarray(0, limit);
  }

  /** The request goes on: its headers, and whatever came behind them. Not within their event. */
  release(): void {
    const callbacks = this.#callbacks;
    callbacks.continueDecoding();
    this.releaseBody();
  }

  /** The same for headers that have gone on by themselves. */
  releaseBody(): void {
    const callbacks = this.#callbacks;
    const body = this.#body.joined();
    const trailers = this.#trailers;
    this.drop();
    if (this.#isPaused) {
      this.#isPaused = false;
      callbacks.pauseRequest(false);
    }
    if (body.length > 0 || this.#endsWithBody) {
      callbacks.injectRequestData(body, this.#endsWithBody);
    }
    if (trailers !== undefined) callbacks.injectRequestTrailers(trailers);
  }

  /** The request is answered, or gone. */
  drop(): void {
    this.#held.add(-this.#body.length);
    this.#body.clear();
    this.#trailers = undefined;
  }
}
