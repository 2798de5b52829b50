/**
 * Cuts messages into datagrams and joins them again; see hot-restart-message.ts for the format. Knows
 * no socket.
 */

export const DATAGRAM_BYTES_MAX = 4096;
/** 64 MiB hold the statistics of half a million names; a length above it is no message. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const LENGTH_BYTES = 8;

export class DatagramStreamError extends Error {
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

/** Joins the datagrams of one sender. */
export class DatagramJoiner {
  #parts: Buffer[] = [];
  #received = 0;
  #expected = 0;

  /**
   * Returns the message when this datagram completes it. Throws `DatagramStreamError` when the
   * datagram cannot belong there; the joiner then awaits a new message.
   */
  push(datagram: Buffer): Uint8Array | undefined {
    if (this.#parts.length === 0) this.#expected = LENGTH_BYTES + lengthOf(datagram);
    this.#parts.push(datagram);
    this.#received += datagram.length;
    if (this.#received < this.#expected) return undefined;
    const whole = Buffer.concat(this.#parts, this.#received);
    const isAligned = this.#received === this.#expected;
    this.reset();
    if (!isAligned) throw new DatagramStreamError('a datagram goes beyond the end of its message');
    return whole.subarray(LENGTH_BYTES);
  }

  /** Forgets an unfinished message: its sender is gone. */
  reset(): void {
    this.#parts = [];
    this.#received = 0;
  }
}

function lengthOf(datagram: Buffer): number {
  if (datagram.length < LENGTH_BYTES) {
    throw new DatagramStreamError(`a first datagram of ${datagram.length} bytes is too short`);
  }
  const length = datagram.readBigUInt64BE(0);
  if (length > BigInt(MESSAGE_BYTES_MAX)) {
    throw new DatagramStreamError(`a message of ${length} bytes is longer than allowed`);
  }
  return Number(length);
}
