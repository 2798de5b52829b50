/**
 * The memory that the tables of all patterns of a process may take together. It is a cache: a
 * pattern that grows past the limit makes the others give theirs up, those that have grown longest
 * ago first.
 */

export interface Releasable {
  /** Forgets everything that can be computed again. */
  release(): void;
}

/** For all patterns of a process. */
export const PROCESS_BYTES = 48 * 1024 * 1024;

const holders = new Map<Releasable, number>();
let heldBytes = 0;

/** Books bytes for a holder that it is about to take. */
export function takeMemory(holder: Releasable, bytes: number): void {
  const before = holders.get(holder) ?? 0;
  holders.delete(holder);
  holders.set(holder, before + bytes);
  heldBytes += bytes;
  for (const other of holders.keys()) {
    if (heldBytes <= PROCESS_BYTES) return;
    if (other !== holder) other.release();
  }
}

/** Books that a holder gave everything up. */
export function returnMemory(holder: Releasable): void {
  heldBytes -= holders.get(holder) ?? 0;
  holders.delete(holder);
}

/** What all holders have now. */
export function memoryHeld(): number {
  return heldBytes;
}
