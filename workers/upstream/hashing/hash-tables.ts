/**
 * The two tables of consistent hashing, filled exactly as the reference fills them, so that the same
 * hash leads to the same host behind both: a ring of hashes, and Maglev's table.
 */
import type { RingHashOptions } from '../../../shared/resources/lb-policy.ts';
import { murmurHash2 } from '../../hash/murmur-hash2.ts';
import { type Hash64, xxHash64 } from '../../hash/xxhash64.ts';
import { ITEMS_PER_STEP, sortInSteps, type Steps } from '../../sliced-work.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { WeighedHost } from '../hosts/host-weights.ts';
import { maglevFigures, ringShares, type TableFigures } from './table-figures.ts';

export interface HashTable {
  /** `draw` counts the choices made for one try; each gives another place of the table. */
  choose(hash: Hash64, draw: number): UpstreamHost | undefined;
}

/** A table that can be built; its figures are known before. */
export interface TablePlan {
  readonly figures: TableFigures;
  /** A few milliseconds: the first request may wait for it. */
  readonly isQuick: boolean;
  build(): Steps<HashTable>;
}

/** Most of what a place costs is the hash that says where it lies. */
const QUICK_RING_PLACES = 4096;
const QUICK_MAGLEV_PLACES = 65_537;
const QUICK_HOSTS = 500;

/** A host's own text on the ring: `envoy.lb`'s `hash_key`, its name where asked for, its address. */
function hashKey(host: UpstreamHost, usesHostname: boolean): string {
  const given = host.metadata?.['envoy.lb']?.['hash_key'];
  if (typeof given === 'string' && given !== '') return given;
  return usesHostname ? host.hostname : host.address;
}

/** What a host of the next table gets of it. */
interface Wanted {
  /** In the order of the hosts. */
  readonly rank: number;
  /** Of places on a ring, or of the whole. */
  readonly share: number;
}

interface RingPlace {
  readonly host: UpstreamHost;
  readonly key: string;
  /** How many places of the host come before it by number. */
  readonly at: number;
  readonly hash: Hash64;
}

/** Larger rings are made anew each time: their places would fill the memory. */
const KEPT_PLACES_MAX = 65_536;

/** Builds ring after ring for hosts that are mostly the same: what stays is computed once. */
export class RingBuilder {
  readonly #options: RingHashOptions;
  /** Those of the last ring, by hash. */
  #places: readonly RingPlace[] = [];

  constructor(options: RingHashOptions) {
    this.#options = options;
  }

  /** The weights are shares of the whole. */
  *plan(hosts: readonly WeighedHost[]): Steps<TablePlan> {
    const weights = hosts.map(({ weight }) => weight);
    const { figures, shares } = yield* ringShares(weights, this.#options);
    const wanted = new Map<UpstreamHost, Wanted>();
    for (const [rank, { host }] of hosts.entries()) {
      wanted.set(host, { rank, share: shares[rank] ?? 0 });
      if (rank % ITEMS_PER_STEP === 0) yield;
    }
    return {
      figures,
      isQuick: hosts.length <= QUICK_HOSTS && figures.size <= QUICK_RING_PLACES,
      build: () => this.#build(wanted),
    };
  }

  *#build(wanted: ReadonlyMap<UpstreamHost, Wanted>): Steps<HashTable> {
    const places = yield* this.#placesOf(wanted);
    this.#places = places.length > KEPT_PLACES_MAX ? [] : places;
    const ring = new Ring(places.length);
    yield* ring.fill(places);
    return ring;
  }

  *#placesOf(wanted: ReadonlyMap<UpstreamHost, Wanted>): Steps<readonly RingPlace[]> {
    const known = new Map<UpstreamHost, number>();
    const places: RingPlace[] = [];
    for (const [position, place] of this.#places.entries()) {
      if (position % ITEMS_PER_STEP === 0) yield;
      const { host, key, at } = place;
      if (at >= (wanted.get(host)?.share ?? 0) || key !== this.#keyOf(host)) continue;
      known.set(host, (known.get(host) ?? 0) + 1);
      places.push(place);
    }
    const hash = this.#options.hashFunction === 'MURMUR_HASH_2' ? murmurHash2 : xxHash64;
    let looked = 0;
    for (const [host, { share }] of wanted) {
      const key = this.#keyOf(host);
      for (let at = known.get(host) ?? 0; at < share; at++) {
        places.push({ host, key, at, hash: hash(`${key}_${at}`) });
        if (places.length % ITEMS_PER_STEP === 0) yield;
      }
      if (++looked % ITEMS_PER_STEP === 0) yield;
    }
    yield* sortInSteps(
      places,
      (left, right) =>
        compare(left.hash, right.hash) || compareRanks(left.host, right.host, wanted),
    );
    return places;
  }

  #keyOf(host: UpstreamHost): string {
    return hashKey(host, this.#options.usesHostname);
  }
}

class Ring implements HashTable {
  readonly #size: number;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #hosts: UpstreamHost[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#high = new Uint32Array(size);
    this.#low = new Uint32Array(size);
  }

  /** Called once, with as many places as was said, in order. */
  *fill(places: readonly { readonly hash: Hash64; readonly host: UpstreamHost }[]): Steps {
    for (const [at, { hash, host }] of places.entries()) {
      this.#high[at] = hash.high;
      this.#low[at] = hash.low;
      this.#hosts.push(host);
      if (at % ITEMS_PER_STEP === 0) yield;
    }
  }

  /** The first place at or behind the hash, going round. */
  choose({ high, low }: Hash64, draw: number): UpstreamHost | undefined {
    if (this.#size === 0) return undefined;
    let from = 0;
    let to = this.#size;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const placeHigh = this.#high[middle] ?? 0;
      const isBefore = placeHigh < high || (placeHigh === high && (this.#low[middle] ?? 0) < low);
      if (isBefore) from = middle + 1;
      else to = middle;
    }
    return this.#hosts[((from === this.#size ? 0 : from) + draw) % this.#size];
  }
}

/** What a host's key makes of it, whoever else is in the table. */
interface MaglevPlace {
  readonly host: UpstreamHost;
  readonly key: string;
  readonly offset: number;
  readonly skip: number;
}

interface MaglevEntry {
  readonly host: UpstreamHost;
  readonly skip: number;
  readonly weight: number;
  /** The place that it would take next. */
  place: number;
  target: number;
}

/** Builds table after table for hosts that are mostly the same: what stays is computed once. */
export class MaglevBuilder {
  readonly #tableSize: number;
  readonly #usesHostname: boolean;
  /** Those of the last table, by key. */
  #places: readonly MaglevPlace[] = [];

  constructor(tableSize: number, usesHostname: boolean) {
    this.#tableSize = tableSize;
    this.#usesHostname = usesHostname;
  }

  /** The weights are shares of the whole. */
  *plan(hosts: readonly WeighedHost[]): Steps<TablePlan> {
    const wanted = new Map<UpstreamHost, Wanted>();
    for (const [rank, { host, weight: share }] of hosts.entries()) {
      wanted.set(host, { rank, share });
      if (rank % ITEMS_PER_STEP === 0) yield;
    }
    const places = yield* this.#placesOf(wanted);
    this.#places = places;
    const weightOf = (host: UpstreamHost): number => wanted.get(host)?.share ?? 0;
    const tableSize = this.#tableSize;
    return {
      figures: yield* maglevFigures(
        places.map(({ host }) => weightOf(host)),
        tableSize,
      ),
      isQuick: hosts.length <= QUICK_HOSTS && tableSize <= QUICK_MAGLEV_PLACES,
      *build() {
        const entries: MaglevEntry[] = [];
        for (const { host, offset, skip } of places) {
          entries.push({ host, skip, weight: weightOf(host), place: offset, target: 0 });
          if (entries.length % ITEMS_PER_STEP === 0) yield;
        }
        return new Maglev(yield* fillMaglev(entries, tableSize), entries);
      },
    };
  }

  /** By key: who gets a contested place must not depend on the order of the hosts. */
  *#placesOf(wanted: ReadonlyMap<UpstreamHost, Wanted>): Steps<readonly MaglevPlace[]> {
    const places: MaglevPlace[] = [];
    const known = new Set<UpstreamHost>();
    for (const [position, place] of this.#places.entries()) {
      if (position % ITEMS_PER_STEP === 0) yield;
      const { host, key } = place;
      if (!wanted.has(host) || key !== hashKey(host, this.#usesHostname)) continue;
      places.push(place);
      known.add(host);
    }
    let looked = 0;
    for (const host of wanted.keys()) {
      if (++looked % ITEMS_PER_STEP === 0) yield;
      if (!known.has(host)) places.push(this.#placeOf(host));
    }
    yield* sortInSteps(places, (left, right) => {
      if (left.key !== right.key) return left.key < right.key ? -1 : 1;
      return compareRanks(left.host, right.host, wanted);
    });
    return places;
  }

  #placeOf(host: UpstreamHost): MaglevPlace {
    const key = hashKey(host, this.#usesHostname);
    const tableSize = this.#tableSize;
    const offset = remainder(xxHash64(key), tableSize);
    return { host, key, offset, skip: remainder(xxHash64(key, SKIP_SEED), tableSize - 1) + 1 };
  }
}

const FREE = -1;
/** A table's second hash has another seed than its first. */
const SKIP_SEED: Hash64 = { high: 0, low: 1 };
/** The last ones are looked for far. */
const PLACES_PER_STEP = 512;

/** Each entry takes its next free place in turn; a lighter one sits some turns out. */
function* fillMaglev(entries: readonly MaglevEntry[], tableSize: number): Steps<Int32Array> {
  const most = entries.reduce((max, { weight }) => Math.max(max, weight), 0);
  const table = new Int32Array(tableSize).fill(FREE);
  let filled = entries.length === 0 ? tableSize : 0;
  for (let turn = 1; filled < tableSize; turn++) {
    for (const [at, entry] of entries.entries()) {
      if (filled === tableSize) break;
      if (turn * entry.weight < entry.target) continue;
      entry.target += most;
      const { skip } = entry;
      let { place } = entry;
      while (table[place] !== FREE) {
        place += skip;
        if (place >= tableSize) place -= tableSize;
      }
      table[place] = at;
      entry.place = place;
      filled++;
      if (filled % PLACES_PER_STEP === 0) yield;
    }
  }
  return table;
}

class Maglev implements HashTable {
  readonly #size: number;
  /** A position in `#hosts` for each place. */
  readonly #table: Int32Array;
  readonly #hosts: readonly UpstreamHost[];

  constructor(table: Int32Array, entries: readonly { readonly host: UpstreamHost }[]) {
    this.#table = table;
    this.#hosts = entries.map(({ host }) => host);
    this.#size = table.length;
  }

  choose(hash: Hash64, draw: number): UpstreamHost | undefined {
    if (draw === 0) return this.#at(hash);
    // The hash with the complement of a small number: far from where the first draw led.
    const flipped = { high: ~hash.high >>> 0, low: (hash.low ^ -draw) >>> 0 };
    return this.#at(flipped);
  }

  #at(hash: Hash64): UpstreamHost | undefined {
    return this.#hosts[this.#table[remainder(hash, this.#size)] ?? FREE];
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

/** Hosts with the same key stand in the order of the hosts. */
function compareRanks(
  left: UpstreamHost,
  right: UpstreamHost,
  wanted: ReadonlyMap<UpstreamHost, Wanted>,
): number {
  return (wanted.get(left)?.rank ?? 0) - (wanted.get(right)?.rank ?? 0);
}

function compare(left: Hash64, right: Hash64): number {
  return left.high - right.high || left.low - right.low;
}
