/** The range of a response that one request asked for, cut out of the whole as it passes. */
import type { HeaderMap } from '../../../stream/header-map.ts';
import { type ByteRange, byteRange } from './byte-range.ts';

export class RangedBody {
  readonly #range: ByteRange;
  #at = 0;

  private constructor(range: ByteRange) {
    this.#range = range;
  }

  /** Turns the headers into those of the range; undefined where the whole is the answer. */
  static of(headers: HeaderMap, asked: string): RangedBody | undefined {
    const text = headers.get('content-length') ?? '';
    if (headers.status !== 200 || !/^\d{1,15}$/.test(text)) return undefined;
    const size = Number(text);
    const range = byteRange(asked, size);
    if (range === undefined || range === 'not_satisfiable') return undefined;
    headers.status = 206;
    headers.set('content-range', `bytes ${range.first}-${range.last}/${size}`);
    headers.set('content-length', String(range.last + 1 - range.first));
    return new RangedBody(range);
  }

  cut(data: Buffer): Buffer {
    const from = this.#range.first - this.#at;
    const to = this.#range.last + 1 - this.#at;
    this.#at += data.length;
    return data.subarray(Math.max(0, from), Math.max(0, to));
  }
}
