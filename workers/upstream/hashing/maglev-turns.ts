/**
 * Whose turn it is to take a place of Maglev's table: in each turn those hosts whose weight has
 * grown, turn by turn, to their next target. As in Envoy's loop over all hosts, which is as long as
 * the table times the hosts where one of them is much heavier than the others; here it is as long
 * as the table.
 */
import { ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';

export class MaglevTurns {
  readonly #weights: ArrayLike<number>;
  readonly #most: number;
  readonly #isEven: boolean;
  /** The next turn of each. */
  readonly #turns: Float64Array;
  readonly #targets: Float64Array;
  /** All positions; the one whose turn is the next is the first of this heap. */
  readonly #heap: Uint32Array;
  #at = -1;

  /** There are some. In the beginning it is everybody's turn, in their order. */
  constructor(weights: ArrayLike<number>) {
    const { length } = weights;
    this.#weights = weights;
    let [least, most] = [Number.POSITIVE_INFINITY, 0];
    for (let at = 0; at < length; at++) {
      const weight = weights[at] as number;
      if (weight > most) most = weight;
      if (weight < least) least = weight;
    }
    this.#most = most;
    this.#isEven = least === most;
    const kept = this.#isEven ? 0 : length;
    this.#turns = new Float64Array(kept).fill(1);
    this.#targets = new Float64Array(kept);
    this.#heap = new Uint32Array(kept);
    for (let at = 0; at < kept; at++) this.#heap[at] = at;
  }

  /** The position of the one whose turn it is. */
  take(): number {
    if (this.#isEven) {
      this.#at += 1;
      if (this.#at === this.#weights.length) this.#at = 0;
      return this.#at;
    }
    const position = this.#heap[0] as number;
    const weight = this.#weights[position] as number;
    const target = (this.#targets[position] as number) + this.#most;
    this.#targets[position] = target;
    this.#turns[position] = turnAfter(this.#turns[position] as number, weight, target);
    this.#sink(position);
    return position;
  }

  /** Puts the first one where it belongs by its turn, then by its position. */
  #sink(position: number): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      const right = child + 1;
      if (right < heap.length && this.#isBefore(heap[right] as number, heap[child] as number)) {
        child = right;
      }
      if (!this.#isBefore(heap[child] as number, position)) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = position;
  }

  #isBefore(one: number, other: number): boolean {
    const turns = (this.#turns[one] as number) - (this.#turns[other] as number);
    return turns < 0 || (turns === 0 && one < other);
  }
}

/** The first turn after `turn` in which the weight, so many times, is the target at least. */
function turnAfter(turn: number, weight: number, target: number): number {
  // Division rounds otherwise than the products that count.
  let next = Math.max(turn + 1, Math.floor(target / weight) - 1);
  while (next * weight < target) next += 1;
  return next;
}

/** How many places each gets. */
export function* countTurns(weights: ArrayLike<number>, places: number): Steps<Uint32Array> {
  const counts = new Uint32Array(weights.length);
  const turns = new MaglevTurns(weights);
  for (let place = 1; place <= places; place++) {
    (counts[turns.take()] as number)++;
    if (place % (4 * ITEMS_PER_STEP) === 0) yield;
  }
  return counts;
}
