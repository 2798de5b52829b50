/**
 * Cuts messages into datagrams and joins them again; see hot-restart-message.ts for the format.
 * Knows no socket.
 */

/** Every datagram of a message but its last one has exactly this size. */
export const DATAGRAM_BYTES_MAX = 4096;
/** More processes than the other epoch do not send at a time; the oldest beginning is forgotten. */
const SENDERS_MAX = 4;
const LENGTH_BYTES = 8;

class DatagramStreamError extends Error {
  readonly code = 'hot_restart_stream';

  constructor(message: string) {
    super(message);
    this.name = 'DatagramStreamError';
  }
}

/** The datagrams of one message, in the order to send them. */
export function cutIntoDatagrams(message: Uint8Array): Buffer[] {
  const whole = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  whole.writeBigUInt64BE(BigInt(message.length), 0);
  whole.set(message, LENGTH_BYTES);
  const datagrams: Buffer[] = [];
  for (let at = 0; at < whole.length; at += DATAGRAM_BYTES_MAX) {
    datagrams.push(whole.subarray(at, at + DATAGRAM_BYTES_MAX));
  }
  return datagrams;
}

/** Joins the datagrams of each sender, so that none of them falls into another's message. */
export class DatagramJoiners {
  readonly #messageBytesMax: number;
  /** Those with a message that is not whole, the oldest first. */
  readonly #unfinished = new Map<string, DatagramJoiner>();

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /** As `DatagramJoiner.push`. */
  push(sender: string, datagram: Buffer): Uint8Array | undefined {
    const joiner = this.#unfinished.get(sender) ?? new DatagramJoiner(this.#messageBytesMax);
    this.#unfinished.delete(sender);
    const message = joiner.push(datagram);
    if (message !== undefined) return message;
    this.#unfinished.set(sender, joiner);
    const [oldest] = this.#unfinished.keys();
    if (this.#unfinished.size > SENDERS_MAX && oldest !== undefined) {
      this.#unfinished.delete(oldest);
    }
    return undefined;
  }
}

/** Joins the datagrams of one sender. */
export class DatagramJoiner {
  readonly #messageBytesMax: number;
  #parts: Buffer[] = [];
  #received = 0;
  #expected = 0;

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax;
  }

  /**
   * Returns the message when this datagram completes it. Throws `DatagramStreamError` when the
   * datagram cannot belong there; the joiner then awaits a new message.
   */
  push(datagram: Buffer): Uint8Array | undefined {
    try {
      if (this.#parts.length === 0) this.#expected = LENGTH_BYTES + this.#lengthOf(datagram);
      this.#add(datagram);
    } catch (error) {
      this.#reset();
      throw error;
    }
    if (this.#received < this.#expected) return undefined;
    const whole = Buffer.concat(this.#parts, this.#received);
    this.#reset();
    return whole.subarray(LENGTH_BYTES);
  }

  /** Small parts of a large message would take many times the memory of what they carry. */
  #add(datagram: Buffer): void {
    const wanted = Math.min(DATAGRAM_BYTES_MAX, this.#expected - this.#received);
    if (datagram.length !== wanted) {
      throw new DatagramStreamError(
        `a datagram of ${datagram.length} bytes where ${wanted} follow`,
      );
    }
    this.#parts.push(datagram);
    this.#received += datagram.length;
  }

  #lengthOf(datagram: Buffer): number {
    if (datagram.length < LENGTH_BYTES) {
      throw new DatagramStreamError(`a first datagram of ${datagram.length} bytes is too short`);
    }
    const length = datagram.readBigUInt64BE(0);
    if (length > BigInt(this.#messageBytesMax)) {
      throw new DatagramStreamError(`a message of ${length} bytes is longer than allowed`);
    }
    return Number(length);
  }

  #reset(): void {
    this.#parts = [];
    this.#received = 0;
  }
}
