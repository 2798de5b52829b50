/** A response on its way into the cache: gathers the body within what the cache has room for. */
import { CollectedBytes } from '../../../../shared/bytes/collected-bytes.ts';
import { CACHED_BODY_MAX, type MemoryCache } from './memory-cache.ts';

export class IncomingEntry {
  readonly #cache: MemoryCache;
  readonly #maxBytes: number;
  readonly #onWhole: (body: Buffer) => void;
  readonly #body = new CollectedBytes();
  readonly #onTooLarge: (() => void) | undefined;
  #bytes = 0;
  #isOver = false;

  constructor(
    cache: MemoryCache,
    maxBytes: number | undefined,
    onWhole: (body: Buffer) => void,
    onTooLarge?: () => void,
  ) {
    this.#cache = cache;
    this.#maxBytes = Math.min(maxBytes ?? CACHED_BODY_MAX, CACHED_BODY_MAX);
    this.#onWhole = onWhole;
    this.#onTooLarge = onTooLarge;
  }

  take(data: Buffer): void {
    if (this.#isOver || data.length === 0) return;
    const fits = this.#bytes + data.length <= this.#maxBytes && this.#cache.reserve(data.length);
    if (!fits) {
      this.drop();
      this.#onTooLarge?.();
      return;
    }
    this.#bytes += data.length;
    this.#body.addCopy(data);
  }

  /** The response is whole. */
  end(): void {
    if (this.#isOver) return;
    const body = this.#body.joined();
    this.drop();
    this.#onWhole(body);
  }

  /** It is given up, or handed over. */
  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#cache.release(this.#bytes);
    this.#body.clear();
  }
}
