/** Finds out how bytes carry a Thrift message, and reads its head. */
import { CompactReader } from './compact-reader.ts';
import { BinaryReader, type MessageHead, ThriftError, type ThriftReader } from './thrift-reader.ts';

export type ThriftTransport = 'auto' | 'framed' | 'unframed' | 'header';
export type ThriftProtocol = 'auto' | 'binary' | 'binary/non-strict' | 'compact';

export interface ThriftMessage extends MessageHead {
  /** With `(auto)` where nobody has said it. */
  readonly transport: string;
  readonly protocol: string;
  /** The flags of a header transport. */
  readonly headerFlags: number | undefined;
  /** Stands before the message's structure. */
  readonly body: ThriftReader;
  /** The same without marks. */
  readonly found: { readonly transport: ThriftTransport; readonly protocol: ThriftProtocol };
  /** The pairs of a header transport: names and values in turn. */
  readonly pairs: readonly string[];
}

const HEADER_MAGIC = 0x0fff;
const BINARY_MAGIC = 0x8001;
const COMPACT_MAGIC = 0x8201;
const COMPACT_MASK = 0xff1f;
/** What a frame's length and a header's magic take. */
const LOOK_BYTES = 6;

/** Throws a ThriftError at what is none, and a RangeError where bytes are missing. */
export function readThriftMessage(
  bytes: Buffer,
  transport: ThriftTransport,
  protocol: ThriftProtocol,
): ThriftMessage {
  const found = transport === 'auto' ? findTransport(bytes) : transport;
  let start = found === 'unframed' ? 0 : 4;
  let spoken = protocol;
  let headerFlags: number | undefined;
  let pairs: readonly string[] = [];
  if (found !== 'unframed') checkFrame(bytes);
  if (found === 'header') {
    const header = readHeader(bytes);
    ({ start, headerFlags, pairs } = header);
    spoken = protocol === 'auto' ? header.protocol : protocol;
  } else if (protocol === 'auto') spoken = findProtocol(bytes, start);
  const body = readerOf(spoken, bytes, start);
  const mark = (name: string, isFound: boolean): string => (isFound ? `${name}(auto)` : name);
  return {
    ...body.head(),
    transport: mark(found, transport === 'auto'),
    protocol: mark(spoken, protocol === 'auto'),
    headerFlags,
    body,
    found: { transport: found, protocol: spoken },
    pairs,
  };
}

/** Reads from `start` on. */
export function readerOf(protocol: ThriftProtocol, bytes: Buffer, start: number): ThriftReader {
  if (protocol === 'compact') return new CompactReader(bytes, start);
  return new BinaryReader(bytes, start, protocol === 'binary');
}

function isMagic(word: number): boolean {
  return word === BINARY_MAGIC || (word & COMPACT_MASK) === COMPACT_MAGIC;
}

function findTransport(bytes: Buffer): ThriftTransport {
  if (bytes.length < LOOK_BYTES) throw new RangeError('too short');
  if (bytes.readInt32BE(0) > 0) {
    const word = bytes.readUInt16BE(4);
    if (word === HEADER_MAGIC) return 'header';
    if (isMagic(word)) return 'framed';
  }
  if (isMagic(bytes.readUInt16BE(0))) return 'unframed';
  throw new ThriftError('unknown transport');
}

function findProtocol(bytes: Buffer, start: number): ThriftProtocol {
  const word = bytes.readUInt16BE(start);
  if (word === BINARY_MAGIC) return 'binary';
  if ((word & COMPACT_MASK) === COMPACT_MAGIC) return 'compact';
  throw new ThriftError('unknown protocol');
}

function checkFrame(bytes: Buffer): void {
  if (bytes.readInt32BE(0) <= 0) throw new ThriftError('invalid frame size');
}

/** Length, magic, flags, sequence, size of the header in words; then protocol and transforms. */
function readHeader(bytes: Buffer): {
  readonly start: number;
  readonly headerFlags: number;
  readonly protocol: ThriftProtocol;
  readonly pairs: readonly string[];
} {
  if (bytes.readUInt16BE(4) !== HEADER_MAGIC) throw new ThriftError('invalid magic');
  const headerFlags = bytes.readUInt16BE(6);
  const start = 14 + bytes.readUInt16BE(12) * 4;
  // Both numbers are small: they have a byte each.
  const protocol = bytes.readUInt8(14);
  const transforms = bytes.readUInt8(15);
  if (transforms !== 0) throw new ThriftError('transforms are unknown');
  const pairs = readPairs(bytes.subarray(0, start));
  if (protocol === 0) return { start, headerFlags, protocol: 'binary', pairs };
  if (protocol === 2) return { start, headerFlags, protocol: 'compact', pairs };
  throw new ThriftError('unknown protocol');
}

const KEY_VALUES = 1;
/** Names and values of one message. */
const PAIRS_MAX = 1000;

/** What stands behind protocol and transforms: blocks of pairs, until there are only zeros. */
function readPairs(bytes: Buffer): readonly string[] {
  const reader = new CompactReader(bytes, 16);
  const pairs: string[] = [];
  while (reader.position < bytes.length && reader.size() === KEY_VALUES) {
    const count = reader.size();
    if (count > PAIRS_MAX) throw new ThriftError('too many headers');
    for (let index = 0; index < count * 2; index++) pairs.push(reader.string());
  }
  return pairs;
}
