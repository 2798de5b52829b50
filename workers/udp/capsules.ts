/**
 * The capsules of RFC 9297 in which datagrams pass through a stream (RFC 9298): each is a type, a
 * length and so many bytes; of a datagram these are a context, 0 for the payload of UDP, and the
 * payload.
 */

/** The longest payload of UDP, and what may name its context. */
const DATAGRAM_BYTES_MAX = 65_535 + 8;
/** What is skipped, because its type is not known, is not kept, but it ends somewhere. */
const SKIPPED_BYTES_MAX = 1024 * 1024;
const DATAGRAM = 0;
const UDP_PAYLOAD = 0;
/** Two numbers of eight bytes. */
const HEAD_BYTES_MAX = 16;

export class CapsuleReader {
  readonly #onPayload: (payload: Buffer) => void;
  /** The beginning of a capsule whose type and length are not all here. */
  #head: Buffer = Buffer.alloc(0);
  /** The datagram that is being read; undefined between capsules and while one is skipped. */
  #body: Buffer | undefined = undefined;
  #filled = 0;
  #skipped = 0;

  /** `onPayload` gets what nobody else changes. */
  constructor(onPayload: (payload: Buffer) => void) {
    this.#onPayload = onPayload;
  }

  /** No capsule is half read. */
  get isBetween(): boolean {
    return this.#head.length === 0 && this.#body === undefined && this.#skipped === 0;
  }

  /** False once what comes is no capsule, or one that is too long: nothing can be read any more. */
  read(data: Buffer): boolean {
    let at = 0;
    while (at < data.length) {
      const rest = data.subarray(at);
      if (this.#skipped > 0) {
        const skipped = Math.min(this.#skipped, rest.length);
        this.#skipped -= skipped;
        at += skipped;
      } else if (this.#body === undefined) {
        const taken = this.#readHead(rest);
        if (taken === undefined) return false;
        at += taken;
      } else {
        const copied = rest.copy(this.#body, this.#filled);
        this.#filled += copied;
        at += copied;
        if (this.#filled === this.#body.length && !this.#end(this.#body)) return false;
      }
    }
    return true;
  }

  /** How many of these bytes are of the head; undefined where the capsule cannot be. */
  #readHead(data: Buffer): number | undefined {
    const before = this.#head.length;
    const head = Buffer.concat([this.#head, data.subarray(0, HEAD_BYTES_MAX - before)]);
    const type = readNumber(head, 0);
    const length = type && readNumber(head, type.end);
    if (type === undefined || length === undefined) {
      this.#head = head;
      return data.length;
    }
    this.#head = Buffer.alloc(0);
    if (type.value !== DATAGRAM) {
      if (length.value > SKIPPED_BYTES_MAX) return undefined;
      this.#skipped = length.value;
    } else {
      if (length.value === 0 || length.value > DATAGRAM_BYTES_MAX) return undefined;
      this.#body = Buffer.allocUnsafeSlow(length.value);
      this.#filled = 0;
    }
    return length.end - before;
  }

  #end(body: Buffer): boolean {
    this.#body = undefined;
    const context = readNumber(body, 0);
    if (context === undefined) return false;
    if (context.value === UDP_PAYLOAD) this.#onPayload(body.subarray(context.end));
    return true;
  }
}

/** The capsule around the payload of one datagram. */
export function datagramCapsule(payload: Buffer): Buffer {
  const length = payload.length + 1;
  const head =
    length < 0x40
      ? [DATAGRAM, length, UDP_PAYLOAD]
      : length < 0x4000
        ? [DATAGRAM, 0x40 | (length >> 8), length & 0xff, UDP_PAYLOAD]
        : [DATAGRAM, 0x80, length >> 16, (length >> 8) & 0xff, length & 0xff, UDP_PAYLOAD];
  return Buffer.concat([Buffer.from(head), payload]);
}

/** A number of QUIC: its first two bits say whether it takes 1, 2, 4 or 8 bytes. */
function readNumber(data: Buffer, at: number): { value: number; end: number } | undefined {
  const first = data[at];
  if (first === undefined) return undefined;
  const end = at + (1 << (first >> 6));
  if (data.length < end) return undefined;
  let value = first & 0x3f;
  for (let next = at + 1; next < end; next += 1) value = value * 256 + (data[next] ?? 0);
  return { value, end };
}
