/** Sets of what may come next in a text: any of the bytes, or its end. */
import type { ByteSet } from './tree.ts';

/** A bit for each byte, and one for the text's end. */
export type FirstBytes = Int32Array;

const WORDS = 9;

export const NO_BYTES: FirstBytes = new Int32Array(WORDS);
export const ANYTHING: FirstBytes = new Int32Array(WORDS).fill(-1);
export const TEXT_END: FirstBytes = new Int32Array(WORDS).fill(1, WORDS - 1);

export function firstOf(set: ByteSet): FirstBytes {
  const first = new Int32Array(WORDS);
  for (const [from, to] of set) {
    for (let byte = from; byte <= to; byte++)
      first[byte >> 5] = (first[byte >> 5] ?? 0) | (1 << (byte & 31));
  }
  return first;
}

export function union(a: FirstBytes, b: FirstBytes): FirstBytes {
  const both = new Int32Array(WORDS);
  for (let word = 0; word < WORDS; word++) both[word] = (a[word] ?? 0) | (b[word] ?? 0);
  return both;
}

export function overlaps(a: FirstBytes, b: FirstBytes): boolean {
  for (let word = 0; word < WORDS; word++) {
    if (((a[word] ?? 0) & (b[word] ?? 0)) !== 0) return true;
  }
  return false;
}

/** Whether nothing is in two of the sets. */
export function areApart(sets: readonly FirstBytes[]): boolean {
  let seen = NO_BYTES;
  for (const set of sets) {
    if (overlaps(seen, set)) return false;
    seen = union(seen, set);
  }
  return true;
}
