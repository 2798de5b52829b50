/** Base64 in pieces of any size, as grpc-web-text has it: standard alphabet, padded, nothing else. */

const QUANTUM = 4;
const TRIPLE = 3;
const NOTHING = Buffer.alloc(0);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Decodes whole groups of four as they come; what is left of a piece waits for the next. */
export class Base64Decoder {
  #rest = '';

  /** Undefined for what is not base64. */
  decode(data: Buffer): Buffer | undefined {
    const text = this.#rest + data.toString('latin1');
    const whole = text.length - (text.length % QUANTUM);
    this.#rest = text.slice(whole);
    if (whole === 0) return NOTHING;
    const taken = whole === text.length ? text : text.slice(0, whole);
    if (!BASE64.test(taken)) return undefined;
    const bytes = Buffer.from(taken, 'base64');
    // What the last group has beyond its bytes must be zero.
    const last = taken.slice(-QUANTUM);
    if (last.endsWith('=')) {
      if (bytes.subarray(-(last.endsWith('==') ? 1 : 2)).toString('base64') !== last)
        return undefined;
    }
    return bytes;
  }

  /** Everything came in whole groups. */
  get isWhole(): boolean {
    return this.#rest === '';
  }
}

/** Encodes pieces so that together they are the encoding of the whole; `end` pads. */
export class Base64Encoder {
  #rest: Buffer = NOTHING;

  encode(data: Buffer): Buffer {
    const all = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    const whole = all.length - (all.length % TRIPLE);
    // A copy: pieces are valid during the call only.
    this.#rest = Buffer.from(all.subarray(whole));
    return Buffer.from(all.subarray(0, whole).toString('base64'), 'latin1');
  }

  end(): Buffer {
    const rest = this.#rest;
    this.#rest = NOTHING;
    return Buffer.from(rest.toString('base64'), 'latin1');
  }
}
