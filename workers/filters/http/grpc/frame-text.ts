/** gRPC frames as grpc-web-text has them: each frame is base64 by itself, padded at its end. */
import { Base64Encoder } from '../../common/base64-stream.ts';
import { FRAME_HEADER_BYTES } from '../../common/grpc-frames.ts';

export class FrameTextEncoder {
  readonly #base64 = new Base64Encoder();
  /** Bytes of the present frame's header that came, and what they say of its length. */
  #headerBytes = 0;
  #length = 0;
  #left = 0;

  /** The text of `data`, which may begin and end within frames. */
  encode(data: Buffer): Buffer {
    const texts: Buffer[] = [];
    let start = 0;
    let at = 0;
    while (at < data.length) {
      if (this.#headerBytes < FRAME_HEADER_BYTES) {
        this.#length = this.#headerBytes === 0 ? 0 : this.#length * 256 + (data[at] as number);
        at++;
        if (++this.#headerBytes < FRAME_HEADER_BYTES) continue;
        this.#left = this.#length;
      }
      const step = Math.min(this.#left, data.length - at);
      this.#left -= step;
      at += step;
      if (this.#left > 0) continue;
      texts.push(this.#base64.encode(data.subarray(start, at)), this.#base64.end());
      start = at;
      this.#headerBytes = 0;
    }
    if (start < at) texts.push(this.#base64.encode(data.subarray(start)));
    return Buffer.concat(texts);
  }
}
