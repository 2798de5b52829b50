/**
 * Frames of gRPC in a body, however it was cut: one byte of flags, four bytes with the length of the
 * message, the message.
 */
import { CollectedBytes } from '../../../shared/bytes/collected-bytes.ts';

export const FRAME_HEADER_BYTES = 5;

/** The header of a frame. */
export function frameHeader(length: number, flags = 0): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header[0] = flags;
  header.writeUInt32BE(length, 1);
  return header;
}

/** Counts messages as they pass; a message counts with its first byte. */
export class FrameCounter {
  count = 0;
  /** Bytes of the present header that came. */
  #headerBytes = 0;
  #length = 0;
  /** Bytes of the present message that are still to come. */
  #left = 0;

  /** Gives how many messages began. */
  inspect(data: Buffer): number {
    const before = this.count;
    let at = 0;
    while (at < data.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, data.length - at);
        this.#left -= step;
        at += step;
        continue;
      }
      if (this.#headerBytes === 0) {
        this.count++;
        this.#length = 0;
      } else {
        this.#length = this.#length * 256 + (data[at] as number);
      }
      at++;
      if (++this.#headerBytes < FRAME_HEADER_BYTES) continue;
      this.#headerBytes = 0;
      this.#left = this.#length;
    }
    return this.count - before;
  }
}

/** Gives the messages of a body. */
export class FrameReader {
  readonly #limit: number;
  readonly #pieces = new CollectedBytes();
  #wanted = FRAME_HEADER_BYTES;
  #isHeader = true;
  /** The first ones that were not 0: compressed messages and the like. */
  wrongFlags: number | undefined = undefined;

  /** `limit` is for one message. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Bytes of a frame's header, or of its message, that wait for the rest. */
  get waitingBytes(): number {
    return this.#pieces.length;
  }

  /** The bytes that the message whose header has come still needs. */
  get missingMessageBytes(): number | undefined {
    return this.#isHeader ? undefined : this.#wanted;
  }

  /** Undefined for a message that is too large. */
  read(data: Buffer): readonly Buffer[] | undefined {
    const messages: Buffer[] = [];
    let at = 0;
    while (at < data.length || this.#wanted === 0) {
      const piece = data.subarray(at, at + this.#wanted - this.#pieces.length);
      this.#pieces.add(Buffer.from(piece));
      at += piece.length;
      if (this.#pieces.length < this.#wanted) break;
      const whole = this.#pieces.joined();
      this.#pieces.clear();
      if (this.#isHeader) {
        if (whole[0] !== 0) this.wrongFlags ??= whole[0];
        this.#wanted = whole.readUInt32BE(1);
        if (this.#wanted > this.#limit) return undefined;
      } else {
        messages.push(whole);
        this.#wanted = FRAME_HEADER_BYTES;
      }
      this.#isHeader = !this.#isHeader;
    }
    return messages;
  }
}
