/**
 * What waits to be written: how much may wait, and blocks of memory for what the kernel did not
 * take at once. A bulk transfer uses the same few blocks over and over; what is given back beyond
 * the pool's size is left to the collector.
 */

/** One frame of HTTP/2 with its head. */
const SMALL_BYTES = 20 * 1024;
/** One read of the shared buffer with the head that may go before it. */
const LARGE_BYTES = 80 * 1024;
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

/** The same for what may wait long: more than half of the block is used. */
export function takeFittingBlock(length: number): Buffer {
  const isHalfEmpty = length * 2 <= (length <= SMALL_BYTES ? SMALL_BYTES : LARGE_BYTES);
  return isHalfEmpty ? Buffer.allocUnsafeSlow(length) : takeBlock(length);
}

/** Returns a block that nothing refers to any more. */
export function giveBackBlock(block: Buffer): void {
  if (block.length === SMALL_BYTES && small.length < MAX_SMALL) small.push(block);
  else if (block.length === LARGE_BYTES && large.length < MAX_LARGE) large.push(block);
}

/** Taken for a configured limit of 0, which the API reads as "no limit": every queue has one here. */
const LARGEST_BUFFER_LIMIT = 16 * 1024 * 1024;

/** The limit that a configured one stands for. */
export function bufferLimit(configured: number): number {
  return configured === 0 ? LARGEST_BUFFER_LIMIT : configured;
}
