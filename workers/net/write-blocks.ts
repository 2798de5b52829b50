/**
 * What waits to be written: how much may wait, and blocks of memory for what the kernel did not
 * take at once. A bulk transfer uses the same few blocks over and over; what is given back beyond
 * the pool's size is left to the collector.
 */
import type { ByteStream } from './byte-stream.ts';

/** Blocks of one length that nobody uses now, at most `most`. */
class BlockPool {
  readonly bytes: number;
  readonly #most: number;
  readonly #free: Buffer[] = [];

  constructor(bytes: number, most: number) {
    this.bytes = bytes;
    this.#most = most;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.bytes);
  }

  giveBack(block: Buffer): void {
    if (this.#free.length < this.#most) this.#free.push(block);
  }
}

/** One frame of HTTP/2 with its head. */
const small = new BlockPool(20 * 1024, 128);
/** What waits behind the frames that a read left room for. */
const middle = new BlockPool(40 * 1024, 32);
/** One read of the shared buffer with the head that may go before it. */
const LARGE_BYTES = 80 * 1024;
const large = new BlockPool(LARGE_BYTES, 32);
/** Copying a longer piece behind others would be for little. */
const MAX_GATHERED_BYTES = 32 * 1024;

/** A block of at least `length` bytes, contents undefined. */
export function takeBlock(length: number): Buffer {
  return poolFor(length)?.take() ?? Buffer.allocUnsafeSlow(length);
}

/** The same for what may wait long: more than half of the block is used. */
export function takeFittingBlock(length: number): Buffer {
  const isHalfEmpty = length * 2 <= small.bytes;
  return isHalfEmpty ? Buffer.allocUnsafeSlow(length) : takeBlock(length);
}

/** Returns a block that nothing refers to any more. */
export function giveBackBlock(block: Buffer): void {
  const pool = poolFor(block.length);
  if (pool?.bytes === block.length) pool.giveBack(block);
}

/**
 * Each size is twice the one before: a block of its own length for what lies between would be
 * garbage outside of the heap, which the collector hears of late.
 */
function poolFor(length: number): BlockPool | undefined {
  if (length <= small.bytes) return small;
  if (length <= middle.bytes) return middle;
  return length <= LARGE_BYTES ? large : undefined;
}

/**
 * What one connection writes in a turn of the loop, in one block of memory: text and bytes in the
 * order in which they came. A string of each piece would be garbage of its own size, and a write of
 * each piece a system call.
 */
export class OpenBlock {
  /** Absent while there is nothing in it: connections that are idle hold none. */
  #block: Buffer | undefined;
  #used = 0;

  /** False where there is no room for both, or the data deserve a block of their own. */
  add(text: string, data: Buffer): boolean {
    if (data.length > MAX_GATHERED_BYTES) return false;
    if (this.#used + text.length + data.length > LARGE_BYTES) return false;
    const block = (this.#block ??= takeBlock(LARGE_BYTES));
    if (text.length > 0) this.#used += block.write(text, this.#used, 'latin1');
    this.#used += data.copy(block, this.#used);
    return true;
  }

  /** Writes all of it and `text` behind. False where the stream has no room for more. */
  writeTo(stream: ByteStream, text: string): boolean {
    const block = this.#block;
    if (block === undefined) return stream.writeText(text);
    const fits = this.#used + text.length <= block.length;
    if (fits && text.length > 0) this.#used += block.write(text, this.#used, 'latin1');
    const written = block.subarray(0, this.#used);
    this.#block = undefined;
    this.#used = 0;
    const hasRoom = stream.writeBlock(written, () => giveBackBlock(block));
    return fits ? hasRoom : stream.writeText(text);
  }

  get length(): number {
    return this.#used;
  }

  drop(): void {
    if (this.#block !== undefined) giveBackBlock(this.#block);
    this.#block = undefined;
    this.#used = 0;
  }
}

/** Taken for a configured limit of 0, which the API reads as "no limit": every queue has one here. */
const LARGEST_BUFFER_LIMIT = 16 * 1024 * 1024;

/** The limit that a configured one stands for. */
export function bufferLimit(configured: number): number {
  return configured === 0 ? LARGEST_BUFFER_LIMIT : configured;
}
