/**
 * Reads the first message of a TLS client, which is not encrypted: server name and application
 * protocols. RFC 8446, 4.1.2; RFC 6066, 3; RFC 7301.
 *
 *   record:    type 22, version(2), length(2), handshake bytes
 *   handshake: type 1, length(3), version(2), random(32), session id <1>, cipher suites <2>,
 *              compressions <1>, extensions <2>: { type(2), body <2> }
 */

import { asciiLower } from '../../shared/text/ascii.ts';
import { ByteReader } from './byte-reader.ts';

interface ClientHello {
  /** Lower case, as its bytes; empty without one. */
  readonly serverName: string;
  readonly protocols: readonly string[];
}

type NoHello =
  | { readonly kind: 'more' }
  /** Not TLS. */
  | { readonly kind: 'other' }
  | { readonly kind: 'too_large' };

export type HelloResult = NoHello | { readonly kind: 'hello'; readonly hello: ClientHello };

/** Envoy's limit on what is read to find the names. */
const MAX_HELLO_BYTES = 16 * 1024;
const RECORD_HEADER = 5;
const HANDSHAKE_HEADER = 4;
const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const MAX_SERVER_NAME_BYTES = 255;
const ALPN = 16;
const NOTHING: ClientHello = { serverName: '', protocols: [] };

/** A whole message, or what there is in its place. */
type Gathered = NoHello | { readonly kind: 'whole'; readonly message: Buffer };

/** `data` is everything that the client has sent so far. */
export function readClientHello(data: Buffer): HelloResult {
  const gathered = gather(data);
  if (gathered.kind !== 'whole') return gathered;
  const { message } = gathered;
  const hello = readMessage(message, message.length);
  return hello === undefined ? { kind: 'other' } : { kind: 'hello', hello };
}

/** The message itself, behind its head; undefined while it is not whole. */
export function helloBody(data: Buffer): Buffer | undefined {
  const gathered = gather(data);
  return gathered.kind === 'whole' ? gathered.message.subarray(HANDSHAKE_HEADER) : undefined;
}

function gather(data: Buffer): Gathered {
  const parts: Buffer[] = [];
  let gathered = 0;
  let at = 0;
  for (;;) {
    if (!mayBeRecord(data, at)) return { kind: 'other' };
    if (data.length < at + RECORD_HEADER) return moreUnlessTooLarge(data);
    const length = data.readUInt16BE(at + 3);
    if (length === 0 || length > MAX_HELLO_BYTES + 256) return { kind: 'other' };
    const end = Math.min(data.length, at + RECORD_HEADER + length);
    parts.push(data.subarray(at + RECORD_HEADER, end));
    gathered += end - at - RECORD_HEADER;
    const result = resultOf(parts, gathered);
    if (result !== undefined) return result;
    if (data.length < at + RECORD_HEADER + length) return moreUnlessTooLarge(data);
    at += RECORD_HEADER + length;
  }
}

/** What a message that came in these parts so far says; undefined while there is none. */
function resultOf(parts: readonly Buffer[], gathered: number): Gathered | undefined {
  if (gathered >= 1 && parts[0]?.[0] !== CLIENT_HELLO) return { kind: 'other' };
  if (gathered < HANDSHAKE_HEADER) return undefined;
  // Each part holds a byte at least, and a client may send them so: all are joined only once.
  const head = Buffer.concat(parts.slice(0, HANDSHAKE_HEADER));
  const wanted = HANDSHAKE_HEADER + head.readUIntBE(1, 3);
  if (wanted > MAX_HELLO_BYTES) return { kind: 'too_large' };
  if (gathered < wanted) return undefined;
  return { kind: 'whole', message: Buffer.concat(parts).subarray(0, wanted) };
}

/** The type and the major version, as far as they are there. */
function mayBeRecord(data: Buffer, at: number): boolean {
  if (data.length > at && data[at] !== HANDSHAKE_RECORD) return false;
  return data.length <= at + 1 || data[at + 1] === 3;
}

function moreUnlessTooLarge(data: Buffer): NoHello {
  return data.length > MAX_HELLO_BYTES ? { kind: 'too_large' } : { kind: 'more' };
}

/**
 * Never throws: what is malformed names nothing, and the handshake refuses it. Undefined where the
 * server name is malformed or an extension stands twice, which Envoy's inspector does not take for
 * TLS.
 */
function readMessage(message: Buffer, end: number): ClientHello | undefined {
  const reader = new ByteReader(message, HANDSHAKE_HEADER, end);
  reader.skip(2 + 32);
  reader.vector(1);
  reader.vector(2);
  reader.vector(1);
  const extensions = reader.vector(2);
  if (extensions === undefined) return NOTHING;
  const seen = new Set<number>();
  let serverName = '';
  let protocols: readonly string[] = [];
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const body = extensions.vector(2);
    if (type === undefined || body === undefined) break;
    if (seen.has(type)) return undefined;
    seen.add(type);
    if (type === SERVER_NAME) {
      const name = readServerName(body);
      if (name === undefined) return undefined;
      serverName = name;
    } else if (type === ALPN) protocols = readProtocols(body);
  }
  return { serverName, protocols };
}

/** One name, with its bytes as characters; undefined for what is none. */
function readServerName(body: ByteReader): string | undefined {
  const names = body.vector(2);
  if (names?.number(1) !== 0) return undefined;
  const name = names.vector(2)?.text();
  const isWhole = names.isAtEnd && body.isAtEnd && name !== '' && name?.includes('\0') === false;
  return isWhole && name.length <= MAX_SERVER_NAME_BYTES ? asciiLower(name) : undefined;
}

function readProtocols(body: ByteReader): readonly string[] {
  const list = body.vector(2);
  const protocols: string[] = [];
  while (list !== undefined && !list.isAtEnd) {
    const protocol = list.vector(1);
    if (protocol === undefined) break;
    protocols.push(protocol.text());
  }
  return protocols;
}
