/**
 * The value of a session cookie, as Envoy writes it: base64 of a protobuf message with the host's
 * address (field 1, text) and the second at which the cookie ends (field 2, a number). Older ones
 * are base64 of the address alone, which is still read.
 */

const ADDRESS_TAG = 0x0a;
const EXPIRES_TAG = 0x10;
/** More is no address. */
const MAX_LENGTH = 256;

export function writeSessionCookie(address: string, ttlMs: number, nowSeconds: number): string {
  const text = Buffer.from(address, 'latin1');
  const bytes = [ADDRESS_TAG, ...varint(text.length), ...text];
  if (ttlMs > 0) bytes.push(EXPIRES_TAG, ...varint(nowSeconds + Math.floor(ttlMs / 1000)));
  return Buffer.from(bytes).toString('base64');
}

/** The address; undefined for what is none, and for a cookie that has ended. */
export function readSessionCookie(value: string, nowSeconds: number): string | undefined {
  const bytes = decodeBase64(value);
  if (bytes === undefined || bytes[0] !== ADDRESS_TAG) return bytes?.toString('latin1');
  const length = readVarint(bytes, 1);
  if (length === undefined) return undefined;
  const end = length.next + length.value;
  if (end > bytes.length) return undefined;
  const address = bytes.toString('latin1', length.next, end);
  if (end === bytes.length) return address;
  const expires = bytes[end] === EXPIRES_TAG ? readVarint(bytes, end + 1) : undefined;
  if (expires === undefined || expires.next !== bytes.length) return undefined;
  return expires.value > nowSeconds ? address : undefined;
}

/** Undefined for what is not base64, for nothing, and for what is too long to be an address. */
export function decodeBase64(value: string): Buffer | undefined {
  const isBase64 = value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
  return isBase64 && value.length <= MAX_LENGTH ? Buffer.from(value, 'base64') : undefined;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  while (left >= 0x80) {
    bytes.push((left % 0x80) + 0x80);
    left = Math.floor(left / 0x80);
  }
  bytes.push(left);
  return bytes;
}

function readVarint(
  bytes: Buffer,
  start: number,
): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  for (let at = start; at < bytes.length && at < start + 6; at++) {
    const byte = bytes[at] ?? 0;
    value += (byte % 0x80) * 2 ** (7 * (at - start));
    if (byte < 0x80) return { value, next: at + 1 };
  }
  return undefined;
}
