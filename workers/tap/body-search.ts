/** Looks for patterns in a body that comes in pieces; a pattern may lie across two of them. */
export class BodySearch {
  #missing: readonly Buffer[];
  /** Bytes that are still looked at. */
  #left: number;
  /** The end of what came before, one byte shorter than the longest pattern. */
  #tail: Buffer = Buffer.alloc(0);
  readonly #tailBytes: number;

  /** `bytesLimit` 0 looks at everything. */
  constructor(patterns: readonly Buffer[], bytesLimit: number) {
    this.#missing = patterns;
    this.#left = bytesLimit === 0 ? Number.POSITIVE_INFINITY : bytesLimit;
    this.#tailBytes = Math.max(0, ...patterns.map(({ length }) => length - 1));
  }

  get foundAll(): boolean {
    return this.#missing.length === 0;
  }

  /** Nothing further is looked at. */
  get isOver(): boolean {
    return this.foundAll || this.#left === 0;
  }

  take(data: Buffer): void {
    if (this.isOver || data.length === 0) return;
    const looked = data.subarray(0, Math.min(data.length, this.#left));
    this.#left -= looked.length;
    const text = Buffer.concat([this.#tail, looked]);
    this.#missing = this.#missing.filter((pattern) => !text.includes(pattern));
    this.#tail = text.subarray(Math.max(0, text.length - this.#tailBytes));
  }
}
