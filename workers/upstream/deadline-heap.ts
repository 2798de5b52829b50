/** A binary heap by deadline, for schedules in which the earliest entry moves back after each turn. */

export interface Deadline {
  deadline: number;
}

/** Restores the order after the first entry's deadline has grown. */
export function sinkFirst<Entry extends Deadline>(heap: Entry[]): void {
  const first = heap[0];
  if (first === undefined) return;
  let at = 0;
  for (;;) {
    const left = 2 * at + 1;
    const right = left + 1;
    const least = deadlineAt(heap, right) < deadlineAt(heap, left) ? right : left;
    const entry = heap[least];
    if (entry === undefined || entry.deadline >= first.deadline) break;
    heap[at] = entry;
    at = least;
  }
  heap[at] = first;
}

function deadlineAt(heap: readonly Deadline[], at: number): number {
  return heap[at]?.deadline ?? Number.POSITIVE_INFINITY;
}
