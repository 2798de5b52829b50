/** Taken for a configured limit of 0, which the API reads as "no limit": every queue has one here. */
const LARGEST_BUFFER_LIMIT = 16 * 1024 * 1024;

/** The limit that a configured one stands for. */
export function bufferLimit(configured: number): number {
  return configured === 0 ? LARGEST_BUFFER_LIMIT : configured;
}
