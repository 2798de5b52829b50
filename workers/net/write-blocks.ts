/**
 * What waits to be written: how much may wait, and blocks of memory for what the kernel did not
 * take at once. A bulk transfer uses the same few blocks over and over; what is given back beyond
 * the pool's size is left to the collector.
 */
import type { ByteStream } from './byte-stream.ts';

/** One frame of HTTP/2 with its head. */
const SMALL_BYTES = 20 * 1024;
/** One read of the shared buffer with the head that may go before it. */
const LARGE_BYTES = 80 * 1024;
/** Copying a longer piece behind others would be for little. */
const MAX_GATHERED_BYTES = 32 * 1024;
/** What one connection may have waiting at the usual limit of 1 MiB, and a little more. */
const MAX_SMALL = 128;
const MAX_LARGE = 32;
const small: Buffer[] = [];
const large: Buffer[] = [];

/** A block of at least `length` bytes, contents undefined. */
export function takeBlock(length: number): Buffer {
  if (length <= SMALL_BYTES) return small.pop() ?? Buffer.allocUnsafeSlow(SMALL_BYTES);
  if (length <= LARGE_BYTES) return large.pop() ?? Buffer.allocUnsafeSlow(LARGE_BYTES);
  return Buffer.allocUnsafeSlow(length);
}

/**
 * The same for the front of `length` bytes that may wait long: more than half of the block is used.
 * The block may be shorter: a length between the two sizes takes several small ones, because a block
 * of its own would be garbage outside of the heap, which the collector hardly sees.
 */
export function takeFittingBlock(length: number): Buffer {
  if (length * 2 > LARGE_BYTES) return takeBlock(length);
  if (length * 2 > SMALL_BYTES) return takeBlock(SMALL_BYTES);
  return Buffer.allocUnsafeSlow(length);
}

/** Returns a block that nothing refers to any more. */
export function giveBackBlock(block: Buffer): void {
  if (block.length === SMALL_BYTES && small.length < MAX_SMALL) small.push(block);
  else if (block.length === LARGE_BYTES && large.length < MAX_LARGE) large.push(block);
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
