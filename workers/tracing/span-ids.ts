/** Random ids of traces and spans as hexadecimal digits, and the checks of those that are given. */
import { randomFillSync } from 'node:crypto';

/** Filled at once: asking for few random bytes costs as much as for many. */
const POOL_BYTES = 4096;
const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** Sixteen digits, never all zeros. */
export function newId64(): string {
  if (used + 8 > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString('hex', used, used + 8);
  used += 8;
  return id === '0000000000000000' ? newId64() : id;
}

export function newId128(): string {
  return newId64() + newId64();
}

export function isAllZeros(text: string): boolean {
  return /^0+$/.test(text);
}
