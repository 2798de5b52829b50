/** The texts `key_0`, `key_1` and so on as bytes, which a ring hashes by the million. */
const ZERO = 0x30;
const NINE = 0x39;
/** The digits of the largest number that a ring has. */
const DIGITS_MAX = 10;

export class NumberedKey {
  /** The text is the first `length` of these. */
  readonly bytes: Uint8Array;
  readonly #prefix: number;
  length: number;

  /** `key` has one character per byte. */
  constructor(key: string, number: number) {
    this.bytes = Buffer.alloc(key.length + 1 + DIGITS_MAX);
    const bytes = this.bytes as Buffer;
    this.#prefix = bytes.write(`${key}_`, 'latin1');
    this.length = this.#prefix + bytes.write(String(number), this.#prefix, 'latin1');
  }

  /** The next number. */
  increment(): void {
    const { bytes } = this;
    for (let at = this.length - 1; at >= this.#prefix; at--) {
      if (bytes[at] !== NINE) {
        (bytes[at] as number) += 1;
        return;
      }
      bytes[at] = ZERO;
    }
    // All were nines.
    bytes[this.#prefix] = ZERO + 1;
    bytes[this.length] = ZERO;
    this.length += 1;
  }
}
