/**
 * The length of a body beside what its head says of it: a reader of the message by the one must
 * find the same end as a reader by the other.
 */
export class BodyLength {
  /** -1: the head says nothing. */
  #left = -1;

  /** `length` is that of the head; -1 for none. */
  begin(length: number): void {
    this.#left = length;
  }

  /** False where there is more than the head says, or where it ends too soon. */
  take(bytes: number, isEnd: boolean): boolean {
    if (this.#left < 0) return true;
    const left = this.#left - bytes;
    if (left < 0 || (isEnd && left > 0)) return false;
    this.#left = left;
    return true;
  }
}
