/**
 * Messages as frames on a byte stream. Owns the format and its limits; knows no socket.
 *
 *   frame:    u32 little endian head | payload
 *   head:     bits 0 to 30: payload bytes, at most FRAME_BYTES_MAX
 *             bit 31: the message goes on in the next frame
 *   message:  the payloads of its frames joined, one msgpack value
 *
 * Objects are written as msgpackr records (keys once per message), and each message stands alone,
 * so that none depends on what was sent before.
 */
import { dictionary, DictionaryObject } from '../text/dictionary.ts';
import { addExtension, Packr, Unpackr } from './msgpack.ts';

/**
 * A dictionary travels as a map: a record would come back as an object that inherits, without
 * `__proto__`.
 */
addExtension({
  Class: DictionaryObject,
  type: 1,
  write: (value: object) => new Map(Object.entries(value)),
  read: (entries: ReadonlyMap<string, unknown>) => dictionary(entries),
});

export const FRAME_BYTES_MAX = 1024 * 1024;
/** One message; what is larger must be sent as several. */
export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

const HEAD_BYTES = 4;
/**
 * A shorter message is copied behind its head: one write of one buffer is cheaper than one of two.
 */
const COPIED_BYTES_MAX = 16 * 1024;
const GOES_ON = 0x80000000;

class FrameError extends Error {
  readonly code: 'message_too_long' | 'frame_too_long' | 'malformed_message';

  constructor(code: FrameError['code'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FrameError';
    this.code = code;
  }
}

/** Turns messages into the buffers to write, in order. Throws `FrameError` for one too long. */
export class FrameEncoder {
  readonly #packr = new Packr({ useRecords: true, useToJSON: false });

  encode(message: object): readonly Buffer[] {
    const payload = this.#packr.pack(message);
    if (payload.length > MESSAGE_BYTES_MAX) {
      throw new FrameError('message_too_long', `a message of ${payload.length} bytes is too long`);
    }
    if (payload.length <= COPIED_BYTES_MAX) {
      const frame = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
      frame.writeUInt32LE(payload.length, 0);
      frame.set(payload, HEAD_BYTES);
      return [frame];
    }
    const buffers: Buffer[] = [];
    for (let at = 0; at < payload.length; at += FRAME_BYTES_MAX) {
      const part = payload.subarray(at, at + FRAME_BYTES_MAX);
      const head = Buffer.allocUnsafe(HEAD_BYTES);
      const goesOn = at + part.length < payload.length;
      head.writeUInt32LE(goesOn ? (part.length | GOES_ON) >>> 0 : part.length, 0);
      buffers.push(head, part);
    }
    return buffers;
  }
}

/** Collects chunks of the stream and hands out whole messages. */
export class FrameDecoder {
  /** What is kept of a message does not keep all of its bytes. */
  readonly #unpackr = new Unpackr({ useRecords: true, copyBuffers: true });
  #chunks: Buffer[] = [];
  #bytes = 0;
  #parts: Buffer[] = [];
  #partBytes = 0;

  /** Throws `FrameError` when the stream is not what an encoder wrote; it cannot be used then. */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const messages: unknown[] = [];
    for (;;) {
      const frame = this.#takeFrame();
      if (frame === undefined) return messages;
      this.#parts.push(frame.payload);
      this.#partBytes += frame.payload.length;
      if (this.#partBytes > MESSAGE_BYTES_MAX) {
        throw new FrameError('message_too_long', 'a message is longer than allowed');
      }
      if (!frame.goesOn) messages.push(this.#finishMessage());
    }
  }

  #takeFrame(): { readonly payload: Buffer; readonly goesOn: boolean } | undefined {
    if (this.#bytes < HEAD_BYTES) return undefined;
    let first = this.#chunks[0] as Buffer;
    if (first.length < HEAD_BYTES) first = this.#joinChunks();
    const head = first.readUInt32LE(0);
    const length = head & ~GOES_ON;
    if (length > FRAME_BYTES_MAX) {
      throw new FrameError('frame_too_long', `a frame of ${length} bytes is longer than allowed`);
    }
    if (this.#bytes < HEAD_BYTES + length) return undefined;
    if (first.length < HEAD_BYTES + length) first = this.#joinChunks();
    const payload = first.subarray(HEAD_BYTES, HEAD_BYTES + length);
    this.#bytes -= HEAD_BYTES + length;
    this.#chunks[0] = first.subarray(HEAD_BYTES + length);
    if (this.#chunks[0].length === 0) this.#chunks.shift();
    return { payload, goesOn: (head & GOES_ON) !== 0 };
  }

  #joinChunks(): Buffer {
    const joined = Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [joined];
    return joined;
  }

  #finishMessage(): unknown {
    const [only] = this.#parts;
    const payload =
      this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    try {
      return this.#unpackr.unpack(payload) as unknown;
    } catch (cause) {
      throw new FrameError('malformed_message', 'a message cannot be decoded', { cause });
    }
  }
}
