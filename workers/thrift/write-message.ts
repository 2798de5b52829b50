/** Writes Thrift messages: their heads, and what carries them. */
import type { ThriftProtocol, ThriftTransport } from '../../shared/thrift/thrift-message.ts';
import { type MessageHead, ThriftType } from '../../shared/thrift/thrift-reader.ts';
import type { HeaderMap } from '../stream/header-map.ts';

export interface WrittenMessage extends MessageHead {
  readonly transport: ThriftTransport;
  readonly protocol: ThriftProtocol;
  /** The headers of a header transport. */
  readonly headers: HeaderMap;
  readonly structure: Buffer;
}

const EXCEPTION = 3;
const HEADER_MAGIC = 0x0fff;
const COMPACT_ID = 2;
const KEY_VALUES = 1;
/** Compact fields: a text with id 1, and an i32 behind it. */
const COMPACT_TEXT = 0x18;
const COMPACT_NUMBER = 0x15;

export function writeMessage(message: WrittenMessage): Buffer {
  const { transport, structure, sequence } = message;
  const plain = Buffer.concat([writeHead(message), structure]);
  if (transport === 'unframed') return plain;
  const carried = transport === 'header' ? withHeaders(message, sequence, plain) : plain;
  return Buffer.concat([int32(carried.length), carried]);
}

/** The structure of an exception that this server makes. */
export function exceptionStructure(protocol: ThriftProtocol, text: string, type: number): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (protocol === 'compact') {
    const number = Buffer.from([COMPACT_NUMBER, type * 2, 0]);
    return Buffer.concat([Buffer.from([COMPACT_TEXT]), varint(bytes.length), bytes, number]);
  }
  return Buffer.concat([
    Buffer.from([ThriftType.string, 0, 1]),
    int32(bytes.length),
    bytes,
    Buffer.from([ThriftType.i32, 0, 2]),
    int32(type),
    Buffer.from([ThriftType.stop]),
  ]);
}

export const EXCEPTION_TYPE = EXCEPTION;

function writeHead({ name, type, sequence, protocol }: WrittenMessage): Buffer {
  const text = Buffer.from(name, 'latin1');
  if (protocol === 'compact') {
    const first = Buffer.from([0x82, (type << 5) | 1]);
    return Buffer.concat([first, varint(sequence >>> 0), varint(text.length), text]);
  }
  const named = [int32(text.length), text];
  if (protocol === 'binary') {
    return Buffer.concat([Buffer.from([0x80, 1, 0, type]), ...named, int32(sequence)]);
  }
  return Buffer.concat([...named, Buffer.from([type]), int32(sequence)]);
}

function withHeaders(
  { headers, protocol }: WrittenMessage,
  sequence: number,
  plain: Buffer,
): Buffer {
  const texts: Buffer[] = [];
  let count = 0;
  headers.forEach((name, value) => {
    count += 1;
    for (const text of [name, value]) {
      const bytes = Buffer.from(text, 'latin1');
      texts.push(varint(bytes.length), bytes);
    }
  });
  const pairs = count === 0 ? [] : [varint(KEY_VALUES), varint(count), ...texts];
  const header = Buffer.concat([
    Buffer.from([protocol === 'compact' ? COMPACT_ID : 0, 0]),
    ...pairs,
  ]);
  // Envoy fills up to four bytes, also where nothing is missing.
  const padded = Buffer.concat([header, Buffer.alloc(4 - (header.length % 4))]);
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(HEADER_MAGIC, 0);
  fixed.writeInt32BE(sequence, 4);
  fixed.writeUInt16BE(padded.length / 4, 8);
  return Buffer.concat([fixed, padded, plain]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}
