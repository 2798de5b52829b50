/**
 * The places of a ring of hashes in typed arrays, nine bytes each where hosts are few: Envoy's take
 * 24. They are sorted in place, digit after digit of the hash, in steps.
 */
import { ITEMS_PER_STEP, type Steps } from '../../loop/sliced-work.ts';
import { type Positions, positionsFor } from './table-plan.ts';

export class RingPlaces {
  readonly size: number;
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  /** A position in the ring's list of hosts for each place. */
  readonly host: Positions;

  constructor(size: number, hosts: number) {
    this.size = size;
    this.high = new Uint32Array(size);
    this.low = new Uint32Array(size);
    this.host = positionsFor(hosts, size);
  }

  /** Where the first place at or behind the hash is; the size when there is none. */
  find(high: number, low: number): number {
    let from = 0;
    let to = this.size;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const placeHigh = this.high[middle] as number;
      const isBefore =
        placeHigh < high || (placeHigh === high && (this.low[middle] as number) < low);
      if (isBefore) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /**
   * The order of hashes; hosts with the same hash stand in their own order. Below 0: `left` is
   * before `right`.
   */
  compare(left: number, other: RingPlaces, right: number): number {
    const high = (this.high[left] as number) - (other.high[right] as number);
    if (high !== 0) return high;
    const low = (this.low[left] as number) - (other.low[right] as number);
    return low === 0 ? (this.host[left] as number) - (other.host[right] as number) : low;
  }

  set(at: number, from: RingPlaces, place: number, host: number): void {
    this.high[at] = from.high[place] as number;
    this.low[at] = from.low[place] as number;
    this.host[at] = host;
  }

  swap(one: number, other: number): void {
    const { high, low, host } = this;
    const [placeHigh, placeLow, placeHost] = [high[one], low[one], host[one]] as const;
    this.set(one, this, other, host[other] as number);
    high[other] = placeHigh as number;
    low[other] = placeLow as number;
    host[other] = placeHost as number;
  }
}

/** Shorter ranges are sorted by insertion. */
const INSERTION_MAX = 32;
const DIGIT_BITS_MAX = 11;
const WORD_BITS = 32;

interface Range {
  readonly from: number;
  readonly to: number;
  /** So many leading bits of the hash and the host behind it are the same in the whole range. */
  readonly sharedBits: number;
}

/** Takes time in proportion to the places, whatever their hashes are. */
export function* sortPlaces(places: RingPlaces): Steps {
  const ranges: Range[] = [{ from: 0, to: places.size, sharedBits: 0 }];
  let sorted = 0;
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    const { from, to } = range;
    if (to - from <= INSERTION_MAX) {
      insertionSort(places, from, to);
      sorted += to - from;
      if (sorted < ITEMS_PER_STEP) continue;
      sorted = 0;
      yield;
    } else if (range.sharedBits < 3 * WORD_BITS) yield* sortByDigit(places, range, ranges);
  }
}

function insertionSort(places: RingPlaces, from: number, to: number): void {
  for (let at = from + 1; at < to; at++) {
    for (let back = at; back > from && places.compare(back - 1, places, back) > 0; back--) {
      places.swap(back - 1, back);
    }
  }
}

/**
 * Puts each place into the part of the range that its next digit names; the parts are further
 * ranges.
 */
function* sortByDigit(places: RingPlaces, range: Range, further: Range[]): Steps {
  const { from, to, sharedBits } = range;
  const [words, bitsBefore] = digitWords(places, sharedBits);
  const wanted = Math.min(DIGIT_BITS_MAX, WORD_BITS - Math.clz32(to - from));
  const bits = Math.min(wanted, WORD_BITS - bitsBefore);
  const shift = WORD_BITS - bitsBefore - bits;
  const mask = (1 << bits) - 1;
  const starts = new Uint32Array(mask + 2);
  for (let at = from; at < to; at++) {
    (starts[(((words[at] as number) >>> shift) & mask) + 1] as number)++;
    if (at % COUNTED_PER_STEP === 0) yield;
  }
  starts[0] = from;
  for (let digit = 1; digit <= mask + 1; digit++) {
    (starts[digit] as number) += starts[digit - 1] as number;
  }
  const next = starts.slice();
  for (let digit = 0; digit <= mask; digit++) {
    const [start, end] = [starts[digit] as number, starts[digit + 1] as number];
    for (let at = next[digit] as number; at < end; at = next[digit] as number) {
      const own = ((words[at] as number) >>> shift) & mask;
      const to = (next[own] as number)++;
      if (own !== digit) places.swap(at, to);
      if (to % ITEMS_PER_STEP === 0) yield;
    }
    if (end - start > 1) further.push({ from: start, to: end, sharedBits: sharedBits + bits });
  }
}

/** Nothing is moved where digits are counted. */
const COUNTED_PER_STEP = 16 * ITEMS_PER_STEP;

/** What the next digit is taken from, and how many of its leading bits are done. */
function digitWords(places: RingPlaces, sharedBits: number): readonly [Positions, number] {
  const { high, low, host } = places;
  const word = Math.floor(sharedBits / WORD_BITS);
  return [word === 0 ? high : word === 1 ? low : host, sharedBits % WORD_BITS];
}
