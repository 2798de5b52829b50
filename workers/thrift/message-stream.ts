/** Cuts what comes over a connection into Thrift messages, whose transport it finds out. */
import {
  readThriftMessage,
  type ThriftMessage,
  type ThriftProtocol,
  type ThriftTransport,
} from '../../shared/thrift/thrift-message.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { ThriftError } from '../../shared/thrift/thrift-reader.ts';

/** The limit of a message in a frame. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/**
 * The limit of one without a frame, which is read from its beginning whenever more of it has come.
 */
const UNFRAMED_BYTES_MAX = 64 * 1024;
/** What is needed to tell transports apart. */
const LOOK_BYTES = 6;
const LENGTH_BYTES = 4;

export interface CutMessage extends ThriftMessage {
  /** The message's structure, as it came. */
  readonly structure: Buffer;
  readonly headers: HeaderMap;
}

export class MessageStream {
  #transport: ThriftTransport;
  #protocol: ThriftProtocol;
  #pieces: Buffer[] = [];
  #size = 0;
  /** Nothing can be read before there is so much. */
  #needed = LOOK_BYTES;

  constructor(transport: ThriftTransport, protocol: ThriftProtocol) {
    this.#transport = transport;
    this.#protocol = protocol;
    if (transport === 'unframed') this.#needed = 1;
    else if (transport !== 'auto') this.#needed = LENGTH_BYTES;
  }

  /** Bytes that wait for the rest of their message. */
  get waiting(): number {
    return this.#size;
  }

  add(bytes: Buffer): void {
    this.#pieces.push(Buffer.from(bytes));
    this.#size += bytes.length;
  }

  /** The next whole message; throws a ThriftError at what is none. */
  next(): CutMessage | undefined {
    if (this.#size < this.#needed || this.#size === 0) return undefined;
    const bytes = Buffer.concat(this.#pieces);
    this.#pieces = [bytes];
    const length = this.#lengthOf(bytes);
    if (length === undefined) return undefined;
    const message = this.#read(bytes.subarray(0, length), length === bytes.length);
    if (message === undefined) return undefined;
    const rest = bytes.subarray(message.end);
    this.#pieces = [rest];
    this.#size = rest.length;
    this.#transport = message.found.transport;
    if (message.found.transport !== 'header') this.#protocol = message.found.protocol;
    this.#needed = this.#transport === 'unframed' ? 1 : LENGTH_BYTES;
    return message.cut;
  }

  /** The length of what may be read; undefined: a frame is not whole. */
  #lengthOf(bytes: Buffer): number | undefined {
    const isFramed = this.#transport === 'framed' || this.#transport === 'header';
    if (!isFramed && (this.#transport === 'unframed' || bytes.readInt8(0) !== 0)) {
      return bytes.length;
    }
    const length = bytes.readInt32BE(0);
    if (length <= 0 || length > FRAME_BYTES_MAX) throw new ThriftError('invalid frame size');
    this.#needed = length + LENGTH_BYTES;
    return bytes.length < this.#needed ? undefined : this.#needed;
  }

  #read(
    bytes: Buffer,
    isAll: boolean,
  ):
    | {
        readonly cut: CutMessage;
        readonly end: number;
        readonly found: ThriftMessage['found'];
      }
    | undefined {
    try {
      const message = readThriftMessage(bytes, this.#transport, this.#protocol);
      const { found, body } = message;
      const start = body.position;
      if (found.transport === 'unframed') body.pass();
      const end = found.transport === 'unframed' ? body.position : bytes.length;
      return {
        cut: { ...message, structure: bytes.subarray(start, end), headers: headersOf(message) },
        end,
        found,
      };
    } catch (error) {
      // A frame is whole: what ends too early in it is wrong.
      const isOpen = error instanceof RangeError && bytes.readInt8(0) !== 0 && isAll;
      if (isOpen && bytes.length < UNFRAMED_BYTES_MAX) return undefined;
      throw error instanceof RangeError ? new ThriftError('it ends too early') : error;
    }
  }
}

/** Names in lower case. */
function headersOf({ pairs }: ThriftMessage): HeaderMap {
  const headers = new HeaderMap();
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    headers.append((pairs[index] ?? '').toLowerCase(), pairs[index + 1] ?? '');
  }
  return headers;
}
