/**
 * Responses that are kept in memory, the least recently used of which go first. One per worker, for
 * all filters; keys hold the cluster's name.
 */
import type { HeaderMap } from '../../../stream/header-map.ts';

export interface KeptResponse {
  readonly headers: HeaderMap;
  readonly body: Buffer;
  readonly receivedS: number;
}

/** The limit of all bodies, headers and keys of a worker, those that are still coming included. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** The limit of one body. */
export const CACHED_BODY_MAX = 8 * 1024 * 1024;
/** What an entry costs besides its bytes. */
const ENTRY_BYTES = 512;

interface Entry {
  readonly response: KeptResponse;
  readonly bytes: number;
}

export class MemoryCache {
  readonly #limitBytes: number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(limitBytes = CACHE_BYTES_MAX) {
    this.#limitBytes = limitBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): KeptResponse | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.response;
  }

  set(key: string, response: KeptResponse): void {
    this.delete(key);
    const { headers, body } = response;
    const bytes = ENTRY_BYTES + 2 * (key.length + headers.byteSize()) + body.length;
    if (!this.reserve(bytes)) return;
    this.#entries.set(key, { response, bytes });
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  /** Makes room for bytes that come; false where the cache is full of what is coming. */
  reserve(bytes: number): boolean {
    for (const key of this.#entries.keys()) {
      if (this.#bytes + bytes <= this.#limitBytes) break;
      this.delete(key);
    }
    if (this.#bytes + bytes > this.#limitBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  /** Gives back what was reserved. */
  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}
