/**
 * Builds Maglev's tables as Envoy fills them, so that the same hash leads to the same host behind
 * both.
 */
import type { Hash64 } from '../../hash/byte-hash.ts';
import { xxHash64 } from '../../hash/xxhash64.ts';
import { ITEMS_PER_STEP, sortInSteps, type Steps } from '../../loop/sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { WeighedHost } from '../hosts/host-weights.ts';
import { MaglevTurns } from './maglev-turns.ts';
import { maglevStats } from './table-stats.ts';
import {
  hashKey,
  type HashTable,
  type Positions,
  positionsFor,
  QUICK_HOSTS,
  type TablePlan,
} from './table-plan.ts';

const QUICK_PLACES = 65_537;
/** A table's second hash has another seed than its first. */
const SKIP_SEED: Hash64 = { high: 0, low: 1 };
/** Places that are looked at: the last free ones are looked for far. */
const LOOKS_PER_STEP = 2048;

/** What a host's key makes of it, whatever other hosts are in the table. */
interface Entry {
  readonly host: UpstreamHost;
  readonly key: string;
  readonly offset: number;
  readonly skip: number;
}

/** What a host of the next table gets of it. */
interface Wanted {
  /** In the order of the hosts. */
  readonly rank: number;
  readonly weight: number;
}

/** Builds table after table for hosts that are mostly the same: what stays is computed once. */
export class MaglevBuilder {
  readonly #tableSize: number;
  readonly #usesHostname: boolean;
  /** Those of the last table, by key. */
  #entries: readonly Entry[] = [];

  constructor(tableSize: number, usesHostname: boolean) {
    this.#tableSize = tableSize;
    this.#usesHostname = usesHostname;
  }

  /** The weights are shares of the whole. */
  *plan(hosts: readonly WeighedHost[]): Steps<TablePlan> {
    const wanted = new Map<UpstreamHost, Wanted>();
    for (const [rank, { host, weight }] of hosts.entries()) {
      wanted.set(host, { rank, weight });
      if (rank % ITEMS_PER_STEP === 0) yield;
    }
    const entries = yield* this.#entriesOf(wanted);
    this.#entries = entries;
    const weights = new Float64Array(entries.length);
    for (const [at, { host }] of entries.entries()) {
      weights[at] = wanted.get(host)?.weight ?? 0;
      if (at % ITEMS_PER_STEP === 0) yield;
    }
    const tableSize = this.#tableSize;
    return {
      figures: yield* maglevStats(weights, tableSize),
      isQuick: hosts.length <= QUICK_HOSTS && tableSize <= QUICK_PLACES,
      *build() {
        return new Maglev(yield* fillMaglev(entries, weights, tableSize), entries);
      },
    };
  }

  /** By key: who gets a contested place must not depend on the order of the hosts. */
  *#entriesOf(wanted: ReadonlyMap<UpstreamHost, Wanted>): Steps<readonly Entry[]> {
    const entries: Entry[] = [];
    const known = new Set<UpstreamHost>();
    for (const [position, entry] of this.#entries.entries()) {
      if (position % ITEMS_PER_STEP === 0) yield;
      const { host, key } = entry;
      if (!wanted.has(host) || key !== hashKey(host, this.#usesHostname)) continue;
      entries.push(entry);
      known.add(host);
    }
    let looked = 0;
    for (const host of wanted.keys()) {
      if (++looked % ITEMS_PER_STEP === 0) yield;
      if (!known.has(host)) entries.push(this.#entryOf(host));
    }
    const rankOf = ({ host }: Entry): number => wanted.get(host)?.rank ?? 0;
    yield* sortInSteps(entries, (left, right) => {
      if (left.key !== right.key) return left.key < right.key ? -1 : 1;
      return rankOf(left) - rankOf(right);
    });
    return entries;
  }

  #entryOf(host: UpstreamHost): Entry {
    const key = hashKey(host, this.#usesHostname);
    const tableSize = this.#tableSize;
    const offset = remainder(xxHash64(key), tableSize);
    return { host, key, offset, skip: remainder(xxHash64(key, SKIP_SEED), tableSize - 1) + 1 };
  }
}

/** Each entry takes its next free place in turn; a lighter one sits some turns out. */
function* fillMaglev(
  entries: readonly Entry[],
  weights: Float64Array,
  tableSize: number,
): Steps<Positions> {
  const free = entries.length;
  // The places of a table are 0 in the beginning.
  if (free === 1) return positionsFor(free, tableSize);
  const table = positionsFor(free + 1, tableSize).fill(free);
  if (free === 0) return table;
  const { sequences, skips, places } = yield* sequencesOf(entries, tableSize);
  const turns = new MaglevTurns(weights);
  let looks = 0;
  for (let filled = 0; filled < tableSize; filled++) {
    const at = turns.take();
    const sequence = sequences[at] as number;
    const skip = skips[sequence] as number;
    let place = places[sequence] as number;
    while (table[place] !== free) {
      place += skip;
      if (place >= tableSize) place -= tableSize;
      if (++looks % LOOKS_PER_STEP === 0) yield;
    }
    table[place] = at;
    places[sequence] = place;
    if (++looks % LOOKS_PER_STEP === 0) yield;
  }
  return table;
}

/** In which order places are looked at, by entry: those with the same key look at the same ones. */
function* sequencesOf(
  entries: readonly Entry[],
  tableSize: number,
): Steps<{
  readonly sequences: Uint32Array;
  readonly skips: readonly number[];
  /** Where each sequence is: what came before is taken. */
  readonly places: number[];
}> {
  const sequences = new Uint32Array(entries.length);
  const skips: number[] = [];
  const places: number[] = [];
  const known = new Map<number, number>();
  for (const [at, { offset, skip }] of entries.entries()) {
    const id = offset * tableSize + skip;
    const sequence = known.get(id) ?? skips.length;
    if (sequence === skips.length) {
      known.set(id, sequence);
      skips.push(skip);
      places.push(offset);
    }
    sequences[at] = sequence;
    if (at % ITEMS_PER_STEP === 0) yield;
  }
  return { sequences, skips, places };
}

class Maglev implements HashTable {
  readonly #size: number;
  /** A position in `#entries` for each place. */
  readonly #table: Positions;
  readonly #entries: readonly Pick<Entry, 'host'>[];

  constructor(table: Positions, entries: readonly Pick<Entry, 'host'>[]) {
    this.#table = table;
    this.#entries = entries;
    this.#size = table.length;
  }

  choose(hash: Hash64, draw: number): UpstreamHost | undefined {
    if (draw === 0) return this.#at(hash);
    // The hash with the complement of a small number: far from where the first draw led.
    const flipped = { high: ~hash.high >>> 0, low: (hash.low ^ -draw) >>> 0 };
    return this.#at(flipped);
  }

  #at(hash: Hash64): UpstreamHost | undefined {
    return this.#entries[this.#table[remainder(hash, this.#size)] as number]?.host;
  }
}

/** `divisor` is below 2^23, so that nothing here exceeds 2^53. */
function remainder({ high, low }: Hash64, divisor: number): number {
  return modulo(modulo(high, divisor) * modulo(0x1_0000_0000, divisor) + low, divisor);
}

/** `%` of numbers beyond 31 bits is a call that takes ten times as long. */
function modulo(number: number, divisor: number): number {
  const rest = number - Math.floor(number / divisor) * divisor;
  if (rest < 0) return rest + divisor;
  return rest >= divisor ? rest - divisor : rest;
}
