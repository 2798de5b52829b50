/**
 * Messages of a gRPC call as they lie in bodies: a byte of flags, four of length, the message.
 */

const HEADER_BYTES = 5;
/** What a message that comes in pieces gets at first, whatever length it declares. */
const FIRST_BYTES = 4096;

/** Why a body cannot be read on: the status that the call ends with. */
export type FrameFault = 'compressed' | 'too_large';

export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(HEADER_BYTES + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed[0] = 0;
  framed.set(message, HEADER_BYTES);
  return framed;
}

/**
 * Takes a body in pieces and hands on whole messages. A message that lies in one piece is a view
 * of it. What is kept of an incomplete one is never more than twice of what has come.
 */
export class GrpcFrameReader {
  readonly #limitBytes: number;
  readonly #onMessage: (message: Buffer) => void;
  #headerBytes = 0;
  #isCompressed = false;
  /** As far as the header has come. */
  #length = 0;
  #message: Buffer | undefined = undefined;
  #filled = 0;
  #stopped = false;

  constructor(limitBytes: number, onMessage: (message: Buffer) => void) {
    this.#limitBytes = limitBytes;
    this.#onMessage = onMessage;
  }

  /** A message has begun that has not ended. */
  get isWithin(): boolean {
    return this.#headerBytes > 0;
  }

  /** Bytes that are kept. */
  get heldBytes(): number {
    return this.#message?.length ?? 0;
  }

  /** From within a message's callback: the rest of the piece is not read. */
  stop(): void {
    this.#stopped = true;
  }

  /** Undefined when everything could be read. */
  read(piece: Buffer): FrameFault | undefined {
    let at = 0;
    while (at < piece.length && !this.#stopped) {
      at = this.#readHeader(piece, at);
      if (this.#headerBytes < HEADER_BYTES) return undefined;
      if (this.#isCompressed) return 'compressed';
      if (this.#length > this.#limitBytes) return 'too_large';
      at = this.#readMessage(piece, at, this.#length);
    }
    return undefined;
  }

  #readHeader(piece: Buffer, from: number): number {
    let at = from;
    while (this.#headerBytes < HEADER_BYTES && at < piece.length) {
      const byte = piece[at++] ?? 0;
      if (this.#headerBytes++ === 0) {
        this.#isCompressed = byte !== 0;
        this.#length = 0;
      } else this.#length = this.#length * 256 + byte;
    }
    return at;
  }

  #readMessage(piece: Buffer, at: number, length: number): number {
    const end = Math.min(piece.length, at + length - this.#filled);
    if (this.#filled === 0 && end - at === length) {
      this.#finish(piece.subarray(at, end));
      return end;
    }
    const message = this.#roomFor(this.#filled + end - at, length);
    piece.copy(message, this.#filled, at, end);
    this.#filled += end - at;
    if (this.#filled === length) this.#finish(message.subarray(0, length));
    return end;
  }

  #roomFor(bytes: number, length: number): Buffer {
    const old = this.#message;
    if (old !== undefined && old.length >= bytes) return old;
    const size = Math.min(length, Math.max(FIRST_BYTES, bytes, 2 * this.#filled));
    const message = Buffer.allocUnsafe(size);
    old?.copy(message, 0, 0, this.#filled);
    this.#message = message;
    return message;
  }

  #finish(message: Buffer): void {
    this.#headerBytes = 0;
    this.#message = undefined;
    this.#filled = 0;
    this.#onMessage(message);
  }
}
