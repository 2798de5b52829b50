/**
 * What one histogram of a worker recorded since the last report. Counts are kept per power of ten
 * in arrays made on first use, so that an unused histogram costs nothing and a used one about 400
 * bytes for each order of magnitude of its values.
 */
import { bucketOf } from '../../shared/stats/histogram-buckets.ts';

const CHUNK = 90;

export class SparseHistogram {
  readonly #chunks: (Uint32Array | undefined)[] = [];
  /** Values below 1. */
  #zeros = 0;

  record(value: number): void {
    const bucket = bucketOf(value);
    if (bucket === 0) {
      this.#zeros++;
      return;
    }
    const decade = ((bucket - 1) / CHUNK) | 0;
    let chunk = this.#chunks[decade];
    if (chunk === undefined) {
      chunk = new Uint32Array(CHUNK);
      while (this.#chunks.length < decade) this.#chunks.push(undefined);
      this.#chunks[decade] = chunk;
    }
    (chunk[bucket - 1 - decade * CHUNK] as number)++;
  }

  /** Appends (index, bucket, count) triples in ascending order of buckets and begins again. */
  drainInto(triples: number[], index: number): void {
    if (this.#zeros > 0) triples.push(index, 0, this.#zeros);
    this.#zeros = 0;
    this.#chunks.forEach((chunk, decade) => {
      if (chunk === undefined) return;
      for (let offset = 0; offset < CHUNK; offset++) {
        const count = chunk[offset] as number;
        if (count > 0) triples.push(index, 1 + decade * CHUNK + offset, count);
      }
      chunk.fill(0);
    });
  }
}
