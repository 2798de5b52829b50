/**
 * What waits to be written: how much may wait, and blocks of memory for what the kernel did not
 * take at once. A bulk transfer uses the same few blocks over and over; what is given back beyond
 * the pool's size is left to the collector.
 */

/** One read of the shared buffer with the head that may go before it. */
const BLOCK_BYTES = 80 * 1024;
const MAX_POOLED = 32;
const pool: Buffer[] = [];

/** A block of at least `length` bytes, contents undefined. */
export function takeBlock(length: number): Buffer {
  if (length > BLOCK_BYTES) return Buffer.allocUnsafeSlow(length);
  return pool.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
}

/** Returns a block that nothing refers to any more. */
export function giveBackBlock(block: Buffer): void {
  if (block.length === BLOCK_BYTES && pool.length < MAX_POOLED) pool.push(block);
}

/** Taken for a configured limit of 0, which the API reads as "no limit": every queue has one here. */
const LARGEST_BUFFER_LIMIT = 16 * 1024 * 1024;

/** The limit that a configured one stands for. */
export function bufferLimit(configured: number): number {
  return configured === 0 ? LARGEST_BUFFER_LIMIT : configured;
}
