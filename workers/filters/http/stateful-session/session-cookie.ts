/**
 * The value of a session cookie, as Envoy writes it: base64 of a protobuf message with the host's
 * address (field 1, text) and the second at which the cookie ends (field 2, a number). Older ones
 * are base64 of the address alone, which is still read.
 */
import { readMessage, visitFields } from '../../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';

/** The tag of the address as a field: what begins with another byte is no message. */
const ADDRESS_TAG = 0x0a;
/** More is no address. */
const MAX_LENGTH = 256;

export function writeSessionCookie(address: string, ttlMs: number, nowSeconds: number): string {
  const writer = new ProtoWriter();
  writer.text(1, address);
  if (ttlMs > 0) writer.integer(2, nowSeconds + Math.floor(ttlMs / 1000));
  return writer.finish().toString('base64');
}

/** The address; undefined for what is none, and for a cookie that has ended. */
export function readSessionCookie(value: string, nowSeconds: number): string | undefined {
  const bytes = decodeBase64(value);
  if (bytes === undefined || bytes[0] !== ADDRESS_TAG) return bytes?.toString('latin1');
  const cookie = readMessage(bytes, readFields);
  if (cookie === undefined) return undefined;
  const { address, expires } = cookie;
  return expires === undefined || expires > nowSeconds ? address : undefined;
}

/** Undefined for what is not base64, for nothing, and for what is too long to be an address. */
export function decodeBase64(value: string): Buffer | undefined {
  const isBase64 = value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
  return isBase64 && value.length <= MAX_LENGTH ? Buffer.from(value, 'base64') : undefined;
}

interface Cookie {
  readonly address: string;
  /** Seconds; undefined: it does not end. */
  readonly expires: number | undefined;
}

function readFields(bytes: Buffer): Cookie {
  let address = '';
  let expires: number | undefined;
  visitFields(bytes, (field) => {
    if (field.number === 1) address = field.text() ?? address;
    else if (field.number === 2) expires = field.integer() ?? expires;
  });
  return { address, expires };
}
