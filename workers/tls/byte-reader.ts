/** Reads numbers and length-prefixed vectors; undefined where the bytes end too early. */
export class ByteReader {
  readonly #data: Buffer;
  #at: number;
  readonly #end: number;

  constructor(data: Buffer, at: number, end: number) {
    this.#data = data;
    this.#at = at;
    this.#end = end;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end;
  }

  skip(bytes: number): void {
    this.#at += bytes;
  }

  number(bytes: number): number | undefined {
    if (this.#at + bytes > this.#end) return undefined;
    const value = this.#data.readUIntBE(this.#at, bytes);
    this.#at += bytes;
    return value;
  }

  vector(lengthBytes: number): ByteReader | undefined {
    const length = this.number(lengthBytes);
    if (length === undefined || this.#at + length > this.#end) return undefined;
    const part = new ByteReader(this.#data, this.#at, this.#at + length);
    this.#at += length;
    return part;
  }

  /** What is left; a view. */
  bytes(): Buffer {
    return this.#data.subarray(this.#at, this.#end);
  }

  text(): string {
    return this.#data.toString('latin1', this.#at, this.#end);
  }
}
