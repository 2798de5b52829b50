/** Makes Thrift messages for tests, in the binary and the compact protocol. */

export const CALL = 1;
export const REPLY = 2;
export const EXCEPTION = 3;
export const ONE_WAY = 4;

export const STOP = Buffer.from([0]);

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

export function text(value: string): Buffer {
  return Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** A field of the binary protocol. */
export function field(type: number, id: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, id >> 8, id & 255]), value]);
}

export function binaryMessage(name: string, type: number, sequence: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80, 1, 0, type]), text(name), int32(sequence), body]);
}

/** For names and numbers below 128. */
export function compactMessage(name: string, type: number, sequence: number, body: Buffer): Buffer {
  const head = Buffer.from([0x82, (type << 5) | 1, sequence, name.length]);
  return Buffer.concat([head, Buffer.from(name), body]);
}

export function framed(message: Buffer): Buffer {
  return Buffer.concat([int32(message.length), message]);
}

/** A header transport with these headers; all lengths below 128. */
export function withHeaders(
  message: Buffer,
  headers: Readonly<Record<string, string>>,
  sequence: number,
): Buffer {
  const pairs = Object.entries(headers);
  const texts = pairs
    .flat()
    .flatMap((each) => [Buffer.from([each.length]), Buffer.from(each, 'latin1')]);
  const info = pairs.length === 0 ? [] : [Buffer.from([1, pairs.length]), ...texts];
  const header = Buffer.concat([Buffer.from([message[0] === 0x82 ? 2 : 0, 0]), ...info]);
  const padded = Buffer.concat([header, Buffer.alloc(-header.length & 3)]);
  const words = padded.length / 4;
  const fixed = [
    Buffer.from([0x0f, 0xff, 0, 0]),
    int32(sequence),
    Buffer.from([words >> 8, words & 255]),
  ];
  return framed(Buffer.concat([...fixed, padded, message]));
}
